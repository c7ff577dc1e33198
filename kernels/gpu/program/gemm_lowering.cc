#include "kernels/gpu/program/gemm_lowering.h"

#include <algorithm>

#include "core/base/values/dtype.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"

namespace hawser::gpu {
namespace {

// Indexed by plan::Activation; kOther is in no call.
constexpr GemmActivation kActivations[] = {GemmActivation::kIdentity,
                                           GemmActivation::kRelu,
                                           GemmActivation::kGeluTanh};

MatrixLayout LayoutOf(const plan::CallMatrix& matrix) {
  return {.dtype = matrix.dtype,
          .column_major = matrix.column_major,
          .leading = matrix.leading,
          .batch_stride = matrix.batch_stride};
}

// The parameter of the region's body that `value` is, -1 for none; of a region
// that stands alone, which operand.
int OperandOf(const Module& module, const plan::Region& region, ValueId value) {
  const Instruction& i =
      module.computation(region.computation).instructions()[region.instruction];
  if (i.op != &kFusion) {
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (i.operands[k] == value) return static_cast<int>(k);
    }
    return -1;
  }
  const Computation& body = module.computation(region.body);
  const int producer = body.producer(value);
  return body.instructions()[producer].op == &kParameter ? producer : -1;
}

}  // namespace

GemmSpec SpecOf(const plan::ProductCall& call, runtime::Numerics numerics) {
  GemmSpec spec{.batch = call.batch,
                .m = call.m,
                .n = call.n,
                .k = call.k,
                .a = LayoutOf(call.a),
                .b = LayoutOf(call.b),
                .d = LayoutOf(call.d)};
  if (call.has_residual) {
    spec.has_c = true;
    spec.c = spec.d;
    spec.beta = 1;
  }
  spec.has_bias = call.has_bias;
  spec.activation = kActivations[static_cast<int>(call.activation)];
  if (numerics == runtime::Numerics::kTf32) {
    spec.precision = GemmPrecision::kTf32;
  }
  const int64_t factor = ByteWidth(call.a.dtype);
  const int64_t result = ByteWidth(call.d.dtype);
  constexpr int64_t kAligned = GemmSpec::kAlignment;
  spec.is_aligned = std::all_of(call.calls.begin(), call.calls.end(),
                                [&](const auto& offset) {
                                  return offset.a * factor % kAligned == 0 &&
                                         offset.b * factor % kAligned == 0 &&
                                         offset.d * result % kAligned == 0;
                                });
  return spec;
}

std::optional<Product> LowerProduct(const Module& module,
                                    const plan::Region& region,
                                    runtime::Numerics numerics) {
  const plan::Epilogue& tail = region.epilogue;
  const Computation& c = module.computation(region.computation);
  const Instruction& i = c.instructions()[region.instruction];
  if (!tail.call || i.num_results != 1) return std::nullopt;
  const Instruction& dot =
      module.computation(region.body).instructions()[tail.dot_instruction];
  Product product{.spec = SpecOf(*tail.call, numerics),
                  .a = OperandOf(module, region, dot.operands[0]),
                  .b = OperandOf(module, region, dot.operands[1]),
                  .c = tail.residual_operand,
                  .bias = tail.bias_operand};
  if (product.a < 0 || product.b < 0) return std::nullopt;
  const int64_t factor = ByteWidth(product.spec.a.dtype);
  const int64_t result = ByteWidth(product.spec.d.dtype);
  for (const plan::ProductCall::Offset& o : tail.call->calls) {
    product.calls.push_back({o.a * factor, o.b * factor, o.d * result});
  }
  return product;
}

}  // namespace hawser::gpu
