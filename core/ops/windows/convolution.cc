#include "core/ops/windows/convolution.h"

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/movement/shape.h"
#include "core/ops/rewritten.h"
#include "core/ops/windows/windows.h"

namespace hawser {
namespace {

// x with its zeros: [batch, spatial..., features].
Expression Padded(const Expression& x, const ConvolutionSpec& spec) {
  const size_t rank = x.rank();
  WindowSpec around = WindowSpec::Of(Dims(rank, 1));
  for (size_t i = 0; i < spec.low.size(); ++i) {
    around.low[i + 1] = spec.low[i];
    around.high[i + 1] = spec.high[i];
    around.base_dilations[i + 1] = spec.x_dilations[i];
  }
  return PaddedFor(around, x, Filled(x.scope(), Shape::Scalar(x.dtype()), 0));
}

// Windows of the padded x, in the order of a kernel's places:
// [batch, results..., places..., features].
Expression WindowsOf(const Expression& padded, const Dims& kernel,
                     const ConvolutionSpec& spec) {
  const int64_t k = static_cast<int64_t>(spec.strides.size());
  std::vector<SlidingWindow> windows;
  for (int64_t i = 0; i < k; ++i) {
    windows.push_back({.axis = i + 1,
                       .size = kernel[i],
                       .stride = spec.strides[i],
                       .dilation = spec.kernel_dilations[i]});
  }
  Dims order(2 + 2 * k);
  std::iota(order.begin(), order.end(), int64_t{0});
  order.erase(order.begin() + k + 1);
  order.push_back(k + 1);
  return Transposed(Unfolded(padded, windows), order);
}

// Numbers from `first` on.
Dims Counted(int64_t first, int64_t count) {
  Dims numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

Expression Product(const Expression& lhs, const Expression& rhs, Dims lhs_batch,
                   Dims lhs_summed, Dims rhs_batch, Dims rhs_summed,
                   DType result) {
  Attributes attributes = {
      {"lhs_batching_dimensions", std::move(lhs_batch)},
      {"lhs_contracting_dimensions", std::move(lhs_summed)},
      {"rhs_batching_dimensions", std::move(rhs_batch)},
      {"rhs_contracting_dimensions", std::move(rhs_summed)}};
  if (WidensProduct(lhs.dtype(), result)) {
    attributes.Set("result_dtype", result);
  }
  return Apply(kDotGeneral, {lhs, rhs}, std::move(attributes));
}

// [..., groups, out of one] as [..., out].
Expression Regrouped(const Expression& x) {
  Dims dims = x.dims();
  if (dims.size() < 2) return x;
  const int64_t of_one = dims.back();
  dims.pop_back();
  dims.back() *= of_one;
  return Reshaped(x, dims);
}

// Splits the last axis in two, of which the first has `count` elements.
Expression LastSplit(const Expression& x, int64_t count) {
  Dims dims = x.dims();
  const int64_t size = dims.back();
  dims.back() = count;
  dims.push_back(size / count);
  return Reshaped(x, dims);
}

// windows [batch, results..., places..., groups, features of one] times kernel
// [places..., features of one, groups, out of one], by a product for each
// group: [batch, results..., groups, out of one].
Expression ByProducts(const Expression& windows, const Expression& kernel,
                      int64_t k, DType result) {
  Dims summed = Counted(k + 1, k);
  summed.push_back(2 * k + 2);
  const Expression product = Product(windows, kernel, {2 * k + 1}, summed,
                                     {k + 1}, Counted(0, k + 1), result);
  Dims order = Counted(1, k + 1);
  order.push_back(0);
  order.push_back(k + 2);
  return Transposed(product, order);
}

// The same as a sum over the places, side by side for all results. Halves are
// added up in f32, and rounded once.
Expression BySums(Expression windows, Expression kernel, int64_t k,
                  DType result) {
  const DType wide =
      BitWidth(result) < 32 && IsFloat(result) ? DType::kF32 : result;
  windows = ConvertTo(windows, wide);
  kernel = ConvertTo(kernel, wide);
  // Both: [places..., features, batch, results..., groups, out].
  Dims order = Counted(k + 1, k);
  order.push_back(2 * k + 2);
  for (const int64_t axis : Counted(0, k + 1)) order.push_back(axis);
  order.push_back(2 * k + 1);
  windows = Transposed(windows, order);
  Dims dims = windows.dims();
  dims.push_back(kernel.dims().back());
  const int64_t rank = static_cast<int64_t>(dims.size());
  return ConvertTo(Summed(Spread(windows, dims, {rank - 1}) *
                              Spread(kernel, dims, Counted(k + 1, k + 1)),
                          Counted(0, k + 1)),
                   result);
}

// [groups * batch, spatial..., features] as [batch, spatial..., groups *
// features].
Expression BatchesAsFeatures(const Expression& x, int64_t groups) {
  Dims split = x.dims(), joined = x.dims();
  split[0] /= groups;
  joined[0] = split[0];
  joined.back() *= groups;
  split.insert(split.begin(), groups);
  const auto rank = static_cast<int64_t>(split.size());
  Dims order = Counted(1, rank - 2);
  order.push_back(0);
  order.push_back(rank - 1);
  return Reshaped(Transposed(Reshaped(x, split), order), joined);
}

}  // namespace

Expression ConvolvedByProduct(const Expression& x, const Expression& kernel,
                              const ConvolutionSpec& spec, DType result) {
  const auto k = static_cast<int64_t>(spec.strides.size());
  const Expression windows = WindowsOf(Padded(x, spec), kernel.dims(), spec);
  if (windows.value() == kNoValue) return windows;
  const int64_t of_one = kernel.dims()[k];
  const int64_t out = kernel.dims()[k + 1] / spec.groups;
  if (spec.groups > 1 && of_one * out <= kFewProducts) {
    return Regrouped(BySums(LastSplit(windows, spec.groups),
                            LastSplit(kernel, spec.groups), k, result));
  }
  if (spec.groups == 1) {
    return Product(windows, kernel, {}, Counted(k + 1, k + 1), {},
                   Counted(0, k + 1), result);
  }
  return Regrouped(ByProducts(LastSplit(windows, spec.groups),
                              LastSplit(kernel, spec.groups), k, result));
}

Expression Convolved(const Expression& x, const Expression& kernel,
                     const ConvolutionSpec& spec, DType result) {
  if (spec.batch_groups > 1) {
    ConvolutionSpec of_features = spec;
    of_features.groups = spec.batch_groups;
    of_features.batch_groups = 1;
    return Convolved(BatchesAsFeatures(x, spec.batch_groups), kernel,
                     of_features, result);
  }
  const auto k = static_cast<int64_t>(spec.strides.size());
  if (k == 0) return ConvolvedByProduct(x, kernel, spec, result);
  return Apply(kConvolution, {ConvertTo(x, result), ConvertTo(kernel, result)},
               spec.ToAttributes());
}

bool HasConvolutions(const Module& module) {
  for (const Computation& c : module.computations()) {
    for (const Instruction& i : c.instructions()) {
      if (i.op == &kConvolution) return true;
    }
  }
  return false;
}

absl::StatusOr<Module> WithoutConvolutions(const Module& module) {
  using Others = std::optional<std::vector<Expression>>;
  return Rewritten(
      module,
      [](const Computation& from, const Instruction& i,
         const std::vector<Expression>& operands) -> absl::StatusOr<Others> {
        if (i.op != &kConvolution) return std::nullopt;
        return Others({ConvolvedByProduct(operands[0], operands[1],
                                          ConvolutionSpec::Of(i.attributes),
                                          from.shape(i.first_result).dtype())});
      });
}

}  // namespace hawser
