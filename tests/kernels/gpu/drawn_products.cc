#include "tests/kernels/gpu/drawn_products.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

using Exprs = std::vector<Expression>;

// What a tail may read, beside the product.
struct Beside {
  Expression bias, residual, f32_bias, f32_residual;  // of the result's sizes
};
struct TailRow {
  const char* words;
  bool real;  // not for complex products
  std::function<Expression(const Expression& x, const Beside& p)> make;
};

Expression Relu(const Expression& x) {
  return Apply(kMaximum, {x, Like(x, 0)});
}
Expression Gelu(const Expression& x) {
  const Expression inner = x + 0.044715 * (x * x * x);
  const Expression gate = Apply(kTanh, {0.7978845608 * inner}) + 1.0;
  return 0.5 * x * gate;
}
Expression F32(const Expression& x) { return ConvertTo(x, DType::kF32); }
Expression Back(const Expression& x, const Expression& like) {
  return ConvertTo(x, like.dtype());
}

const std::vector<TailRow>& Tails() {
  using E = const Expression&;
  using P = const Beside&;
  static const auto* const rows = new std::vector<TailRow>{
      {"alone", false, [](E x, P p) { return x; }},
      {"bias", false, [](E x, P p) { return x + p.bias; }},
      {"residual", false, [](E x, P p) { return p.residual + x; }},
      {"both, relu", true,
       [](E x, P p) { return Relu(x + p.bias + p.residual); }},
      {"relu", true, [](E x, P p) { return Relu(x); }},
      {"gelu of bias", true, [](E x, P p) { return Gelu(x + p.bias); }},
      {"f32 bias", true, [](E x, P p) { return Back(F32(x) + p.f32_bias, x); }},
      {"f32 residual", true,
       [](E x, P p) { return Back(F32(x) + p.f32_residual, x); }},
      {"bias then f32", true, [](E x, P p) { return F32(x + p.bias); }},
      {"f32, residual", true, [](E x, P p) { return F32(x) + p.f32_residual; }},
      {"f32 bias, relu, back", true,
       [](E x, P p) { return Back(Relu(F32(x) + p.f32_bias), x); }},
      {"to f64", true, [](E x, P p) { return ConvertTo(x, DType::kF64); }},
      {"to s32", true, [](E x, P p) { return ConvertTo(x, DType::kS32); }},
      {"through f16", true,
       [](E x, P p) { return F32(ConvertTo(x, DType::kF16)); }},
      {"times", false, [](E x, P p) { return x * p.residual + p.bias; }},
      {"two residuals", false,
       [](E x, P p) { return x + p.residual + p.residual + p.bias; }},
  };
  return *rows;
}

// A number of each axis of the product, by what it is for.
struct Axes {
  Dims batch, rows, columns, summed;
};

Dims Sizes(int count, int64_t most, Random* random) {
  Dims sizes;
  for (int i = 0; i < count; ++i) {
    sizes.push_back(random->OneIn(6) ? 1 : random->Between(1, most));
  }
  return sizes;
}

Dims Shuffled(int count, Random* random) {
  Dims order;
  for (int i = 0; i < count; ++i) order.push_back(i);
  if (random->OneIn(4)) return order;
  for (int i = count; i > 1; --i) {
    std::swap(order[i - 1], order[random->Below(i)]);
  }
  return order;
}

