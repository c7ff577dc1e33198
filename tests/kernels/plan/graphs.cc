#include "tests/kernels/plan/graphs.h"

#include <functional>
#include <utility>

#include "core/autodiff/gradient_transform.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/passes/optimize.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

using Values = std::vector<Expression>;
using Body = std::function<Values(const Values&)>;

Module Build(const std::vector<Dims>& parameters, const Body& body,
             DType dtype = DType::kF32) {
  auto optimized = Optimize(
      testing::ExpressionModule(testing::ShapesOf(dtype, parameters), body),
      {.verify = true});
  EXPECT_OK(optimized);
  return *std::move(optimized);
}

// Repeats a value that lacks the last axis along it.
Expression AlongRow(const Expression& x, const Dims& dims) {
  return Spread(x, dims, {static_cast<int64_t>(dims.size()) - 1});
}
// Repeats one row of the last axis.
Expression AlongRows(const Expression& x, const Dims& dims) {
  Dims axes;
  for (size_t a = 0; a + 1 < dims.size(); ++a) axes.push_back(a);
  return Spread(x, dims, axes);
}
Dims Last(const Expression& x) { return {x.rank() - 1}; }

Expression MaxOf(const Expression& x, const Dims& axes) {
  return Folded(kMaximum, x, ScalarOf(x.dtype(), -1e30), axes);
}
Expression MeanOf(const Expression& x) {
  return Summed(x, Last(x)) * Like(Summed(x, Last(x)), 1.0 / x.dims().back());
}

Expression Softmax(const Expression& x) {
  const Expression shifted = x - AlongRow(MaxOf(x, Last(x)), x.dims());
  const Expression e = Apply(kExponential, {shifted});
  return e / AlongRow(Summed(e, Last(e)), x.dims());
}

// Its mean and maximum keep the axis, as other clients write it.
Expression LogSoftmaxKeepingAxes(const Expression& x) {
  Dims kept = x.dims();
  kept.back() = 1;
  const auto spread = [&](const Expression& v) {
    Dims all;
    for (int a = 0; a < x.rank(); ++a) all.push_back(a);
    return Apply(kBroadcastInDim, {Reshaped(v, kept)},
                 {{"broadcast_dimensions", all}, {"dims", x.dims()}});
  };
  const Expression shifted = x - spread(MaxOf(x, Last(x)));
  const Expression sum = Summed(Apply(kExponential, {shifted}), Last(x));
  return shifted - spread(Apply(kLog, {sum}));
}

Expression LogSumExp(const Expression& x) {
  const Expression most = MaxOf(x, Last(x));
  const Expression e = Apply(kExponential, {x - AlongRow(most, x.dims())});
  return Apply(kLog, {Summed(e, Last(x))}) + most;
}

// By the definition: the variance of what is left of the mean.
Expression LayerNorm(const Expression& x, const Expression& scale,
                     const Expression& shift) {
  const Expression centered = x - AlongRow(MeanOf(x), x.dims());
  const Expression variance = MeanOf(centered * centered);
  const Expression r = Apply(kRsqrt, {variance + 1e-5});
  return centered * AlongRow(r, x.dims()) * AlongRows(scale, x.dims()) +
         AlongRows(shift, x.dims());
}

Expression RmsNorm(const Expression& x, const Expression& scale) {
  const Expression r = Apply(kRsqrt, {MeanOf(x * x) + 1e-5});
  return x * AlongRow(r, x.dims()) * AlongRows(scale, x.dims());
}

Expression Gelu(const Expression& x) {
  const Expression inner = 0.7978845608 * (x + 0.044715 * (x * x * x));
  return (0.5 * x) * (Apply(kTanh, {inner}) + 1.0);
}

Expression Product(const Expression& x, const Expression& y,
                   const Dims& x_batch = {}, const Dims& x_sum = {1},
                   const Dims& y_batch = {}, const Dims& y_sum = {0}) {
  return Apply(kDotGeneral, {x, y},
               {{"lhs_batching_dimensions", x_batch},
                {"lhs_contracting_dimensions", x_sum},
                {"rhs_batching_dimensions", y_batch},
                {"rhs_contracting_dimensions", y_sum}});
}

