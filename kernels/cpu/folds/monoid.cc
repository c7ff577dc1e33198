#include "kernels/cpu/folds/monoid.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/rules.h"
#include "kernels/cpu/elements/folds.h"
#include "kernels/cpu/movement/strided.h"

namespace hawser::cpu {
namespace {

// Axes next to each other that are all kept or all reduced.
struct AxisRun {
  bool reduced;
  int64_t size;
};
using AxisRuns = absl::InlinedVector<AxisRun, 8>;

void AddRun(AxisRuns* runs, AxisRun run) {
  if (!runs->empty() && runs->back().reduced == run.reduced) {
    runs->back().size *= run.size;
  } else {
    runs->push_back(run);
  }
}

AxisRuns RunsOf(const KernelContext& c) {
  const auto dimensions = c.attributes().GetInts("dimensions");
  AxisRuns runs;
  for (int i = 0; i < c.shape(0).rank(); ++i) {
    if (c.shape(0).dim(i) == 1) continue;
    AddRun(&runs, {Contains(dimensions, i), c.shape(0).dim(i)});
  }
  return runs;
}

// An input seen as [before][size][after], of which `size` goes.
struct FoldedExtent {
  int64_t before = 1;
  int64_t size = 1;
  int64_t after = 1;
};

// Takes the last reduced run out of `runs`.
FoldedExtent TakeLastReduced(AxisRuns* runs) {
  FoldedExtent e;
  int at = static_cast<int>(runs->size()) - 1;
  while (at >= 0 && !(*runs)[at].reduced) e.after *= (*runs)[at--].size;
  AxisRuns rest;
  for (int i = 0; i < static_cast<int>(runs->size()); ++i) {
    const AxisRun& run = (*runs)[i];
    if (i < at) e.before *= run.size;
    if (i == at) e.size = run.size;
    if (i != at) AddRun(&rest, run);
  }
  *runs = std::move(rest);
  return e;
}

// Work below which a fold is not cut along the reduced axis: an accumulator
// row of [size] in one block, unless only few blocks would be left.
constexpr int64_t kSegment = int64_t{1} << 16;
constexpr int64_t kEnoughBlocks = 64;
constexpr int64_t kLongest = int64_t{1} << 20;

// One run reduced. `again` folds what segments leave.
class Stage {
 public:
  Stage(const KernelContext& c, const Folds& folds, const Folds& again,
        FoldedExtent e)
      : c_(c),
        folds_(folds),
        again_(again),
        e_(e),
        in_bytes_(ByteWidth(folds.in)),
        out_bytes_(ByteWidth(folds.accumulator)),
        columns_(std::min(e.after, kFoldColumns)),
        chunks_((e.after + columns_ - 1) / columns_),
        segment_(std::max<int64_t>(kSegment / columns_, 1)),
        steps_(ElementSteps().Of(folds.in)) {
    const bool whole =
        e.size * columns_ <= kSegment ||
        (e.before * chunks_ >= kEnoughBlocks && e.size * columns_ <= kLongest);
    if (whole) segment_ = e.size;
    segments_ = (e.size + segment_ - 1) / segment_;
  }

  absl::Status Run(const char* in, char* out) const {
    if (segments_ == 1) return Fold(in, out);
    HAWSER_ASSIGN_OR_RETURN(
        Literal parts,
        c_.Allocate(
            Shape::Of(folds_.accumulator, {e_.before * segments_ * e_.after})));
    char* part = parts.mutable_bytes().data();
    HAWSER_RETURN_IF_ERROR(Fold(in, part));
    return Stage(c_, again_, again_, {e_.before, segments_, e_.after})
        .Run(part, out);
  }

 private:
  // in[before][size][after] -> out[before][segments][after].
  absl::Status Fold(const char* in, char* out) const {
    const int64_t blocks = e_.before * segments_ * chunks_;
    return c_.ForRanges(blocks,
                        steps_ * static_cast<double>(segment_ * columns_),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i)
                            FoldBlock(i, in, out);
                          return absl::OkStatus();
                        });
  }

  void FoldBlock(int64_t block, const char* in, char* out) const {
    const int64_t row = block / chunks_;  // of [before][segments]
    const int64_t column = block % chunks_ * columns_;
    const int64_t first = row % segments_ * segment_;
    const int64_t rows = std::min(segment_, e_.size - first);
    in += ((row / segments_ * e_.size + first) * e_.after + column) * in_bytes_;
    out += (row * e_.after + column) * out_bytes_;
    if (e_.after == 1) {
      folds_.run(in, rows, out);
    } else {
      folds_.columns(in, rows, e_.after, std::min(columns_, e_.after - column),
                     out);
    }
  }

