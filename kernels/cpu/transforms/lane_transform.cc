#include "kernels/cpu/transforms/lane_transform.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/isa/isa.h"

namespace hawser::cpu {
namespace {

// `x` becomes its transform, by `spare`; gives which of both has it.
template <typename T>
LaneParts<T> Transformed(const FftPlan<T>& plan, const LanePasses<T>& passes,
                         LaneParts<T> x, LaneParts<T> spare, int64_t width);

template <typename T>
LaneParts<T> From(const LaneParts<T>& x, int64_t at) {
  return {x.re + at, x.im + at};
}
// Whichever of both is not `taken`.
template <typename T>
LaneParts<T> OtherOf(const LaneParts<T>& taken, const LaneParts<T>& x,
                     const LaneParts<T>& spare) {
  return taken.re == x.re ? spare : x;
}

// Element k of row j, of `rows` rows, becomes number k * rows + j.
template <typename T>
void TurnRows(const LaneParts<T>& from, const LaneParts<T>& to, int64_t rows,
              int64_t length, int64_t width) {
  for (int64_t j = 0; j < rows; ++j) {
    for (int64_t k = 0; k < length; ++k) {
      const int64_t at = (j * length + k) * width;
      const int64_t turned = (k * rows + j) * width;
      std::copy_n(from.re + at, width, to.re + turned);
      std::copy_n(from.im + at, width, to.im + turned);
    }
  }
}

// The numbers are a matrix, row by row: what LineTransform does of one, number
// for number. All columns of all lanes are side by side.
template <typename T>
LaneParts<T> AsMatrix(const FftPlan<T>& plan, const LanePasses<T>& passes,
                      LaneParts<T> x, LaneParts<T> spare, int64_t width) {
  const int64_t height = plan.way.columns, length = plan.way.rows;
  const LaneParts<T> columns =
      Transformed(*plan.columns, passes, x, spare, length * width);
  const LaneParts<T> beside = OtherOf(columns, x, spare);
  LaneParts<T> result = columns;
  for (int64_t k = 0; k < height; ++k) {
    const int64_t at = k * length * width;
    const LaneParts<T> row = From(columns, at);
    passes.turn_elements(
        row, length, width,
        {plan.turns.re + k * plan.pitch, plan.turns.im + k * plan.pitch});
    const LaneParts<T> transformed =
        Transformed(*plan.rows, passes, row, From(beside, at), width);
    result = transformed.re == row.re ? columns : beside;
  }
  const LaneParts<T> to = OtherOf(result, columns, beside);
  TurnRows(result, to, height, length, width);
  return to;
}

template <typename T>
LaneParts<T> ByChirps(const FftPlan<T>& plan, const LanePasses<T>& passes,
                      LaneParts<T> x, LaneParts<T> spare, int64_t width) {
  const int64_t n = plan.n, wide = plan.way.wide;
  passes.turn_elements(x, n, width, plan.chirp);
  for (T* part : {x.re, x.im}) {
    std::fill(part + n * width, part + wide * width, T(0));
  }
  const LaneParts<T> there = Transformed(*plan.wide, passes, x, spare, width);
  passes.turn_elements(there, wide, width, plan.answer);
  const LaneParts<T> back =
      Transformed(*plan.wide, passes, there.Exchanged(),
                  OtherOf(there, x, spare).Exchanged(), width)
          .Exchanged();
  passes.turn_elements(back, n, width, plan.chirp);
  return back;
}

template <typename T>
LaneParts<T> Transformed(const FftPlan<T>& plan, const LanePasses<T>& passes,
                         LaneParts<T> x, LaneParts<T> spare, int64_t width) {
  if (plan.way.kind == FftWay::kMatrix) {
    return AsMatrix(plan, passes, x, spare, width);
  }
  if (plan.way.kind == FftWay::kChirps) {
    return ByChirps(plan, passes, x, spare, width);
  }
  for (const LanePass<T>& pass : plan.passes) {
    passes.run(pass, x, spare, width);
    std::swap(x, spare);
  }
  return x;
}

}  // namespace

absl::Status GroupLoop::For(int64_t n, double steps,
                            absl::FunctionRef<absl::Status(int64_t)> fn) const {
  const auto run = [&](int64_t begin, int64_t end,
                       WorkMeter* meter) -> absl::Status {
    for (int64_t i = begin; i < end; ++i) {
      HAWSER_RETURN_IF_ERROR(meter->Begin(steps));
      HAWSER_RETURN_IF_ERROR(fn(i));
    }
    return absl::OkStatus();
  };
  if (meter_ != nullptr) return run(0, n, meter_);
  return context_->ForMetered(
      n, steps,
      [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
        HAWSER_RETURN_IF_ERROR(run(begin, end, meter));
        return meter->End();
      });
}

template <typename T>
absl::StatusOr<typename RoomPool<T>::Room> RoomPool<T>::Take() {
  {
    MutexLock lock(&mu_);
    if (!free_.empty()) {
      Room room(this, std::move(free_.back()));
      free_.pop_back();
      return room;
    }
  }
  HAWSER_ASSIGN_OR_RETURN(
      Literal memory,
      context_.environment.allocator->Allocate(Shape::Of(kDTypeOf<T>, {count_}),
                                               context_.environment.memory));
  return Room(this, std::move(memory));
}

template <typename T>
void RoomPool<T>::Give(Literal memory) {
  MutexLock lock(&mu_);
  free_.push_back(std::move(memory));
}

template <typename T>
LaneTransform<T>::LaneTransform(const KernelContext& context,
                                const FftPlan<T>& plan, int64_t elements)
    : plan_(plan),
      elements_(std::max(elements, plan.room())),
      passes_(FindLanePasses<T>(ProcessIsa())),
      rooms_(context, 4 * elements_ * kMostLanes<T>) {}

template <typename T>
absl::StatusOr<typename LaneTransform<T>::Lanes> LaneTransform<T>::Take(
    int64_t count) {
  HAWSER_ASSIGN_OR_RETURN(auto room, rooms_.Take());
  const int64_t vectors = (count - 1) / passes_.lanes + 1;
  const int64_t width = vectors * passes_.lanes;
  T* const data = room.data();
  const int64_t part = elements_ * width;
  return Lanes{std::move(room),
               count,
               width,
               {data, data + part},
               {data + 2 * part, data + 3 * part}};
}

template <typename T>
void LaneTransform<T>::Run(bool inverse, Lanes* lanes) const {
  LaneParts<T> x = lanes->x, spare = lanes->spare;
  if (inverse) {
    x = x.Exchanged();
    spare = spare.Exchanged();
  }
  LaneParts<T> result = Transformed(plan_, passes_, x, spare, lanes->width);
  if (inverse) result = result.Exchanged();
  if (result.re != lanes->x.re) std::swap(lanes->x, lanes->spare);
}

template class RoomPool<float>;
template class RoomPool<double>;
template class LaneTransform<float>;
template class LaneTransform<double>;

}  // namespace hawser::cpu
