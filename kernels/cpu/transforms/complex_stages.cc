// Stages between complex numbers.
#include <algorithm>

#include "core/base/status.h"
#include "kernels/cpu/transforms/line_transform.h"
#include "kernels/cpu/transforms/lines.h"
#include "kernels/cpu/transforms/stages.h"

namespace hawser::cpu {
namespace {

// Columns of which a cache line has a part each: they are made rows, and
// columns again.
template <typename T>
constexpr int64_t kColumnsOfLine = 32 / sizeof(T);

template <typename T>
double GroupSteps(int64_t n) {
  return StepsOfLine<T>(n) * kMostLanes<T>;
}

// ---- columns in lanes -------------------------------------------------------

// Columns that are neighbours in memory.
template <typename T>
absl::Status RunNeighbours(const KernelContext& c, const FftColumns<T>& job,
                           const Turn& turn, LaneTransform<T>* transform) {
  const int64_t groups = (job.inner - 1) / kMostLanes<T> + 1;
  const LanePasses<T>& passes = transform->passes();
  return GroupLoop(c).For(
      job.outer * groups, GroupSteps<T>(job.n), [&](int64_t i) -> absl::Status {
        const int64_t first = i % groups * kMostLanes<T>;
        const int64_t at = 2 * (i / groups * job.n * job.inner + first);
        HAWSER_ASSIGN_OR_RETURN(
            auto lanes,
            transform->Take(std::min(kMostLanes<T>, job.inner - first)));
        passes.load({job.from + at, job.inner, 1}, job.n, lanes.count, lanes.x,
                    lanes.width);
        transform->Run(turn.inverse, &lanes);
        passes.store(lanes.parts(), job.n, lanes.count, lanes.width,
                     static_cast<T>(turn.scale), {job.to + at, job.inner, 1});
        return absl::OkStatus();
      });
}

// Few columns next to each other: lanes are of several blocks.
template <typename T>
absl::Status RunScattered(const KernelContext& c, const FftColumns<T>& job,
                          const Turn& turn, LaneTransform<T>* transform) {
  const int64_t count = job.outer * job.inner;
  const auto start = [&](int64_t column) {
    return 2 * (column / job.inner * job.n * job.inner + column % job.inner);
  };
  const auto scale = static_cast<T>(turn.scale);
  return GroupLoop(c).For(
      (count - 1) / kMostLanes<T> + 1, GroupSteps<T>(job.n),
      [&](int64_t i) -> absl::Status {
        const int64_t first = i * kMostLanes<T>;
        HAWSER_ASSIGN_OR_RETURN(auto lanes, transform->Take(std::min(
                                                kMostLanes<T>, count - first)));
        for (int64_t l = 0; l < lanes.width; ++l) {
          const T* from =
              job.from + start(first + std::min(l, lanes.count - 1));
          for (int64_t j = 0; j < job.n; ++j, from += 2 * job.inner) {
            lanes.x.re[j * lanes.width + l] = from[0];
            lanes.x.im[j * lanes.width + l] = from[1];
          }
        }
        transform->Run(turn.inverse, &lanes);
        for (int64_t l = 0; l < lanes.count; ++l) {
          T* to = job.to + start(first + l);
          for (int64_t j = 0; j < job.n; ++j, to += 2 * job.inner) {
            to[0] = lanes.x.re[j * lanes.width + l] * scale;
            to[1] = lanes.x.im[j * lanes.width + l] * scale;
          }
        }
        return absl::OkStatus();
      });
}

// ---- long columns -----------------------------------------------------------

// `count` columns next to each other, made rows of n.
template <typename T>
absl::Status ToRows(const GroupLoop& loop, const T* from, int64_t inner,
                    int64_t n, int64_t count, T* rows) {
  const auto piece = [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      for (int64_t l = 0; l < count; ++l) {
        rows[2 * (l * n + j)] = from[2 * (j * inner + l)];
        rows[2 * (l * n + j) + 1] = from[2 * (j * inner + l) + 1];
      }
    }
  };
  return ForPieces(loop, n, kMoveSteps * static_cast<double>(count), piece);
}
template <typename T>
absl::Status ToColumns(const GroupLoop& loop, const T* rows, int64_t n,
                       int64_t count, int64_t inner, T* to) {
  const auto piece = [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      for (int64_t l = 0; l < count; ++l) {
        to[2 * (j * inner + l)] = rows[2 * (l * n + j)];
        to[2 * (j * inner + l) + 1] = rows[2 * (l * n + j) + 1];
      }
    }
  };
  return ForPieces(loop, n, kMoveSteps * static_cast<double>(count), piece);
}