  const KernelContext& c_;
  const Folds& folds_;
  const Folds& again_;
  const FoldedExtent e_;
  const int64_t in_bytes_, out_bytes_;
  const int64_t columns_, chunks_;
  int64_t segment_;     // reduced elements of one block
  const double steps_;  // of an element
  int64_t segments_ = 1;
};

// Every reduced run, one after another from the last; the result is one
// accumulator for each kept element.
absl::StatusOr<Literal> FoldAll(const KernelContext& c,
                                const Reduction& reduction) {
  AxisRuns runs = RunsOf(c);
  Literal values;
  const Folds* next = &reduction.elements;
  do {
    const FoldedExtent e = TakeLastReduced(&runs);
    HAWSER_ASSIGN_OR_RETURN(
        Literal out,
        c.Allocate(Shape::Of(next->accumulator, {e.before * e.after})));
    const char* in = values.valid() ? values.bytes().data() : c.data(0);
    HAWSER_RETURN_IF_ERROR(Stage(c, *next, reduction.parts, e)
                               .Run(in, out.mutable_bytes().data()));
    next = &reduction.parts;
    values = std::move(out);
  } while (std::any_of(runs.begin(), runs.end(),
                       [](const AxisRun& run) { return run.reduced; }));
  return values;
}

// ---- in the order of the reduced elements ----------------------------------

// Columns folded side by side.
constexpr int64_t kColumnsInOrder = 64;

// The reduced elements of each kept one, in row-major order, folded as FoldRun
// folds a run of them, however many others are kept and wherever the axes are.
class InOrder {
 public:
  InOrder(const KernelContext& c, const Reduction& reduction, FoldedExtent e)
      : c_(c),
        elements_(reduction.elements),
        parts_(reduction.parts),
        e_(e),
        in_bytes_(ByteWidth(elements_.in)),
        part_bytes_(ByteWidth(parts_.in)),
        blocks_(FoldBlocksOf(e.size)),
        columns_(std::min(e.after, kColumnsInOrder)),
        chunks_((e.after + columns_ - 1) / columns_) {}

  // A part for each kept element, in the first of these.
  absl::StatusOr<Literal> Run(const char* in) const {
    HAWSER_ASSIGN_OR_RETURN(
        Literal parts,
        c_.Allocate(Shape::Of(parts_.in, {e_.before * e_.after * blocks_})));
    char* part = parts.mutable_bytes().data();
    const double steps =
        static_cast<double>(c_.kernel.steps.Of(elements_.in)) *
        static_cast<double>(std::min(e_.size, kFoldBlock) * columns_);
    HAWSER_RETURN_IF_ERROR(c_.ForRanges(e_.before * blocks_ * chunks_, steps,
                                        [&](int64_t begin, int64_t end) {
                                          for (int64_t i = begin; i < end; ++i)
                                            Fold(i, in, part);
                                          return absl::OkStatus();
                                        }));
    if (blocks_ == 1) return parts;
    HAWSER_RETURN_IF_ERROR(
        c_.ForRanges(e_.before, static_cast<double>(blocks_ * e_.after),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         Join(part + i * blocks_ * row_bytes(), blocks_);
                       }
                       return absl::OkStatus();
                     }));
    for (int64_t i = 1; i < e_.before; ++i) {
      std::memcpy(part + i * row_bytes(), part + i * blocks_ * row_bytes(),
                  row_bytes());
    }
    return parts;
  }

 private:
  int64_t row_bytes() const { return e_.after * part_bytes_; }

  // in[before][size][after] -> parts[before][blocks][after], some columns.
  void Fold(int64_t number, const char* in, char* parts) const {
    const int64_t row = number / chunks_;  // of [before][blocks]
    const int64_t column = number % chunks_ * columns_;
    const int64_t first = row % blocks_ * kFoldBlock;
    const int64_t n = std::min(kFoldBlock, e_.size - first);
    in += ((row / blocks_ * e_.size + first) * e_.after + column) * in_bytes_;
    parts += row * row_bytes() + column * part_bytes_;
    if (e_.after == 1) return elements_.run(in, n, parts);
    FoldColumns(in, n, std::min(columns_, e_.after - column), parts);
  }

  void FoldColumns(const char* in, int64_t rows, int64_t n, char* out) const {
    if (rows < kFewElements) {
      return elements_.columns(in, rows, e_.after, n, out);
    }
    alignas(64) char
        lanes[kFoldLanes * kColumnsInOrder * sizeof(std::complex<double>)];
    const auto lane = [&](int l) { return lanes + l * n * part_bytes_; };
    const int there = static_cast<int>(std::min<int64_t>(rows, kFoldLanes));
    for (int l = 0; l < there; ++l) {
      elements_.columns(in + l * e_.after * in_bytes_,
                        (rows - l + kFoldLanes - 1) / kFoldLanes,
                        e_.after * kFoldLanes, n, lane(l));
    }
    for (int step = kFoldLanes / 2; step > 0; step /= 2) {
      for (int l = 0; l < step && l + step < there; ++l) {
        parts_.accumulate(lane(l + step), 1, n, n, lane(l));
      }
    }
    std::memcpy(out, lane(0), n * part_bytes_);
  }

  // Rows of parts into the first of them, halves at a time.
  void Join(char* parts, int64_t n) const {
    if (n == 1) return;
    const int64_t half = (n + 1) / 2;
    char* second = parts + half * row_bytes();
    Join(parts, half);
    Join(second, n - half);
    parts_.accumulate(second, 1, e_.after, e_.after, parts);
  }

  const KernelContext& c_;
  const Folds &elements_, &parts_;
  const FoldedExtent e_;
  const int64_t in_bytes_, part_bytes_;
  const int64_t blocks_, columns_, chunks_;
};

