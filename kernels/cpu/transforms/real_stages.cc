// Stages between real numbers and half their transform. An even number of them
// are half as many complex ones, whose transform is that of the even elements
// plus i times that of the odd ones.
#include <algorithm>

#include "core/base/status.h"
#include "core/ops/linalg/fft.h"
#include "kernels/cpu/transforms/line_transform.h"
#include "kernels/cpu/transforms/lines.h"
#include "kernels/cpu/transforms/stages.h"

namespace hawser::cpu {
namespace {

// Steps of a pair of elements that is joined or parted.
constexpr double kPairSteps = 2;

// The part of a real number and of a complex one in lanes or in a line, `step`
// apart from the next.
template <typename T>
struct Strided {
  T* re;
  T* im;
  int64_t step;
};

// fn(first, lanes) for groups of rows; it returns nothing.
template <typename T, typename Fn>
absl::Status ForGroups(const KernelContext& c, int64_t count,
                       LaneTransform<T>* transform, Fn fn) {
  const double steps = StepsOfLine<T>(transform->plan().n) * kMostLanes<T>;
  return GroupLoop(c).For(
      (count - 1) / kMostLanes<T> + 1, steps, [&](int64_t g) -> absl::Status {
        const int64_t first = g * kMostLanes<T>;
        HAWSER_ASSIGN_OR_RETURN(auto lanes, transform->Take(std::min(
                                                kMostLanes<T>, count - first)));
        fn(first, &lanes);
        return absl::OkStatus();
      });
}

// ---- an even number ---------------------------------------------------------

// LanePasses::join_halves of one line, that is not in lanes: of elements
// [begin, end), and as many from the end.
template <typename T>
void JoinLine(T* x, int64_t half, const T* roots, int64_t begin, int64_t end) {
  if (begin == 0) {
    const T re = x[0], im = x[1];
    x[0] = re + im;
    x[2 * half] = re - im;
    x[1] = x[2 * half + 1] = 0;
  }
  for (int64_t k = std::max<int64_t>(begin, 1); k < end; ++k) {
    T* const a = x + 2 * k;
    T* const b = x + 2 * (half - k);
    const T wr = roots[2 * k], wi = roots[2 * k + 1];
    const T even_re = (a[0] + b[0]) * T(0.5), even_im = (a[1] - b[1]) * T(0.5);
    const T part_re = (a[0] - b[0]) * T(0.5), part_im = (a[1] + b[1]) * T(0.5);
    const T odd_re = part_re * wr - part_im * wi;
    const T odd_im = part_re * wi + part_im * wr;
    // The middle one is both.
    b[0] = even_re - odd_im;
    b[1] = -(even_im + odd_re);
    a[0] = even_re + odd_im;
    a[1] = even_im - odd_re;
  }
}

// LanePasses::part_halves, from half + 1 numbers to half of them.
template <typename T>
void PartLine(const T* x, int64_t half, const T* roots, T* to, int64_t begin,
              int64_t end) {
  if (begin == 0) {
    to[0] = x[0] + x[2 * half];
    to[1] = x[0] - x[2 * half];
  }
  for (int64_t k = std::max<int64_t>(begin, 1); k < end; ++k) {
    const T* const a = x + 2 * k;
    const T* const b = x + 2 * (half - k);
    const T wr = roots[2 * k], wi = -roots[2 * k + 1];
    const T even_re = a[0] + b[0], even_im = a[1] - b[1];
    const T part_re = a[0] - b[0], part_im = a[1] + b[1];
    const T odd_re = part_re * wr - part_im * wi;
    const T odd_im = part_re * wi + part_im * wr;
    T* const low = to + 2 * k;
    T* const high = to + 2 * (half - k);
    high[0] = even_re + odd_im;
    high[1] = -(even_im - odd_re);
    low[0] = even_re - odd_im;
    low[1] = even_im + odd_re;
  }
}

template <typename T>
absl::Status RunEven(const KernelContext& c, const FftRows<T>& rows) {
  const int64_t half = rows.n / 2;
  HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<T> plan, FindPlan<T>(c, half));
  HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<T> halves,
                          FindPlan<T>(c, rows.n, PlanFor::kHalves));
  if (!FillsLanes(*plan, rows.count)) {
    LineTransform<T> transform(c, *plan);
    return ForLines(c, rows.count, StepsOfLine<T>(half),
                    [&](int64_t i, const GroupLoop& loop) -> absl::Status {
                      T* const to = rows.to + 2 * i * (half + 1);
                      HAWSER_RETURN_IF_ERROR(
                          transform.Run(rows.from + i * rows.n, to, {}, loop));
                      return ForPieces(loop, half / 2 + 1, kPairSteps,
                                       [&](int64_t begin, int64_t end) {
                                         JoinLine(to, half, halves->halves,
                                                  begin, end);
                                       });
                    });
  }
  LaneTransform<T> transform(c, *plan, half + 1);
  const LanePasses<T>& p = transform.passes();
  return ForGroups(c, rows.count, &transform, [&](int64_t first, auto* lanes) {
    p.load({rows.from + first * rows.n, 1, half}, half, lanes->count, lanes->x,
           lanes->width);
    transform.Run(false, lanes);
    p.join_halves(lanes->x, half, lanes->width, halves->halves);
    p.store(lanes->parts(), half + 1, lanes->count, lanes->width, 1,
            {rows.to + 2 * first * (half + 1), 1, half + 1});
  });
}