template <typename T>
absl::Status RunLong(const KernelContext& c, const FftColumns<T>& job,
                     const Turn& turn, const FftPlan<T>& plan) {
  constexpr int64_t kColumns = kColumnsOfLine<T>;
  const int64_t groups = (job.inner - 1) / kColumns + 1;
  RoomPool<T> rooms(c, 2 * kColumns * job.n);
  LineTransform<T> transform(c, plan);
  const double steps = StepsOfLine<T>(job.n) * kColumns;
  return ForLines(
      c, job.outer * groups, steps,
      [&](int64_t i, const GroupLoop& loop) -> absl::Status {
        const int64_t first = i % groups * kColumns;
        const int64_t at = 2 * (i / groups * job.n * job.inner + first);
        const int64_t count = std::min(kColumns, job.inner - first);
        HAWSER_ASSIGN_OR_RETURN(auto room, rooms.Take());
        T* const rows = room.data();
        HAWSER_RETURN_IF_ERROR(
            ToRows(loop, job.from + at, job.inner, job.n, count, rows));
        for (int64_t l = 0; l < count; ++l) {
          T* const row = rows + 2 * l * job.n;
          HAWSER_RETURN_IF_ERROR(transform.Run(row, row, turn, loop));
        }
        return ToColumns(loop, rows, job.n, count, job.inner, job.to + at);
      });
}

}  // namespace

template <typename T>
absl::Status TransformRows(const KernelContext& c, const FftRows<T>& rows,
                           const Turn& turn) {
  HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<T> plan, FindPlan<T>(c, rows.n));
  const int64_t n = rows.n;
  if (!FillsLanes(*plan, rows.count)) {
    LineTransform<T> transform(c, *plan);
    return ForLines(c, rows.count, StepsOfLine<T>(n),
                    [&](int64_t i, const GroupLoop& loop) {
                      return transform.Run(rows.from + 2 * i * n,
                                           rows.to + 2 * i * n, turn, loop);
                    });
  }
  LaneTransform<T> transform(c, *plan);
  const LanePasses<T>& passes = transform.passes();
  return GroupLoop(c).For(
      (rows.count - 1) / kMostLanes<T> + 1, GroupSteps<T>(n),
      [&](int64_t g) -> absl::Status {
        const int64_t first = g * kMostLanes<T>;
        HAWSER_ASSIGN_OR_RETURN(
            auto lanes,
            transform.Take(std::min(kMostLanes<T>, rows.count - first)));
        passes.load({rows.from + 2 * first * n, 1, n}, n, lanes.count, lanes.x,
                    lanes.width);
        transform.Run(turn.inverse, &lanes);
        passes.store(lanes.parts(), n, lanes.count, lanes.width,
                     static_cast<T>(turn.scale),
                     {rows.to + 2 * first * n, 1, n});
        return absl::OkStatus();
      });
}

template <typename T>
absl::Status TransformColumns(const KernelContext& c,
                              const FftColumns<T>& columns, const Turn& turn) {
  if (columns.inner == 1) {
    return TransformRows<T>(
        c, {columns.from, columns.to, columns.outer, columns.n}, turn);
  }
  HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<T> plan, FindPlan<T>(c, columns.n));
  if (!FillsLanes(*plan, columns.outer * columns.inner)) {
    return RunLong(c, columns, turn, *plan);
  }
  LaneTransform<T> transform(c, *plan);
  const bool few = 2 * columns.inner <= kMostLanes<T> && columns.outer > 1;
  return few ? RunScattered(c, columns, turn, &transform)
             : RunNeighbours(c, columns, turn, &transform);
}

template absl::Status TransformRows(const KernelContext&, const FftRows<float>&,
                                    const Turn&);
template absl::Status TransformRows(const KernelContext&,
                                    const FftRows<double>&, const Turn&);
template absl::Status TransformColumns(const KernelContext&,
                                       const FftColumns<float>&, const Turn&);
template absl::Status TransformColumns(const KernelContext&,
                                       const FftColumns<double>&, const Turn&);

}  // namespace hawser::cpu
