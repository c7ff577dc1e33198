#include "kernels/cpu/kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/status.h"

namespace hawser::cpu {
namespace {

using Inputs = absl::InlinedVector<const char*, 3>;

// Scalars among full operands are written out this many times, and the loop
// runs in pieces of as many elements: both stay in the nearest cache.
constexpr int64_t kPiece = 512;

// The elements of one operand, from `begin` on.
struct Stream {
  const char* data;
  int64_t width;
  bool scalar;
};

// Runs `fn` over [begin, end) if some inputs are scalars.
void RunWithScalars(ElementFn fn, absl::Span<const Stream> streams, char* out,
                    int64_t out_width, int64_t begin, int64_t end) {
  absl::InlinedVector<std::vector<char>, 3> repeated(streams.size());
  Inputs in(streams.size());
  for (size_t k = 0; k < streams.size(); ++k) {
    if (!streams[k].scalar) continue;
    const int64_t width = streams[k].width;
    repeated[k].resize(kPiece * width);
    for (int64_t i = 0; i < kPiece; ++i) {
      std::memcpy(repeated[k].data() + i * width, streams[k].data, width);
    }
    in[k] = repeated[k].data();
  }
  for (int64_t i = begin; i < end; i += kPiece) {
    for (size_t k = 0; k < streams.size(); ++k) {
      if (!streams[k].scalar) in[k] = streams[k].data + i * streams[k].width;
    }
    fn(in.data(), out + i * out_width, std::min(kPiece, end - i));
  }
}

void RunFull(ElementFn fn, absl::Span<const Stream> streams, char* out,
             int64_t out_width, int64_t begin, int64_t end) {
  Inputs in;
  for (const Stream& s : streams) in.push_back(s.data + begin * s.width);
  fn(in.data(), out + begin * out_width, end - begin);
}

}  // namespace

absl::StatusOr<Literal> KernelContext::Allocate(const Shape& shape) const {
  for (Literal& memory : given) {
    if (memory.valid() && memory.shape() == shape) {
      return std::exchange(memory, Literal());
    }
  }
  return environment.allocator->Allocate(shape, environment.memory);
}

absl::StatusOr<Literals> KernelContext::AllocateResults(
    absl::InlinedVector<char*, 2>* data) const {
  Literals results;
  for (int k = 0; k < instruction.num_results; ++k) {
    HAWSER_ASSIGN_OR_RETURN(Literal result, Allocate(result_shape(k)));
    data->push_back(result.mutable_bytes().data());
    results.push_back(std::move(result));
  }
  return results;
}

absl::StatusOr<Literal> KernelContext::ScalarAt(DType dtype,
                                                const char* from) const {
  HAWSER_ASSIGN_OR_RETURN(Literal out, Allocate(Shape::Scalar(dtype)));
  std::memcpy(out.mutable_bytes().data(), from, ByteWidth(dtype));
  return out;
}

absl::StatusOr<Literal> KernelContext::ReuseOrAllocate() const {
  const Shape& shape = result_shape();
  for (Literal& operand : operands) {
    if (!operand.unique() || !(operand.shape() == shape)) continue;
    // unique() reads the count without ordering; this read-modify-write of it
    // makes all reads of the last other holder come before our writes.
    { const Literal acquire = operand; }
    return std::move(operand);
  }
  return Allocate(shape);
}

absl::Status KernelContext::ForRanges(
    int64_t n, double steps,
    absl::FunctionRef<absl::Status(int64_t, int64_t)> fn) const {
  return ForBlocks(n, steps, [&](int64_t begin, int64_t end) -> absl::Status {
    HAWSER_RETURN_IF_ERROR(fn(begin, end));
    if (environment.observer != nullptr) {
      environment.observer->Worked(steps * static_cast<double>(end - begin));
    }
    return absl::OkStatus();
  });
}

absl::Status KernelContext::ForMetered(
    int64_t n, double steps,
    absl::FunctionRef<absl::Status(int64_t, int64_t, WorkMeter*)> fn) const {
  return ForBlocks(n, steps, [&](int64_t begin, int64_t end) -> absl::Status {
    WorkMeter meter(environment);
    HAWSER_RETURN_IF_ERROR(fn(begin, end, &meter));
    return meter.End();
  });
}

absl::Status KernelContext::ForBlocks(
    int64_t n, double steps,
    absl::FunctionRef<absl::Status(int64_t, int64_t)> fn) const {
  if (n == 0) return absl::OkStatus();
  const auto size = std::max<int64_t>(
      static_cast<int64_t>(kParallelElements / std::max(steps, 1.0)), 1);
  return ForEachBlock(environment.pool, (n - 1) / size + 1, environment.cancel,
                      [&](int64_t block) {
                        return fn(block * size,
                                  std::min((block + 1) * size, n));
                      });
}

int ElementSteps::Of(DType dtype) const {
  if (IsComplex(dtype)) return complex;
  if (!IsFloat(dtype)) return integer;
  if (ByteWidth(dtype) == 2) return half;
  return dtype == DType::kF32 ? f32 : f64;
}

int CostContext::steps() const {
  int most = 1;
  for (ValueId v : instruction.operands) {
    most = std::max(most, kernel.steps.Of(computation.shape(v).dtype()));
  }
  for (int k = 0; k < instruction.num_results; ++k) {
    most = std::max(most, kernel.steps.Of(result(k).dtype()));
  }
  return most;
}

double CostOf(const CostContext& c) {
  if (c.kernel.cost != nullptr) return c.kernel.cost(c);
  double cost = 0;
  for (size_t i = 0; i < c.instruction.operands.size(); ++i) {
    cost += c.elements(c.operand(static_cast<int>(i)));
  }
  for (int k = 0; k < c.instruction.num_results; ++k) {
    cost += c.elements(c.result(k)) * c.steps();
  }
  return cost;
}

double NoCost(const CostContext&) { return 0; }

double ResultCost(const CostContext& c) { return c.elements(c.result()); }

absl::StatusOr<Literals> RunElementwise(const KernelContext& c) {
  const Shape shape = c.result_shape();
  const int64_t n = shape.num_elements();
  absl::InlinedVector<DType, 3> dtypes;
  absl::InlinedVector<Stream, 3> streams;
  bool scalars = false;
  for (const Literal& operand : c.operands) {
    const DType dtype = operand.shape().dtype();
    const bool scalar = operand.shape().num_elements() == 1 && n != 1;
    dtypes.push_back(dtype);
    streams.push_back({operand.bytes().data(), ByteWidth(dtype), scalar});
    scalars |= scalar;
  }
  const ElementFn fn =
      c.kernel.element({dtypes, shape.dtype(), c.attributes()});
  if (fn == nullptr) {
    return Unimplemented("no CPU kernel for ", DTypeName(dtypes[0]));
  }
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.ReuseOrAllocate());
  char* to = out.mutable_bytes().data();
  const int64_t width = ByteWidth(shape.dtype());
  const int steps = CostContext{c.kernel, c.module, c.computation,
                                c.instruction, {}}.steps();
  HAWSER_RETURN_IF_ERROR(
      c.ForRanges(n, steps, [&](int64_t begin, int64_t end) {
        (scalars ? RunWithScalars : RunFull)(fn, streams, to, width, begin,
                                             end);
        return absl::OkStatus();
      }));
  return Literals{std::move(out)};
}

}  // namespace hawser::cpu