template <typename T>
absl::Status InvertEven(const KernelContext& c, const FftRows<T>& rows,
                        double scale) {
  const int64_t half = rows.n / 2;
  HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<T> plan, FindPlan<T>(c, half));
  HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<T> halves,
                          FindPlan<T>(c, rows.n, PlanFor::kHalves));
  const Turn turn = {.inverse = true, .scale = scale};
  if (!FillsLanes(*plan, rows.count)) {
    LineTransform<T> transform(c, *plan);
    RoomPool<T> rooms(c, 2 * half);
    return ForLines(
        c, rows.count, StepsOfLine<T>(half),
        [&](int64_t i, const GroupLoop& loop) -> absl::Status {
          HAWSER_ASSIGN_OR_RETURN(auto room, rooms.Take());
          T* const x = room.data();
          HAWSER_RETURN_IF_ERROR(ForPieces(
              loop, half / 2 + 1, kPairSteps, [&](int64_t begin, int64_t end) {
                PartLine(rows.from + 2 * i * (half + 1), half, halves->halves,
                         x, begin, end);
              }));
          return transform.Run(x, rows.to + i * rows.n, turn, loop);
        });
  }
  LaneTransform<T> transform(c, *plan, half + 1);
  const LanePasses<T>& p = transform.passes();
  return ForGroups(c, rows.count, &transform, [&](int64_t first, auto* lanes) {
    p.load({rows.from + 2 * first * (half + 1), 1, half + 1}, half + 1,
           lanes->count, lanes->x, lanes->width);
    p.part_halves(lanes->x, half, lanes->width, halves->halves);
    transform.Run(true, lanes);
    p.store(lanes->parts(), half, lanes->count, lanes->width,
            static_cast<T>(scale), {rows.to + first * rows.n, 1, half});
  });
}

// ---- an odd number ----------------------------------------------------------

// fn(lane, begin, end) for so many lanes and elements, those of a cache line at
// a time.
template <typename Fn>
void ForTiles(int64_t n, int64_t lanes, Fn fn) {
  constexpr int64_t kTile = 16;
  for (int64_t begin = 0; begin < n; begin += kTile) {
    for (int64_t l = 0; l < lanes; ++l) {
      fn(l, begin, std::min(begin + kTile, n));
    }
  }
}

// A group of rows in lanes, from real numbers and back.
template <typename T>
void RunOddLanes(const FftRows<T>& rows, int64_t first,
                 const LaneTransform<T>& transform,
                 typename LaneTransform<T>::Lanes* lanes) {
  const int64_t n = rows.n, width = lanes->width, kept = HalfOf(n);
  ForTiles(n, width, [&](int64_t l, int64_t begin, int64_t end) {
    const T* const from =
        rows.from + (first + std::min(l, lanes->count - 1)) * n;
    for (int64_t j = begin; j < end; ++j) lanes->x.re[j * width + l] = from[j];
  });
  std::fill_n(lanes->x.im, n * width, T(0));
  transform.Run(false, lanes);
  transform.passes().store(lanes->parts(), kept, lanes->count, width, 1,
                           {rows.to + 2 * first * kept, 1, kept});
}

template <typename T>
void InvertOddLanes(const FftRows<T>& rows, T scale, int64_t first,
                    const LaneTransform<T>& transform,
                    typename LaneTransform<T>::Lanes* lanes) {
  const int64_t n = rows.n, width = lanes->width, given = HalfOf(n);
  const LaneParts<T> x = lanes->x;
  transform.passes().load({rows.from + 2 * first * given, 1, given}, given,
                          lanes->count, x, width);
  std::fill_n(x.im, width, T(0));
  for (int64_t k = 1; k < given; ++k) {
    const int64_t at = k * width, mirror = (n - k) * width;
    for (int64_t l = 0; l < width; ++l) {
      x.re[mirror + l] = x.re[at + l];
      x.im[mirror + l] = -x.im[at + l];
    }
  }
  transform.Run(true, lanes);
  ForTiles(n, lanes->count, [&](int64_t l, int64_t begin, int64_t end) {
    T* const to = rows.to + (first + l) * n;
    for (int64_t j = begin; j < end; ++j) {
      to[j] = lanes->x.re[j * width + l] * scale;
    }
  });
}

