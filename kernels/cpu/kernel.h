// CpuKernel: the row that says how one op computes here, and what a kernel is
// given. Rows stand in family tables (elementwise.cc, shape.cc, ...); the
// registry joins them.
#ifndef HAWSER_KERNELS_CPU_KERNEL_H_
#define HAWSER_KERNELS_CPU_KERNEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/cancel.h"
#include "core/base/literal.h"
#include "core/base/thread_pool.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "kernels/cpu/host_allocator.h"

namespace hawser::cpu {

using Literals = absl::InlinedVector<Literal, 1>;

// What a run has beside its values.
struct Environment {
  ThreadPool* pool = nullptr;  // nullptr: everything on the calling thread
  HostAllocator* allocator = nullptr;
  MemoryHolderPtr memory;  // who pays for values; null: the allocator
  runtime::Numerics numerics = runtime::Numerics::kFast;
  CancelToken cancel;
  std::shared_ptr<runtime::Sharing> sharing;

  void BetweenTurns() const {
    if (sharing == nullptr || !sharing->others_wait()) return;
    // Another thread does meanwhile what this one would.
    ThreadPool::Blocking blocking(pool);
    sharing->MakeWay();
  }
};

// Loops shorter than this stay on one thread: waking another costs about as
// much as computing them.
inline constexpr int64_t kParallelElements = int64_t{1} << 16;

struct CpuKernel;

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

  const Attributes& attributes() const { return instruction.attributes; }
  const Shape& result_shape(int k = 0) const {
    return computation.shape(instruction.first_result + k);
  }
  const Shape& shape(int operand) const { return operands[operand].shape(); }
  const char* data(int operand) const {
    return operands[operand].bytes().data();
  }

  // Memory for a result, contents undefined. Errors: kResourceExhausted.
  absl::StatusOr<Literal> Allocate(const Shape& shape) const {
    return environment.allocator->Allocate(shape, environment.memory);
  }
  // A scalar with the element at `from`. Errors: kResourceExhausted.
  absl::StatusOr<Literal> ScalarAt(DType dtype, const char* from) const;
  // Memory for result 0: that of the first operand of the same shape which
  // nobody else holds, else new. Take operands' data() before this call.
  absl::StatusOr<Literal> ReuseOrAllocate() const;

  // fn(begin, end) over [0, n), on several threads from kParallelElements of
  // work on, where one step is worth `elements_per_step`. Blocks are cut by
  // these numbers alone.
  absl::Status ForRanges(
      int64_t n, int64_t elements_per_step,
      absl::FunctionRef<absl::Status(int64_t, int64_t)> fn) const;
};

using KernelFn = absl::StatusOr<Literals> (*)(const KernelContext&);

// out[i] = f(in[0][i], in[1][i], ...) for i < n. `out` may be one of `in`.
using ElementFn = void (*)(const char* const* in, char* out, int64_t n);
// What an element loop is chosen by.
struct ElementTypes {
  absl::Span<const DType> operands;
  DType result;
  const Attributes& attributes;
};

// About how many element steps an instruction takes; `called` is what its
// computations take together, once.
using CostFn = double (*)(const Computation&, const Instruction&,
                          double called);

struct CpuKernel {
  const OpDef* op = nullptr;
  // nullptr: the evaluator does it itself (parameter).
  KernelFn run = nullptr;
  // Only of elementwise ops: the loop for these dtypes, nullptr when the op
  // has none for them. Reductions run whole bodies through such loops.
  ElementFn (*element)(const ElementTypes&) = nullptr;
  // nullptr: one step per element of operands and results, and `called`.
  CostFn cost = nullptr;
};

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
