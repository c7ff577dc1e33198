#include "kernels/cpu/monoid.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "core/ops/rules.h"
#include "kernels/cpu/folds.h"

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
struct Extent {
  int64_t before = 1;
  int64_t size = 1;
  int64_t after = 1;
};

// Takes the last reduced run out of `runs`.
Extent TakeLastReduced(AxisRuns* runs) {
  Extent e;
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
        Extent e)
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
        c_.Allocate(Shape::Of(folds_.accumulator,
                              {e_.before * segments_ * e_.after})));
    char* part = parts.mutable_bytes().data();
    HAWSER_RETURN_IF_ERROR(Fold(in, part));
    return Stage(c_, again_, again_, {e_.before, segments_, e_.after})
        .Run(part, out);
  }

 private:
  // in[before][size][after] -> out[before][segments][after].
  absl::Status Fold(const char* in, char* out) const {
    const int64_t blocks = e_.before * segments_ * chunks_;
    return c_.ForRanges(
        blocks, steps_ * static_cast<double>(segment_ * columns_),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) FoldBlock(i, in, out);
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
  const Extent e_;
  const int64_t in_bytes_, out_bytes_;
  const int64_t columns_, chunks_;
  int64_t segment_;  // reduced elements of one block
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
    const Extent e = TakeLastReduced(&runs);
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

}  // namespace

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
  HAWSER_ASSIGN_OR_RETURN(const Literal parts, FoldAll(c, reduction));
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