// Rows of complex numbers stand for those of either side.
template <typename T, typename Load, typename Store, typename InLanes>
absl::Status RunOdd(const KernelContext& c, const FftRows<T>& rows,
                    const Turn& turn, Load load, Store store,
                    InLanes in_lanes) {
  HAWSER_ASSIGN_OR_RETURN(const FftPlanPtr<T> plan, FindPlan<T>(c, rows.n));
  if (!FillsLanes(*plan, rows.count)) {
    LineTransform<T> transform(c, *plan);
    RoomPool<T> rooms(c, 2 * rows.n);
    return ForLines(
        c, rows.count, StepsOfLine<T>(rows.n),
        [&](int64_t i, const GroupLoop& loop) -> absl::Status {
          HAWSER_ASSIGN_OR_RETURN(auto room, rooms.Take());
          T* const x = room.data();
          const Strided<T> line = {x, x + 1, 2};
          HAWSER_RETURN_IF_ERROR(ForPieces(
              loop, rows.n, kMoveSteps,
              [&](int64_t begin, int64_t end) { load(i, line, begin, end); }));
          HAWSER_RETURN_IF_ERROR(transform.Run(x, x, turn, loop));
          return ForPieces(
              loop, rows.n, kMoveSteps,
              [&](int64_t begin, int64_t end) { store(i, line, begin, end); });
        });
  }
  LaneTransform<T> transform(c, *plan);
  return ForGroups(c, rows.count, &transform, [&](int64_t first, auto* lanes) {
    in_lanes(first, transform, lanes);
  });
}

}  // namespace

template <typename T>
absl::Status TransformRealRows(const KernelContext& c, const FftRows<T>& rows) {
  if (rows.n % 2 == 0) return RunEven(c, rows);
  const int64_t n = rows.n, kept = HalfOf(n);
  return RunOdd(
      c, rows, {},
      [&](int64_t i, const Strided<T>& x, int64_t begin, int64_t end) {
        const T* const from = rows.from + i * n;
        for (int64_t j = begin; j < end; ++j) {
          x.re[j * x.step] = from[j];
          x.im[j * x.step] = 0;
        }
      },
      [&](int64_t i, const Strided<T>& x, int64_t begin, int64_t end) {
        T* const to = rows.to + 2 * i * kept;
        for (int64_t k = begin; k < std::min(end, kept); ++k) {
          to[2 * k] = x.re[k * x.step];
          to[2 * k + 1] = x.im[k * x.step];
        }
      },
      [&](int64_t first, const LaneTransform<T>& transform, auto* lanes) {
        RunOddLanes(rows, first, transform, lanes);
      });
}

template <typename T>
absl::Status InvertToRealRows(const KernelContext& c, const FftRows<T>& rows,
                              double scale) {
  if (rows.n % 2 == 0) return InvertEven(c, rows, scale);
  const int64_t n = rows.n, given = HalfOf(n);
  return RunOdd(
      c, rows, {.inverse = true, .scale = scale},
      [&](int64_t i, const Strided<T>& x, int64_t begin, int64_t end) {
        const T* const from = rows.from + 2 * i * given;
        for (int64_t k = begin; k < end; ++k) {
          const int64_t at = std::min(k, n - k);
          x.re[k * x.step] = from[2 * at];
          const T im = at == 0 ? T(0) : from[2 * at + 1];
          x.im[k * x.step] = at == k ? im : -im;
        }
      },
      [&](int64_t i, const Strided<T>& x, int64_t begin, int64_t end) {
        T* const to = rows.to + i * n;
        for (int64_t j = begin; j < end; ++j) to[j] = x.re[j * x.step];
      },
      [&](int64_t first, const LaneTransform<T>& transform, auto* lanes) {
        InvertOddLanes(rows, static_cast<T>(scale), first, transform, lanes);
      });
}

template absl::Status TransformRealRows(const KernelContext&,
                                        const FftRows<float>&);
template absl::Status TransformRealRows(const KernelContext&,
                                        const FftRows<double>&);
template absl::Status InvertToRealRows(const KernelContext&,
                                       const FftRows<float>&, double);
template absl::Status InvertToRealRows(const KernelContext&,
                                       const FftRows<double>&, double);

}  // namespace hawser::cpu