// The input with its reduced axes behind the others.
absl::StatusOr<Literal> ReducedLast(const KernelContext& c) {
  const auto dimensions = c.attributes().GetInts("dimensions");
  const Dims strides = c.shape(0).Strides();
  Dims dims, from;
  for (const bool reduced : {false, true}) {
    for (int i = 0; i < c.shape(0).rank(); ++i) {
      if (Contains(dimensions, i) != reduced) continue;
      dims.push_back(c.shape(0).dim(i));
      from.push_back(strides[i]);
    }
  }
  const Shape shape = Shape::Of(c.shape(0).dtype(), dims);
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(shape));
  const StridedCopy copy(ByteWidth(shape.dtype()), dims, shape.Strides(), from);
  HAWSER_RETURN_IF_ERROR(copy.Run(c, out.mutable_bytes().data(), c.data(0)));
  return out;
}

absl::StatusOr<Literal> FoldInOrder(const KernelContext& c,
                                    const Reduction& reduction) {
  AxisRuns runs = RunsOf(c);
  const FoldedExtent last = TakeLastReduced(&runs);
  const bool more = std::any_of(runs.begin(), runs.end(),
                                [](const AxisRun& run) { return run.reduced; });
  if (!more) return InOrder(c, reduction, last).Run(c.data(0));
  HAWSER_ASSIGN_OR_RETURN(const Literal in, ReducedLast(c));
  const int64_t kept = c.result_shape().num_elements();
  return InOrder(c, reduction, {kept, in.shape().num_elements() / kept, 1})
      .Run(in.bytes().data());
}

}  // namespace

const CpuKernel* MonoidKernel(const Computation& body) {
  const OpDef* op = body.instructions().size() == 3 ? MonoidOf(body) : nullptr;
  return op == nullptr ? nullptr : FindCpuKernel(*op);
}

absl::StatusOr<Literals> RunReduction(const KernelContext& c,
                                      const Reduction& reduction) {
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(c.result_shape()));
  char* to = out.mutable_bytes().data();
  const int64_t n = c.result_shape().num_elements();
  const int64_t width = ByteWidth(reduction.elements.in);
  if (c.shape(0).num_elements() == 0) {
    HAWSER_RETURN_IF_ERROR(c.ForRanges(n, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::memcpy(to + i * width, c.data(1), width);
      }
      return absl::OkStatus();
    }));
    return Literals{std::move(out)};
  }
  const bool in_order =
      reduction.ordered && c.environment.numerics == runtime::Numerics::kStrict;
  HAWSER_ASSIGN_OR_RETURN(const Literal parts, in_order
                                                   ? FoldInOrder(c, reduction)
                                                   : FoldAll(c, reduction));
  const char* from = parts.bytes().data();
  const int64_t part = ByteWidth(reduction.parts.in);
  HAWSER_RETURN_IF_ERROR(c.ForRanges(n, 1, [&](int64_t begin, int64_t end) {
    reduction.finish(c.data(1), from + begin * part, end - begin,
                     to + begin * width);
    return absl::OkStatus();
  }));
  return Literals{std::move(out)};
}

}  // namespace hawser::cpu
