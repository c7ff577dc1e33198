// CpuKernel: the row that says how one op computes here, and what a kernel is
// given. Rows stand in family tables (elements/elementwise.cc, ...); the
// registry joins them.
#ifndef HAWSER_KERNELS_CPU_KERNEL_H_
#define HAWSER_KERNELS_CPU_KERNEL_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/thread_pool.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "kernels/cpu/host_allocator.h"

namespace hawser::cpu {

using Literals = absl::InlinedVector<Literal, 1>;

// Work is counted in steps: what a simple operation on one element takes,
// about a nanosecond. Loops of fewer steps stay on one thread: waking another
// costs about as much as computing them.
inline constexpr int64_t kParallelElements = int64_t{1} << 16;
// The most steps between two looks at the cancel token: some 4 ms.
inline constexpr double kLookSteps = 1 << 22;

// Told how much was done whenever a look at the cancel token follows or could
// have: tests see by it how far apart looks are. Called on any thread.
class WorkObserver {
 public:
  virtual ~WorkObserver() = default;
  virtual void Worked(double steps) = 0;
};

// The environment of a run.
struct Environment {
  ThreadPool* pool = nullptr;  // nullptr: everything on the calling thread
  HostAllocator* allocator = nullptr;
  MemoryHolderPtr memory;  // is charged for values; null: the allocator is
  runtime::Numerics numerics = runtime::Numerics::kFast;
  CancelToken cancel;
  std::shared_ptr<runtime::Sharing> sharing;
  WorkObserver* observer = nullptr;

  void BetweenIterations() const {
    if (sharing == nullptr || !sharing->others_wait()) return;
    // Another thread does meanwhile what this one would.
    ThreadPool::Blocking blocking(pool);
    sharing->MakeWay();
  }
  // To be called after every kLookSteps of work, with what it was. OK, or what
  // the token says.
  absl::Status Look(double steps) const {
    if (observer != nullptr) observer->Worked(steps);
    return cancel.Check();
  }
};

// Counts the steps of a loop that runs on one thread, and looks at the token
// whenever kLookSteps would be exceeded. Not thread-safe.
class WorkMeter {
 public:
  explicit WorkMeter(const Environment& environment)
      : environment_(environment) {}
  // `steps` more are about to be done.
  absl::Status Begin(double steps) {
    if (pending_ + steps <= kLookSteps) {
      pending_ += steps;
      return absl::OkStatus();
    }
    return environment_.Look(std::exchange(pending_, steps));
  }
  // Nothing more follows.
  absl::Status End() { return environment_.Look(std::exchange(pending_, 0)); }

 private:
  const Environment& environment_;
  double pending_ = 0;
};

// How an instruction's values are used, besides what it says.
struct ValueUse {
  // A sort's results are read only up to so many entries of its axis, and the
  // others may stay undefined.
  int64_t wanted = std::numeric_limits<int64_t>::max();
};

// A form holds what an instruction's shapes and attributes alone say, as its row
// wants it. It is made once for all runs, immutable and thread-safe.
class KernelForm {
 public:
  virtual ~KernelForm() = default;
};

struct CpuKernel;
class LaneProgram;
struct Reduction;
struct RunScan;

// One instruction about to run.
struct KernelContext {
  const CpuKernel& kernel;
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;
  // Their shapes are those the instruction was verified with. A kernel may
  // take one over; the others' bytes stay as they are.
  absl::Span<Literal> operands;
  const Environment& environment;
  // Runs called computation `which` of this instruction.
  absl::FunctionRef<absl::StatusOr<std::vector<Literal>>(
      int which, std::vector<Literal> arguments)>
      call;
  // Memory that values of these shapes are given first, once.
  absl::Span<Literal> given = {};
  ValueUse use = {};
  // They run each called computation over lanes; null where none can.
  absl::Span<const LaneProgram* const> lanes = {};
  const KernelForm* form = nullptr;  // what the row's `form` made

  const Attributes& attributes() const { return instruction.attributes; }
  const Shape& result_shape(int k = 0) const {
    return computation.shape(instruction.first_result + k);
  }
  const Shape& shape(int operand) const { return operands[operand].shape(); }
  const char* data(int operand) const {
    return operands[operand].bytes().data();
  }

  // Memory for a result, contents undefined. Errors: kResourceExhausted.
  absl::StatusOr<Literal> Allocate(const Shape& shape) const;
  // Memory for every result, contents undefined, and where each one's is.
  absl::StatusOr<Literals> AllocateResults(
      absl::InlinedVector<char*, 2>* data) const;
  // A scalar with the element at `from`. Errors: kResourceExhausted.
  absl::StatusOr<Literal> ScalarAt(DType dtype, const char* from) const;
  // Memory for result 0: that of the first operand of the same shape that has
  // no other holder, else new. Take operands' data() before this call.
  absl::StatusOr<Literal> ReuseOrAllocate() const;