// One side: batch, free and summed axes in a drawn order.
struct Side {
  Side(const Axes& axes, const Dims& free, Random* random) {
    Dims sizes = axes.batch;
    sizes.insert(sizes.end(), free.begin(), free.end());
    sizes.insert(sizes.end(), axes.summed.begin(), axes.summed.end());
    const auto count = static_cast<int>(sizes.size());
    const Dims order = Shuffled(count, random);
    // Free axes count as they come.
    for (int i = 0; i < count; ++i) dims.push_back(sizes[order[i]]);
    const Dims place = InversePermutation(order);
    const auto batches = static_cast<int>(axes.batch.size());
    const auto behind = batches + static_cast<int>(free.size());
    batch.assign(place.begin(), place.begin() + batches);
    summed.assign(place.begin() + behind, place.end());
    turned = random->OneIn(3);
    turn = Shuffled(count, random);
  }
  // What the parameter is: the side before it is transposed.
  Dims Given() const {
    if (!turned) return dims;
    Dims given(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) given[turn[i]] = dims[i];
    return given;
  }
  // Sizes of the free axes as they lie.
  Dims Free() const {
    Dims free;
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto axis = static_cast<int64_t>(i);
      const auto has = [&](const Dims& list) {
        return std::find(list.begin(), list.end(), axis) != list.end();
      };
      if (!has(batch) && !has(summed)) free.push_back(dims[i]);
    }
    return free;
  }
  Expression Of(const Expression& given) const {
    return turned ? Transposed(given, turn) : given;
  }

  Dims dims, batch, summed;
  bool turned;
  Dims turn;
};

// Of a product: the operands' dtype, or a wider one.
DType DrawResultDType(DType dtype, Random* random) {
  const DType wide = random->PickDType(kFloats | kComplexes);
  return WidensProduct(dtype, wide) ? wide : dtype;
}

}  // namespace

DrawnProduct DrawProduct(uint64_t seed, int64_t most) {
  Random random(seed);
  constexpr DType kDTypes[] = {DType::kF32, DType::kF64, DType::kBF16,
                               DType::kF16, DType::kC64};
  const DType dtype = kDTypes[seed % 5];
  const TailRow& tail = Tails()[seed / 5 % Tails().size()];
  const bool has_tail = !tail.real || dtype != DType::kC64;
  Axes axes;
  axes.batch = Sizes(static_cast<int>(random.Below(4)), most, &random);
  axes.rows = Sizes(static_cast<int>(random.Below(3)), most, &random);
  axes.columns = Sizes(static_cast<int>(random.Below(3)), most, &random);
  axes.summed = Sizes(static_cast<int>(random.Below(3)), most, &random);
  const Side left(axes, axes.rows, &random), right(axes, axes.columns, &random);
  const bool turns = random.OneIn(3);
  const DType result_dtype = DrawResultDType(dtype, &random);

  // The result's sizes: free axes stand as they lie in their side.
  Dims result = axes.batch;
  for (const Side* side : {&left, &right}) {
    const Dims free = side->Free();
    result.insert(result.end(), free.begin(), free.end());
  }
  const Dims row = result.empty() ? Dims() : Dims{result.back()};
  const auto rank = static_cast<int>(result.size());
  Dims outer;
  for (int a = 0; a + 1 < rank; ++a) outer.push_back(a);
  const std::vector<Shape> parameters = {
      Shape::Of(dtype, left.Given()), Shape::Of(dtype, right.Given()),
      Shape::Of(result_dtype, row),   Shape::Of(result_dtype, result),
      Shape::Of(DType::kF32, row),    Shape::Of(DType::kF32, result)};
  Attributes attributes = {{"lhs_batching_dimensions", left.batch},
                           {"lhs_contracting_dimensions", left.summed},
                           {"rhs_batching_dimensions", right.batch},
                           {"rhs_contracting_dimensions", right.summed}};
  if (result_dtype != dtype) attributes.Set("result_dtype", result_dtype);
  const Dims turn = Shuffled(rank, &random);
  Module module = testing::ExpressionModule(parameters, [&](const Exprs& p) {
    Expression x =
        Apply(kDotGeneral, {left.Of(p[0]), right.Of(p[1])}, attributes);
    if (has_tail) {
      x = tail.make(x, {Spread(p[2], result, outer), p[3],
                        Spread(p[4], result, outer), p[5]});
    }
    if (turns) x = Transposed(x, turn);
    return Exprs{x};
  });
  return {std::move(module),
          absl::StrCat(DTypeName(dtype), " in ", DTypeName(result_dtype), ", ",
                       has_tail ? tail.words : "alone",
                       turns ? ", transposed" : "", ", seed ", seed),
          result_dtype};
}

}  // namespace hawser::gpu