Expression Dense(const Expression& x, const Expression& w,
                 const Expression& b) {
  const Expression y = Product(x, w);
  return y + AlongRows(b, y.dims());
}

Values ElementwiseChain(const Values& p) {
  Expression v = p[0];
  for (int k = 0; k < 5; ++k) v = v * p[1] + 0.5;
  return {v};
}

Values MeanAndVariance(const Values& p) {
  const Expression mean = MeanOf(p[0]);
  return {mean, MeanOf(p[0] * p[0]) - mean * mean};
}

Values SumAndMaximum(const Values& p) {
  return {Summed(p[0], {1}), MaxOf(p[0], {1})};
}

// One loss of a two-layer network, then its gradients and new weights.
Module TrainStep() {
  const int64_t batch = 256, in = 512, hidden = 1024, out = 128;
  Module loss("graph");
  {
    ComputationBuilder b(&loss, "main");
    Monoids monoids;
    ExpressionScope scope{b, monoids};
    Values p;
    for (const Dims& dims : {Dims{in, hidden}, Dims{hidden}, Dims{hidden, out},
                             Dims{out}, Dims{batch, in}, Dims{batch, out}}) {
      p.emplace_back(&scope, b.Parameter(Shape::Of(DType::kF32, dims)));
    }
    const Expression h = Dense(p[4], p[0], p[1]);
    const Expression y = Dense(Apply(kMaximum, {h, Like(h, 0)}), p[2], p[3]);
    const Expression d = y - p[5];
    EXPECT_OK(b.Finish({SummedAll(d * d).value()}));
  }
  auto gradient = ValueAndGradient(loss, {.parameters = {0, 1, 2, 3}});
  EXPECT_OK(gradient);
  // new weights = weights - rate * gradient, behind the gradient's results.
  Module step("graph");
  std::vector<int> same;
  for (const Computation& c : gradient->computations()) {
    same.push_back(step.Add(c));
  }
  const Signature& s = gradient->signature();
  ComputationBuilder b(&step, "step");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  std::vector<ValueId> mapped;
  const Computation& entry = gradient->entry();
  for (const Instruction& i : entry.instructions()) {
    absl::InlinedVector<ValueId, 4> operands;
    for (const ValueId v : i.operands) operands.push_back(mapped[v]);
    const ValueId first = b.Add(*i.op, operands, i.attributes, i.called);
    for (int k = 0; k < i.num_results; ++k) mapped.push_back(first + k);
  }
  std::vector<ValueId> results = {mapped[entry.results()[0]]};
  for (size_t k = 1; k < s.results.size(); ++k) {
    const Expression w(&scope, static_cast<ValueId>(k - 1));
    const Expression g(&scope, mapped[entry.results()[k]]);
    results.push_back((w - 0.1 * g).value());
  }
  EXPECT_OK(b.Finish(results));
  auto optimized = Optimize(std::move(step), {.verify = true});
  EXPECT_OK(optimized);
  return *std::move(optimized);
}

// Pre-norm attention and feed-forward over [tokens, width].
Module TransformerBlock() {
  const int64_t n = 512, d = 256, heads = 4, size = d / heads, wide = 4 * d;
  const auto split = [&](const Expression& x) {  // [heads, n, size]
    return Transposed(Reshaped(x, {n, heads, size}), {1, 0, 2});
  };
  return Build(
      {{n, d},
       {d},
       {d},
       {d, d},
       {d, d},
       {d, d},
       {d, d},
       {d},
       {d},
       {d, wide},
       {wide},
       {wide, d},
       {d}},
      [&](const Values& p) {
        const Expression x = LayerNorm(p[0], p[1], p[2]);
        const Expression q = split(Product(x, p[3]));
        const Expression k = split(Product(x, p[4]));
        const Expression v = split(Product(x, p[5]));
        const Expression scores = 0.125 * Product(q, k, {0}, {2}, {0}, {2});
        const Expression mixed =
            Product(Softmax(scores), v, {0}, {2}, {0}, {1});
        const Expression joined =
            Reshaped(Transposed(mixed, {1, 0, 2}), {n, d});
        const Expression y = p[0] + Product(joined, p[6]);
        const Expression z = LayerNorm(y, p[7], p[8]);
        return Values{y + Dense(Gelu(Dense(z, p[9], p[10])), p[11], p[12])};
      });
}

