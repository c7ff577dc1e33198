#include "kernels/cpu/transforms/line_transform.h"

#include <algorithm>

#include "core/base/status.h"
#include "kernels/cpu/transforms/lines.h"

namespace hawser::cpu {
namespace {

// A complex number and a factor, which it becomes the product of.
template <typename T>
struct Pair {
  T re, im;

  static Pair At(const T* from, int64_t j) {
    return {from[2 * j], from[2 * j + 1]};
  }
  static Pair At(const LaneParts<const T>& from, int64_t j) {
    return {from.re[j], from.im[j]};
  }
  Pair Times(const Pair& y) const {
    return {re * y.re - im * y.im, re * y.im + im * y.re};
  }
  Pair Exchanged() const { return {im, re}; }
  void Put(T* to, int64_t j) const {
    to[2 * j] = re;
    to[2 * j + 1] = im;
  }
};

}  // namespace

template <typename T>
LineTransform<T>::LineTransform(const KernelContext& context,
                                const FftPlan<T>& plan)
    : plan_(plan),
      lines_(context,
             2 * (plan.way.kind == FftWay::kChirps ? plan.way.wide : plan.n)) {
  if (plan.way.kind == FftWay::kPasses) {
    columns_.emplace(context, plan);
  } else if (plan.way.kind == FftWay::kMatrix) {
    columns_.emplace(context, *plan.columns);
    rows_.emplace(context, *plan.rows);
    column_steps_ = StepsOfLine<T>(plan.way.columns) * kMostLanes<T>;
    row_steps_ = StepsOfLine<T>(plan.way.rows) * kMostLanes<T>;
  } else {
    wide_ = std::make_unique<LineTransform<T>>(context, *plan.wide);
  }
}

template <typename T>
absl::Status LineTransform<T>::Run(const T* from, T* to, const Turn& turn,
                                   const GroupLoop& loop) {
  if (plan_.way.kind == FftWay::kPasses) return RunInLanes(from, to, turn);
  if (wide_ != nullptr) return RunChirps(from, to, turn, loop);
  HAWSER_ASSIGN_OR_RETURN(auto between, lines_.Take());
  HAWSER_RETURN_IF_ERROR(RunColumns(from, between.data(), turn.inverse, loop));
  return RunRows(between.data(), to, turn, loop);
}

template <typename T>
absl::Status LineTransform<T>::RunInLanes(const T* from, T* to,
                                          const Turn& turn) {
  HAWSER_ASSIGN_OR_RETURN(auto lanes, columns_->Take(1));
  const LanePasses<T>& passes = columns_->passes();
  passes.load({from, 1, plan_.n}, plan_.n, 1, lanes.x, lanes.width);
  columns_->Run(turn.inverse, &lanes);
  passes.store(lanes.parts(), plan_.n, 1, lanes.width,
               static_cast<T>(turn.scale), {to, 1, plan_.n});
  return absl::OkStatus();
}

// The numbers are a matrix, row by row: so many columns at a time.
template <typename T>
absl::Status LineTransform<T>::RunColumns(const T* from, T* to, bool inverse,
                                          const GroupLoop& loop) {
  const int64_t height = plan_.way.columns, length = plan_.way.rows;
  constexpr int64_t kLanes = kMostLanes<T>;
  return loop.For(
      (length - 1) / kLanes + 1, column_steps_, [&](int64_t g) -> absl::Status {
        const int64_t first = g * kLanes;
        HAWSER_ASSIGN_OR_RETURN(
            auto lanes, columns_->Take(std::min(kLanes, length - first)));
        const LanePasses<T>& passes = columns_->passes();
        passes.load({from + 2 * first, length, 1}, height, lanes.count, lanes.x,
                    lanes.width);
        columns_->Run(inverse, &lanes);
        const LaneParts<T> x = inverse ? lanes.x.Exchanged() : lanes.x;
        const int64_t at = plan_.further.re == nullptr ? first : 0;
        passes.turn_lanes(x, height, lanes.width,
                          {plan_.turns.re + at, plan_.turns.im + at},
                          plan_.pitch);
        if (plan_.further.re != nullptr && g > 0) {
          passes.turn_elements(
              x, height, lanes.width,
              {plan_.further.re + g * height, plan_.further.im + g * height});
        }
        passes.store(lanes.parts(), height, lanes.count, lanes.width, 1,
                     {to + 2 * first, length, 1});
        return absl::OkStatus();
      });
}

// The rows of that matrix, so many at a time, become the columns of the result.
template <typename T>
absl::Status LineTransform<T>::RunRows(const T* from, T* to, const Turn& turn,
                                       const GroupLoop& loop) {
  const int64_t height = plan_.way.columns, length = plan_.way.rows;
  constexpr int64_t kLanes = kMostLanes<T>;
  return loop.For(
      (height - 1) / kLanes + 1, row_steps_, [&](int64_t g) -> absl::Status {
        const int64_t first = g * kLanes;
        HAWSER_ASSIGN_OR_RETURN(auto lanes,
                                rows_->Take(std::min(kLanes, height - first)));
        const LanePasses<T>& passes = rows_->passes();
        passes.load({from + 2 * first * length, 1, length}, length, lanes.count,
                    lanes.x, lanes.width);
        rows_->Run(turn.inverse, &lanes);
        passes.store(lanes.parts(), length, lanes.count, lanes.width,
                     static_cast<T>(turn.scale), {to + 2 * first, height, 1});
        return absl::OkStatus();
      });
}

template <typename T>
absl::Status LineTransform<T>::RunChirps(const T* from, T* to, const Turn& turn,
                                         const GroupLoop& loop) {
  const int64_t n = plan_.n, wide = plan_.way.wide;
  const auto seen = [&](const Pair<T>& x) {
    return turn.inverse ? x.Exchanged() : x;
  };
  HAWSER_ASSIGN_OR_RETURN(auto room, lines_.Take());
  T* const x = room.data();
  HAWSER_RETURN_IF_ERROR(
      ForPieces(loop, wide, 1, [&](int64_t begin, int64_t end) {
        const int64_t full = std::clamp(n, begin, end);
        for (int64_t j = begin; j < full; ++j) {
          seen(Pair<T>::At(from, j))
              .Times(Pair<T>::At(plan_.chirp, j))
              .Put(x, j);
        }
        std::fill(x + 2 * full, x + 2 * end, T(0));
      }));
  HAWSER_RETURN_IF_ERROR(wide_->Run(x, x, {}, loop));
  HAWSER_RETURN_IF_ERROR(
      ForPieces(loop, wide, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          Pair<T>::At(x, k).Times(Pair<T>::At(plan_.answer, k)).Put(x, k);
        }
      }));
  HAWSER_RETURN_IF_ERROR(wide_->Run(x, x, {.inverse = true}, loop));
  const auto scale = static_cast<T>(turn.scale);
  return ForPieces(loop, n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const auto y = Pair<T>::At(x, k).Times(Pair<T>::At(plan_.chirp, k));
      seen(Pair<T>{y.re * scale, y.im * scale}).Put(to, k);
    }
  });
}

template class LineTransform<float>;
template class LineTransform<double>;

}  // namespace hawser::cpu
