// Reductions: many elements along axes become one. Monoids run typed
// loops (monoid.h); other scalar bodies run over lanes; anything else goes
// through the evaluator, element by element.
#include "core/ops/contraction/reduce.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/folds/monoid.h"
#include "kernels/cpu/lane_program.h"

namespace hawser::cpu {
namespace {

// Walks the kept or the reduced axes of an input in row-major order.
class AxisWalk {
 public:
  AxisWalk(const Shape& input, absl::Span<const int64_t> dimensions,
           bool reduced) {
    const Dims strides = input.Strides();
    for (int i = 0; i < input.rank(); ++i) {
      if (Contains(dimensions, i) != reduced) continue;
      sizes_.push_back(input.dim(i));
      strides_.push_back(strides[i]);
      count_ *= input.dim(i);
    }
    index_.resize(sizes_.size(), 0);
  }
  int64_t count() const { return count_; }
  int64_t offset() const { return offset_; }  // elements
  void Seek(int64_t position) {
    offset_ = 0;
    for (size_t i = sizes_.size(); i-- > 0;) {
      index_[i] = position % sizes_[i];
      position /= sizes_[i];
      offset_ += index_[i] * strides_[i];
    }
  }
  void Next() {
    for (size_t i = sizes_.size(); i-- > 0;) {
      offset_ += strides_[i];
      if (++index_[i] < sizes_[i]) return;
      offset_ -= sizes_[i] * strides_[i];
      index_[i] = 0;
    }
  }

 private:
  Dims sizes_, strides_, index_;
  int64_t count_ = 1;
  int64_t offset_ = 0;
};

// Folds with a body of N running values, one result element after another.
struct Fold {
  explicit Fold(const KernelContext& c)
      : c(c),
        n(static_cast<int>(c.operands.size() / 2)),
        kept(c.shape(0), c.attributes().GetInts("dimensions"), false),
        reduced(c.shape(0), c.attributes().GetInts("dimensions"), true) {}
  int64_t width(int i) const { return ByteWidth(c.shape(i).dtype()); }