// What products read beside arguments, and write.
int64_t BytesBetween(const Module& module) {
  const Computation& c = module.entry();
  int64_t bytes = 0;
  for (const Instruction& i : c.instructions()) {
    if (i.op != &kDotGeneral) continue;
    for (const ValueId v : i.operands) {
      if (v >= c.num_parameters()) bytes += c.shape(v).byte_size();
    }
    bytes += c.shape(i.first_result).byte_size();
  }
  return bytes;
}

int64_t SignatureBytes(const Module& module) {
  int64_t bytes = 0;
  for (const Shape& s : module.signature().parameters) bytes += s.byte_size();
  for (const Shape& s : module.signature().results) bytes += s.byte_size();
  return bytes;
}

}  // namespace

std::vector<NamedGraph> KnownGraphs() {
  const int64_t n = 4096, million = 1 << 20;
  std::vector<NamedGraph> graphs;
  const auto add = [&](std::string name, Module module, int64_t launches) {
    const int64_t bytes =
        SignatureBytes(module) + (launches > 2 ? BytesBetween(module) : 0);
    graphs.push_back({std::move(name), std::move(module), launches, bytes});
  };
  const auto rows = [](Expression (*fn)(const Expression&)) {
    return [fn](const Values& p) { return Values{fn(p[0])}; };
  };
  add("elementwise_chain", Build({{million}, {million}}, ElementwiseChain), 1);
  add("softmax", Build({{n, n}}, rows(Softmax)), 1);
  add("log_softmax_keeping_axes",
      Build({{8, 64, n}}, rows(LogSoftmaxKeepingAxes)), 1);
  add("log_sum_exp", Build({{n, n}}, rows(LogSumExp)), 1);
  add("layer_norm",
      Build(
          {{n, n}, {n}, {n}},
          [](const Values& p) { return Values{LayerNorm(p[0], p[1], p[2])}; }),
      1);
  add("rms_norm",
      Build({{n, n}, {n}},
            [](const Values& p) { return Values{RmsNorm(p[0], p[1])}; }),
      1);
  add("mean_and_variance", Build({{n, n}}, MeanAndVariance), 1);
  add("sum_and_maximum", Build({{n, n}}, SumAndMaximum), 1);
  add("column_sum",
      Build({{n, n}},
            [](const Values& p) { return Values{Summed(p[0], {0})}; }),
      2);
  add("full_sum_of_squares",
      Build({{n, n}},
            [](const Values& p) { return Values{SummedAll(p[0] * p[0])}; }),
      2);
  add("transpose_and_scale",
      Build({{n, n}},
            [](const Values& p) {
              return Values{0.5 * Transposed(p[0], {1, 0})};
            }),
      1);
  add("gemm_bias_gelu",
      Build({{1024, 512}, {512, 2048}, {2048}},
            [](const Values& p) {
              return Values{Gelu(Dense(p[0], p[1], p[2]))};
            }),
      1);
  add("mlp_train_step", TrainStep(), 10);
  add("transformer_block", TransformerBlock(), 12);
  return graphs;
}

Module MixedGraph(int length) {
  return Build({{64, 64}, {64, 64}}, [&](const Values& p) {
    Values v = {p[0], p[1]};
    for (int k = 0; static_cast<int>(v.size()) < length; ++k) {
      const Expression& a = v[v.size() - 1];
      const Expression& b = v[v.size() / 2];
      switch (k % 6) {
        case 0:
          v.push_back(a + b);
          break;
        case 1:
          v.push_back(Apply(kTanh, {a}));
          break;
        case 2:
          v.push_back(a - AlongRow(Summed(a, {1}), a.dims()));
          break;
        case 3:
          v.push_back(Transposed(a, {1, 0}) * a);
          break;
        case 4:
          v.push_back(Apply(kMaximum, {a, v[v.size() - 2]}));
          break;
        default:
          v.push_back(k % 60 == 5 ? Product(a, b) : 0.5 * a);
      }
    }
    return Values{v.back()};
  });
}

}  // namespace hawser::plan
