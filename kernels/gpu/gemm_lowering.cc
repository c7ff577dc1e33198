#include "kernels/gpu/gemm_lowering.h"

#include <vector>

#include "core/ir/leaves.h"
#include "core/ops/control.h"
#include "core/ops/dot.h"

namespace hawser::gpu {
namespace {

using Axes = absl::Span<const int64_t>;

// Several axes seen as one: elements and the distance between them.
struct Merged {
  int64_t size = 1;
  int64_t stride = 1;
};

Dims StridesOf(const Shape& shape) {
  Dims strides(shape.rank(), 1);
  for (int a = shape.rank() - 1; a > 0; --a) {
    strides[a - 1] = strides[a] * shape.dim(a);
  }
  return strides;
}

// nullopt where the axes, in this order, do not follow one another evenly.
std::optional<Merged> Merge(const Shape& shape, Axes axes) {
  const Dims strides = StridesOf(shape);
  Merged merged;
  bool first = true;
  for (size_t k = axes.size(); k-- > 0;) {
    const int64_t size = shape.dim(static_cast<int>(axes[k]));
    if (size == 1) continue;
    const int64_t stride = strides[axes[k]];
    if (!first && stride != merged.stride * merged.size) return std::nullopt;
    if (first) merged.stride = stride;
    merged.size *= size;
    first = false;
  }
  return merged;
}

Dims FreeAxes(const Shape& shape, Axes batch, Axes contracted) {
  Dims free;
  for (int64_t a = 0; a < shape.rank(); ++a) {
    if (!Contains(batch, a) && !Contains(contracted, a)) free.push_back(a);
  }
  return free;
}

std::optional<MatrixLayout> LayoutOf(DType dtype, const Merged& rows,
                                     const Merged& columns,
                                     const Merged& batch) {
  MatrixLayout layout{.dtype = dtype};
  if (columns.size == 1 || columns.stride == 1) {
    layout.leading = rows.size == 1 ? columns.size : rows.stride;
  } else if (rows.size == 1 || rows.stride == 1) {
    layout.column_major = true;
    layout.leading = columns.stride;
  } else {
    return std::nullopt;
  }
  layout.batch_stride = batch.size == 1 ? 0 : batch.stride;
  return layout;
}

struct Sides {
  Merged batch, left_free, left_summed, right_summed, right_free;
  Merged right_batch;
};

std::optional<Sides> SidesOf(const Instruction& dot, const Shape& left,
                             const Shape& right) {
  const Attributes& a = dot.attributes;
  const Axes left_batch = a.GetInts("lhs_batching_dimensions");
  const Axes left_summed = a.GetInts("lhs_contracting_dimensions");
  const Axes right_batch = a.GetInts("rhs_batching_dimensions");
  const Axes right_summed = a.GetInts("rhs_contracting_dimensions");
  const auto lb = Merge(left, left_batch), rb = Merge(right, right_batch);
  const auto lk = Merge(left, left_summed), rk = Merge(right, right_summed);
  const auto m = Merge(left, FreeAxes(left, left_batch, left_summed));
  const auto n = Merge(right, FreeAxes(right, right_batch, right_summed));
  if (!lb || !rb || !lk || !rk || !m || !n) return std::nullopt;
  return Sides{*lb, *m, *lk, *rk, *n, *rb};
}

std::optional<GemmSpec> SpecOf(const Instruction& dot, const Shape& left,
                               const Shape& right, DType result) {
  if (left.num_elements() == 0 || right.num_elements() == 0) {
    return std::nullopt;
  }
  const auto sides = SidesOf(dot, left, right);
  if (!sides) return std::nullopt;
  const auto a = LayoutOf(left.dtype(), sides->left_free, sides->left_summed,
                          sides->batch);
  const auto b = LayoutOf(right.dtype(), sides->right_summed, sides->right_free,
                          sides->right_batch);
  if (!a || !b) return std::nullopt;
  GemmSpec spec{.batch = sides->batch.size,
                .m = sides->left_free.size,
                .n = sides->right_free.size,
                .k = sides->left_summed.size,
                .a = *a,
                .b = *b};
  spec.d = {.dtype = result,
            .leading = spec.n,
            .batch_stride = spec.batch == 1 ? 0 : spec.m * spec.n};
  return spec;
}

constexpr struct {
  plan::Activation of;
  GemmActivation is;
} kActivations[] = {
    {plan::Activation::kIdentity, GemmActivation::kIdentity},
    {plan::Activation::kRelu, GemmActivation::kRelu},
    {plan::Activation::kGeluTanh, GemmActivation::kGeluTanh},
};

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

bool AddTail(const Computation& c, const Instruction& i,
             const plan::Epilogue& tail, Product* product) {
  if (!tail.present) return true;
  const Shape& result = c.shape(i.first_result);
  bool known = false;
  for (const auto& row : kActivations) {
    if (row.of != tail.activation) continue;
    product->spec.activation = row.is;
    known = true;
  }
  product->bias = tail.bias_operand;
  product->c = tail.residual_operand;
  for (const int k : {product->bias, product->c}) {
    if (k >= 0 && c.shape(i.operands[k]).dtype() != result.dtype()) {
      return false;
    }
  }
  product->spec.has_bias = product->bias >= 0;
  product->spec.has_c = product->c >= 0;
  if (product->spec.has_c) {
    if (!c.shape(i.operands[product->c]).SameDims(result)) return false;
    product->spec.c = product->spec.d;
    product->spec.beta = 1;
  }
  return known;
}

}  // namespace

std::optional<Product> LowerProduct(const Module& module,
                                    const plan::Region& region) {
  const Computation& c = module.computation(region.computation);
  const Instruction& i = c.instructions()[region.instruction];
  if (region.epilogue.dot_instruction < 0 || i.num_results != 1) {
    return std::nullopt;
  }
  const Computation& body = module.computation(region.body);
  const Instruction& dot = body.instructions()[region.epilogue.dot_instruction];
  Product product;
  product.a = OperandOf(module, region, dot.operands[0]);
  product.b = OperandOf(module, region, dot.operands[1]);
  if (product.a < 0 || product.b < 0) return std::nullopt;
  const auto spec =
      SpecOf(dot, body.shape(dot.operands[0]), body.shape(dot.operands[1]),
             c.shape(i.first_result).dtype());
  if (!spec) return std::nullopt;
  product.spec = *spec;
  if (!AddTail(c, i, region.epilogue, &product)) return std::nullopt;
  return product;
}

}  // namespace hawser::gpu