  const KernelContext& c;
  const int n;
  AxisWalk kept, reduced;
};

// Copies elements at `offsets` + `base` into a dense column.
void LoadLanes(const char* from, int64_t base,
               absl::Span<const int64_t> offsets, int64_t width, char* column) {
  VisitWidth(width, [&](auto tag) {
    using W = typename decltype(tag)::type;
    const W* elements = reinterpret_cast<const W*>(from) + base;
    W* to = reinterpret_cast<W*>(column);
    for (size_t i = 0; i < offsets.size(); ++i) to[i] = elements[offsets[i]];
  });
}

// Results [begin, end), at most as many as there are lanes.
absl::Status FoldLanes(const Fold& fold, const LaneProgram& program,
                       LaneColumns& columns, int64_t begin, int64_t end,
                       absl::Span<char* const> results, WorkMeter* meter) {
  const KernelContext& c = fold.c;
  const int64_t lanes = end - begin;
  std::vector<int64_t> offsets;
  AxisWalk kept = fold.kept;
  kept.Seek(begin);
  for (int64_t i = 0; i < lanes; ++i, kept.Next()) {
    offsets.push_back(kept.offset());
  }
  const std::vector<int64_t> same(lanes, 0);
  // A running value may move to another's place, so they pass through here.
  std::vector<std::vector<char>> running(fold.n);
  for (int k = 0; k < fold.n; ++k) {
    LoadLanes(c.data(fold.n + k), 0, same, fold.width(k), columns.own(k));
    running[k].resize(lanes * fold.width(k));
  }
  AxisWalk reduced = fold.reduced;
  for (int64_t r = 0; r < reduced.count(); ++r, reduced.Next()) {
    HAWSER_RETURN_IF_ERROR(
        meter->Begin(2.0 * fold.n * static_cast<double>(lanes)));
    for (int k = 0; k < fold.n; ++k) {
      LoadLanes(c.data(k), reduced.offset(), offsets, fold.width(k),
                columns.own(fold.n + k));
    }
    HAWSER_RETURN_IF_ERROR(program.Run(lanes, columns, meter));
    for (int k = 0; k < fold.n; ++k) {
      std::memcpy(running[k].data(), columns.own(program.result_value(k)),
                  running[k].size());
    }
    for (int k = 0; k < fold.n; ++k) {
      std::memcpy(columns.own(k), running[k].data(), running[k].size());
    }
  }
  for (int k = 0; k < fold.n; ++k) {
    std::memcpy(results[k] + begin * fold.width(k), columns.own(k),
                lanes * fold.width(k));
  }
  return absl::OkStatus();
}

absl::Status RunLanes(const Fold& fold, const LaneProgram& program,
                      absl::Span<char* const> results) {
  const int64_t lanes = program.lanes();
  const int64_t count = fold.kept.count();
  const int64_t groups = (count + lanes - 1) / lanes;
  const double cost = static_cast<double>(std::min(lanes, count)) *
                      static_cast<double>(fold.reduced.count()) *
                      program.cost();
  return fold.c.ForMetered(
      groups, cost,
      [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
        LaneColumns columns;
        program.Prepare(columns);
        for (int64_t g = begin; g < end; ++g) {
          HAWSER_RETURN_IF_ERROR(FoldLanes(fold, program, columns, g * lanes,
                                           std::min((g + 1) * lanes, count),
                                           results, meter));
        }
        return absl::OkStatus();
      });
}

// The slow and general way: any body, one call an element.
absl::Status RunCalls(const Fold& fold, absl::Span<char* const> results) {
  const KernelContext& c = fold.c;
  AxisWalk kept = fold.kept;
  AxisWalk reduced = fold.reduced;
  for (int64_t i = 0; i < kept.count(); ++i, kept.Next()) {
    std::vector<Literal> running(c.operands.begin() + fold.n, c.operands.end());
    for (int64_t r = 0; r < reduced.count(); ++r, reduced.Next()) {
      HAWSER_RETURN_IF_ERROR(c.environment.Look(fold.n * kScalarSteps));
      for (int k = 0; k < fold.n; ++k) {
        const int64_t offset = kept.offset() + reduced.offset();
        HAWSER_ASSIGN_OR_RETURN(
            Literal element,
            c.ScalarAt(c.shape(k).dtype(), c.data(k) + offset * fold.width(k)));
        running.push_back(std::move(element));
      }
      HAWSER_ASSIGN_OR_RETURN(running, c.call(0, std::move(running)));
    }
    for (int k = 0; k < fold.n; ++k) {
      std::memcpy(results[k] + i * fold.width(k), running[k].bytes().data(),
                  fold.width(k));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literals> RunReduce(const KernelContext& c) {
  const Computation& body = c.module.computation(c.instruction.called[0]);
  if (const CpuKernel* monoid = MonoidKernel(body)) {
    return RunReduction(c, *monoid->reduction(c.shape(0).dtype()));
  }
  const Fold fold(c);
  absl::InlinedVector<char*, 2> results;
  HAWSER_ASSIGN_OR_RETURN(Literals out, c.AllocateResults(&results));
  if (fold.kept.count() == 0) return out;
  const LaneProgram* const lanes = c.lanes[0];
  HAWSER_RETURN_IF_ERROR(lanes != nullptr ? RunLanes(fold, *lanes, results)
                                          : RunCalls(fold, results));
  return out;
}

double ReduceCost(const CostContext& c) {
  const Computation& body = c.module.computation(c.instruction.called[0]);
  const auto n = static_cast<double>(c.instruction.operands.size() / 2);
  const double elements = c.elements(c.operand(0));
  if (const CpuKernel* monoid = MonoidKernel(body)) {
    return elements * monoid->steps.Of(c.operand(0).dtype());
  }
  return elements *
         c.called[0].lane.value_or(c.called[0].steps + n * kScalarSteps);
}

constexpr CpuKernel kReduceKernels[] = {
    {&kReduce, RunReduce, nullptr, ReduceCost},
};

}  // namespace

absl::Span<const CpuKernel> ReduceKernels() { return kReduceKernels; }

}  // namespace hawser::cpu
