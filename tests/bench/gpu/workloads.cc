#include "tests/bench/gpu/workloads.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops.h"
#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/passes/optimize.h"

namespace hawser::bench {
namespace {

constexpr DType kF32 = DType::kF32, kBF16 = DType::kBF16;

Input Of(DType dtype, const Dims& dims, double scale = 1) {
  return {Shape::Of(dtype, dims), scale};
}

using Inputs = std::vector<Input>;

// ---- bodies ---------------------------------------------------------------

// Ten steps over one argument.
Tensors Chain1(const Tensors& p) {
  Tensor v = p[0];
  for (int k = 0; k < 5; ++k) v = v * 0.9f + 0.5f;
  return {v};
}

Tensors Chain2(const Tensors& p) {
  Tensor v = p[0];
  for (int k = 0; k < 5; ++k) v = v * p[1] + 0.5f;
  return {v};
}

Tensors Chain20(const Tensors& p) {
  Tensor v = p[0];
  for (int k = 0; k < 10; ++k) v = v * p[1] + 0.5f;
  return {v};
}

Tensors SoftmaxOf(const Tensors& p) { return {Softmax(p[0])}; }

// In f32 between its argument and its result, as the peers have it.
Tensor LayerNorm(const Tensor& x, const Tensor& scale, const Tensor& shift) {
  const Over row = {.axes = {-1}, .keep_axes = true};
  const Tensor wide = Convert(x, kF32);
  const Tensor centered = wide - Mean(wide, row);
  const Tensor normal = centered * Rsqrt(Mean(Square(centered), row) + 1e-5f);
  return Convert(normal * Convert(scale, kF32) + Convert(shift, kF32),
                 x.dtype());
}

Tensors LayerNormForward(const Tensors& p) {
  return {LayerNorm(p[0], p[1], p[2])};
}

// What `dy` of the result means for the three arguments.
Tensors LayerNormBackward(const Tensors& p) {
  const auto [dx, dscale, dshift] =
      Grad<0, 1, 2>([](Tensor x, Tensor scale, Tensor shift, Tensor dy) {
        return LayerNorm(x, scale, shift) * dy;
      })(p[0], p[1], p[2], p[3]);
  return {dx, dscale, dshift};
}

Tensors SumAll(const Tensors& p) { return {Sum(p[0])}; }
Tensors SumRows(const Tensors& p) { return {Sum(p[0], {.axes = {1}})}; }
Tensors SumColumns(const Tensors& p) { return {Sum(p[0], {.axes = {0}})}; }

Tensors ProductOf(const Tensors& p) { return {Dot(p[0], p[1])}; }

// By tanh.
Tensor Gelu(const Tensor& x) {
  const Tensor inner = 0.7978845608f * (x + 0.044715f * (x * x * x));
  return (0.5f * x) * (Tanh(inner) + 1.0f);
}

Tensors DenseGelu(const Tensors& p) { return {Gelu(Dot(p[0], p[1]) + p[2])}; }

// (w1, b1, w2, b2, x, y) -> new weights, and the loss.
Tensors TrainStep(const Tensors& p) {
  const auto loss = [](Tensor w1, Tensor b1, Tensor w2, Tensor b2, Tensor x,
                       Tensor y) {
    const Tensor hidden = Maximum(Dot(x, w1) + b1, 0.0f);
    return Mean(Square(Dot(hidden, w2) + b2 - y));
  };
  const auto [value, gradients] =
      ValueAndGrad<0, 1, 2, 3>(loss)(p[0], p[1], p[2], p[3], p[4], p[5]);
  const auto& [w1, b1, w2, b2] = gradients;
  const float rate = 0.1f;
  return {p[0] - rate * w1, p[1] - rate * b1, p[2] - rate * w2,
          p[3] - rate * b2, value};
}

Tensors SortOf(const Tensors& p) { return {Sort(p[0])}; }

// Indices as numbers of which one can ask whether they are finite.
Tensors TopOf(const Tensors& p) {
  const auto [largest, indices] = TopK(p[0], 8);
  return {largest, Convert(indices, kF32)};
}

Tensors PlacesOf(const Tensors& p) { return {Convert(ArgSort(p[0]), kF32)}; }

// As many normals as p[0] has elements, by Threefry.
Tensors Normals(const Tensors& p) {
  return {RandomNormal(RandomKey(1), p[0].shape().dims()) +
          Slice(p[0], {0}, {1})};
}

Tensors RunningSums(const Tensors& p) { return {CumulativeSum(p[0])}; }

Tensors TransposeOf(const Tensors& p) { return {Transpose(p[0])}; }

// Three steps a turn.
std::function<Tensors(const Tensors&)> LoopOf(int64_t turns) {
  return [turns](const Tensors& p) -> Tensors {
    const std::tuple<Tensor, Tensor> start(Scalar(0), p[0]);
    const auto done = While(
        start,
        [turns](Tensor turn, Tensor) {
          return Lt(turn, static_cast<int32_t>(turns));
        },
        [](Tensor turn, Tensor v) {
          return std::tuple<Tensor, Tensor>(
              turn + 1, Maximum(v * 0.999f + 0.001f, -0.5f));
        });
    return {std::get<1>(done)};
  };
}

// ---- tracing --------------------------------------------------------------

absl::StatusOr<Module> TraceBody(
    const std::string& name, const std::vector<Shape>& parameters,
    const std::function<Tensors(const Tensors&)>& body) {
  sdk::Trace trace(name, sdk::Captures::kSmallValues);
  {
    const sdk::Trace::Scope scope(&trace);
    Tensors arguments;
    for (const Shape& shape : parameters) {
      arguments.push_back(trace.Parameter(shape, SourceLocation::Current()));
    }
    trace.Return(body(arguments), SourceLocation::Current());
  }
  HAWSER_ASSIGN_OR_RETURN(Module module, trace.Finish());
  return Optimize(std::move(module));
}

// A number that says nothing of its neighbours: the mixing steps of a 32-bit
// hash over the element's own number.
Tensor HashedIota(const Dims& dims, const Tensor& seed) {
  Tensor x = seed * 0x9e3779b9u;
  for (size_t a = 0; a < dims.size(); ++a) {
    x = x * static_cast<uint32_t>(dims[a]) + Iota(DType::kU32, dims, a);
  }
  const auto shifted = [](const Tensor& v, uint32_t by) {
    return BitwiseXor(v, RightShiftLogical(v, by));
  };
  x = shifted(x, 16) * 0x7feb352du;
  x = shifted(x, 15) * 0x846ca68bu;
  return shifted(x, 16);
}

}  // namespace

int64_t Shrunk(int64_t size, int64_t shrink) {
  return std::max<int64_t>(size / shrink, 8);
}

std::vector<Workload> Workloads(int64_t shrink) {
  const int64_t k4 = Shrunk(4096, shrink), k8 = 2 * k4, k16 = 4 * k4;
  const double small = 1 / std::sqrt(static_cast<double>(k4));
  const double tiny = 1 / std::sqrt(static_cast<double>(k16));
  const Inputs square = {Of(kF32, {k16, k16})};
  const Input flat = Of(kF32, {k4 * k4});
  const Inputs factors(2, Of(kF32, {k8, k8}));
  return {
      {1, "chain10_1in", square, Chain1},
      {1, "chain10_2in", {square[0], square[0]}, Chain2},
      {2, "softmax_bf16", {Of(kBF16, {k8, k8}, 4)}, SoftmaxOf},
      {2, "softmax_f32", {Of(kF32, {k8, k8}, 4)}, SoftmaxOf},
      {3,
       "layernorm_bf16",
       {Of(kBF16, {k16, k4}), Of(kBF16, {k4}), Of(kBF16, {k4})},
       LayerNormForward},
      {3,
       "layernorm_backward_bf16",
       {Of(kBF16, {k16, k4}), Of(kBF16, {k4}), Of(kBF16, {k4}),
        Of(kBF16, {k16, k4})},
       LayerNormBackward},
      {4, "reduce_all_f32", square, SumAll},
      {4, "reduce_row_f32", square, SumRows},
      {4, "reduce_column_f32", square, SumColumns},
      {5, "gemm_bf16_4096", Inputs(2, Of(kBF16, {k4, k4})), ProductOf},
      {5, "gemm_bf16_8192", Inputs(2, Of(kBF16, {k8, k8})), ProductOf},
      {.row = 6,
       .name = "gemm_tf32_8192",
       .inputs = factors,
       .body = ProductOf,
       .numerics = runtime::Numerics::kTf32},
      {6, "gemm_f32_8192", factors, ProductOf},
      {7,
       "gemm_bias_gelu_bf16",
       {Of(kBF16, {k8, k4}), Of(kBF16, {k4, k16}, small), Of(kBF16, {k16})},
       DenseGelu},
      {.row = 8,
       .name = "mlp_sgd_bf16",
       .inputs = {Of(kBF16, {k4, k16}, small), Of(kBF16, {k16}, small),
                  Of(kBF16, {k16, k4}, tiny), Of(kBF16, {k4}, tiny),
                  Of(kBF16, {k8, k4}), Of(kBF16, {k8, k4})},
       .body = TrainStep,
       .carried = 4},
      {12, "sort_f32", {flat}, SortOf},
      {12, "argsort_f32", {flat}, PlacesOf},
      {12, "top_k_f32", {Of(kF32, {k4, k4})}, TopOf},
      {13, "cumsum_f32", {flat}, RunningSums},
      {13, "transpose_f32", square, TransposeOf},
      {14, "random_normal_f32", {flat}, Normals},
      {.row = 15,
       .name = "small_graph_f32",
       .inputs = {Of(kF32, {k4}), Of(kF32, {k4})},
       .body = Chain20,
       .is_latency = true},
      {16, "while_1000_f32", {Of(kF32, {k4})}, LoopOf(Shrunk(1000, shrink))},
  };
}

absl::StatusOr<Module> ModuleOf(const Workload& workload) {
  std::vector<Shape> parameters;
  for (const Input& input : workload.inputs) parameters.push_back(input.shape);
  return TraceBody(workload.name, parameters, workload.body);
}

int64_t IdealBytes(const Module& module) {
  int64_t bytes = 0;
  for (const Shape& s : module.signature().parameters) bytes += s.byte_size();
  for (const Shape& s : module.signature().results) bytes += s.byte_size();
  return bytes;
}

int64_t ProductFlops(const Module& module) {
  const Computation& c = module.entry();
  int64_t flops = 0;
  for (const Instruction& i : c.instructions()) {
    if (i.op != &kDotGeneral) continue;
    int64_t summed = 1;
    for (const int64_t axis :
         i.attributes.GetInts("lhs_contracting_dimensions")) {
      summed *= c.shape(i.operands[0]).dim(static_cast<int>(axis));
    }
    flops += 2 * c.shape(i.first_result).num_elements() * summed;
  }
  return flops;
}

absl::StatusOr<Module> RandomModule(const Shape& shape) {
  return TraceBody("random", {Shape::Scalar(DType::kU32), Shape::Scalar(kF32)},
                   [&](const Tensors& p) -> Tensors {
                     const Tensor bits =
                         RightShiftLogical(HashedIota(shape.dims(), p[0]), 8u);
                     const Tensor from_zero =
                         Convert(bits, kF32) * 0x1p-23f;  // to 2
                     return {Convert((from_zero - 1.0f) * p[1], shape.dtype())};
                   });
}

absl::StatusOr<Module> FiniteModule(const Shape& shape) {
  return TraceBody("finite", {shape}, [](const Tensors& p) -> Tensors {
    return {All(IsFinite(p[0]))};
  });
}

}  // namespace hawser::bench