  // fn(begin, end) over [0, n), on several threads from kParallelElements
  // steps on, where one of n takes `steps`, kLookSteps at most. Blocks are cut
  // by these numbers alone. Looks at the token for each block.
  absl::Status ForRanges(
      int64_t n, double steps,
      absl::FunctionRef<absl::Status(int64_t, int64_t)> fn) const;
  // The same where one of n may take more: fn(begin, end, meter) tells `meter`
  // what it does, and ends with the meter's error.
  absl::Status ForMetered(
      int64_t n, double steps,
      absl::FunctionRef<absl::Status(int64_t, int64_t, WorkMeter*)> fn) const;

 private:
  absl::Status ForBlocks(
      int64_t n, double steps,
      absl::FunctionRef<absl::Status(int64_t, int64_t)> fn) const;
};

using KernelFn = absl::StatusOr<Literals> (*)(const KernelContext&);

// out[i] = f(in[0][i], in[1][i], ...) for i < n. `out` may be one of `in`.
using ElementFn = void (*)(const char* const* in, char* out, int64_t n);
// Four tables of elements, so far apart: update k goes to table k % 4, so that
// equal offsets need not wait for each other. 0: one table.
inline constexpr int64_t kCombineTables = 4;
// t[offsets[k]] = f(t[offsets[k]], from[k * step]) for k < n, one after the
// other, in the table t of k. Offsets outside [0, size) are left out.
using CombineFn = void (*)(const int32_t* offsets, int64_t n, int32_t size,
                           const char* from, int64_t step, char* to,
                           int64_t apart);
// The key by which an element loop is found.
struct ElementTypes {
  absl::Span<const DType> operands;
  DType result;
  const Attributes& attributes;
};

// Steps for one element by what it is made of: between the typical time and
// the worst over all values, which are at most 16 times apart
// (tests/bench/element_bench prints both).
struct ElementSteps {
  int16_t integer = 1;
  int16_t half = 4;  // f16, the slower one
  int16_t f32 = 1;
  int16_t f64 = 1;
  int16_t complex = 2;

  int Of(DType dtype) const;
};

// Steps of a computation: by itself, and per lane where it is a LaneProgram.
struct CalledCost {
  double steps = 0;
  std::optional<double> lane;
};

// The instruction whose cost is asked for.
struct CostContext {
  const CpuKernel& kernel;
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;
  absl::Span<const CalledCost> called;

  const Shape& operand(int i) const {
    return computation.shape(instruction.operands[i]);
  }
  const Shape& result(int i = 0) const {
    return computation.shape(instruction.first_result + i);
  }
  double elements(const Shape& shape) const {
    return static_cast<double>(shape.num_elements());
  }
  // The row's, of the slowest dtype among operands and results.
  int steps() const;
};
// About how many steps an instruction takes.
using CostFn = double (*)(const CostContext&);

struct CpuKernel {
  const OpDef* op = nullptr;
  // nullptr: the evaluator does it itself (parameter).
  KernelFn run = nullptr;
  // Only of elementwise ops: the loop for these dtypes, nullptr when the op
  // has none for them. Reductions run whole bodies through such loops.
  ElementFn (*element)(const ElementTypes&) = nullptr;
  // nullptr: `steps` per element of the results, and one per element that is
  // read.
  CostFn cost = nullptr;
  ElementSteps steps = {};
  // Monoids: how axes are folded, for every dtype of the op.
  const Reduction* (*reduction)(DType) = nullptr;
  // Monoids: how runs are scanned, for every dtype of the op.
  const RunScan* (*scan)(DType) = nullptr;
  // Monoids: how elements at indices are combined; nullptr when the op has none
  // for the dtype.
  CombineFn (*combine)(DType) = nullptr;
  // nullptr: the row wants none.
  std::unique_ptr<const KernelForm> (*form)(
      const Computation& computation, const Instruction& instruction) = nullptr;
  // Planned alone, with a result of so many bytes or more, it is run by the row
  // rather than by tiles.
  int64_t alone_from = std::numeric_limits<int64_t>::max();
};

double CostOf(const CostContext& context);
// Costs of rows: nothing, of what only passes its operand on; what is taken,
// of what reads only that.
double NoCost(const CostContext& context);
double ResultCost(const CostContext& context);

// nullptr when this engine has no row for the op.
const CpuKernel* FindCpuKernel(const OpDef& op);

// `run` of every row that has `element`.
absl::StatusOr<Literals> RunElementwise(const KernelContext& context);

// Calls fn(TypeTag<W>{}) with an unsigned type as wide as an element, for
// kernels that only move elements. Wide16 stands for c128.
struct alignas(8) Wide16 {
  uint64_t halves[2];
};
template <typename Fn>
decltype(auto) VisitWidth(int64_t bytes, Fn&& fn) {
  switch (bytes) {
    case 1:
      return fn(TypeTag<uint8_t>{});
    case 2:
      return fn(TypeTag<uint16_t>{});
    case 4:
      return fn(TypeTag<uint32_t>{});
    case 8:
      return fn(TypeTag<uint64_t>{});
    default:
      return fn(TypeTag<Wide16>{});
  }
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_KERNEL_H_
