// The rules of the convolution's row.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/batch/batch.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/movement/shape.h"
#include "core/ops/part/part.h"
#include "core/ops/part/split.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/windows/windows.h"

namespace hawser {
namespace {

// A constraint that is violated, and how.
struct Misfit {
  int constraint;
  std::string what;
};
template <typename... Parts>
std::optional<Misfit> Not(int constraint, const Parts&... parts) {
  return Misfit{constraint, absl::StrCat(parts...)};
}

std::optional<Misfit> MisfitOfLists(size_t k, const ConvolutionSpec& spec) {
  const std::pair<absl::string_view, const Dims*> lists[] = {
      {"strides", &spec.strides},
      {"dilations of x", &spec.x_dilations},
      {"dilations of the kernel", &spec.kernel_dilations},
      {"padding in front", &spec.low},
      {"padding behind", &spec.high}};
  for (const auto& [name, list] : lists) {
    if (list->size() == k) continue;
    return Not(4, name, ": ", list->size(), " numbers for ", k,
               " spatial axes");
  }
  for (const auto& [name, list] : absl::MakeSpan(lists).first(3)) {
    for (const int64_t number : *list) {
      if (number < 1) return Not(5, name, ": ", number, ", must be at least 1");
    }
  }
  return std::nullopt;
}

std::optional<Misfit> MisfitOf(const Shape& x, const Shape& kernel,
                               const ConvolutionSpec& spec, int least_rank) {
  if (x.rank() < least_rank || x.rank() != kernel.rank()) {
    return Not(2, "takes two tensors of one rank, at least ", least_rank,
               ", not ", x.ToString(), " and ", kernel.ToString());
  }
  if (x.dtype() != kernel.dtype()) {
    return Not(3, "the kernel is ", DTypeName(kernel.dtype()), ", the input ",
               DTypeName(x.dtype()));
  }
  if (auto misfit = MisfitOfLists(x.rank() - 2, spec)) return misfit;
  const int last = x.rank() - 1;
  const int64_t in = x.dim(last), out = kernel.dim(last);
  const int64_t of_one = kernel.dim(last - 1);
  if (spec.groups < 1 || spec.batch_groups < 1) {
    return Not(5, "groups: ", std::min(spec.groups, spec.batch_groups),
               ", must be at least 1");
  }
  if (in % spec.groups != 0 || out % spec.groups != 0) {
    return Not(6, spec.groups, " groups divide not both ", in, " features and ",
               out, " results");
  }
  if (of_one != in / spec.groups) {
    return Not(7, "the kernel ", kernel.ToString(), " takes ", of_one,
               " features, but the input ", x.ToString(), " has ",
               in / spec.groups, spec.groups > 1 ? " a group" : "");
  }
  return std::nullopt;
}

// Elements of an axis of n, spread apart and padded; nullopt: too many.
std::optional<int64_t> PaddedSize(int64_t n, int64_t dilation, int64_t low,
                                  int64_t high) {
  int64_t size = 0;
  if (n > 0 && (__builtin_mul_overflow(n - 1, dilation, &size) ||
                __builtin_add_overflow(size, 1, &size))) {
    return std::nullopt;
  }
  if (__builtin_add_overflow(size, low, &size) ||
      __builtin_add_overflow(size, high, &size)) {
    return std::nullopt;
  }
  return size;
}

SlidingWindow WindowOf(const ConvolutionSpec& spec, const Shape& kernel,
                       int axis) {
  return {.size = kernel.dim(axis),
          .stride = spec.strides[axis],
          .dilation = spec.kernel_dilations[axis]};
}

Dims IntsOf(const Attributes& attributes, absl::string_view name) {
  const auto ints = attributes.GetInts(name);
  return Dims(ints.begin(), ints.end());
}

}  // namespace

ConvolutionSpec ConvolutionSpec::Of(size_t spatial_axes) {
  const Dims ones(spatial_axes, 1), zeros(spatial_axes, 0);
  return {.strides = ones,
          .low = zeros,
          .high = zeros,
          .x_dilations = ones,
          .kernel_dilations = ones};
}

ConvolutionSpec ConvolutionSpec::Of(const Attributes& attributes) {
  return {.strides = IntsOf(attributes, "window_strides"),
          .low = IntsOf(attributes, "padding_low"),
          .high = IntsOf(attributes, "padding_high"),
          .x_dilations = IntsOf(attributes, "lhs_dilation"),
          .kernel_dilations = IntsOf(attributes, "rhs_dilation"),
          .groups = attributes.GetInt("feature_group_count")};
}

Attributes ConvolutionSpec::ToAttributes() const {
  return {{"feature_group_count", groups},
          {"lhs_dilation", x_dilations},
          {"padding_high", high},
          {"padding_low", low},
          {"rhs_dilation", kernel_dilations},
          {"window_strides", strides}};
}

absl::Status CheckConvolution(const Shape& x, const Shape& kernel,
                              const ConvolutionSpec& spec) {
  if (const auto misfit = MisfitOf(x, kernel, spec, 2)) {
    return InvalidArgument(misfit->what);
  }
  const int64_t out = kernel.dim(kernel.rank() - 1);
  if (x.dim(0) % spec.batch_groups != 0 || out % spec.batch_groups != 0) {
    return InvalidArgument(spec.batch_groups,
                           " groups of batches divide not both a batch of ",
                           x.dim(0), " and ", out, " results");
  }
  if (spec.batch_groups > 1 && spec.groups > 1) {
    return InvalidArgument("groups of features, ", spec.groups,
                           ", beside groups of batches, ", spec.batch_groups);
  }
  return absl::OkStatus();
}

absl::StatusOr<Shapes> InferConvolution(const InferContext& context) {
  const Shape& x = context.operands[0];
  const Shape& kernel = context.operands[1];
  const ConvolutionSpec spec = ConvolutionSpec::Of(context.attributes);
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  if (const auto misfit = MisfitOf(x, kernel, spec, 3)) {
    return Violates(misfit->constraint, misfit->what);
  }
  Dims dims = {x.dim(0)}, padded = dims;
  for (int a = 0; a + 2 < x.rank(); ++a) {
    const auto size = PaddedSize(x.dim(a + 1), spec.x_dilations[a], spec.low[a],
                                 spec.high[a]);
    if (!size || *size < 0) {
      return Violates(8, "spatial axis ", a, " of ", x.dim(a + 1),
                      " elements, ", spec.x_dilations[a], " apart, padded by ",
                      spec.low[a], " and ", spec.high[a], ", is no axis");
    }
    padded.push_back(*size);
    dims.push_back(WindowOf(spec, kernel, a).CountOn(*size));
  }
  dims.push_back(kernel.dim(kernel.rank() - 1));
  padded.push_back(x.dim(x.rank() - 1));
  HAWSER_RETURN_IF_ERROR(MakeResult(8, x.dtype(), padded).status());
  HAWSER_ASSIGN_OR_RETURN(const Shape result, MakeResult(8, x.dtype(), dims));
  return Shapes{result};
}

// Batches and results of the kernel are parallel; with groups, results need
// features of their group alone, so that both are opaque.
AxisMap ConvolutionAxes(const InferContext& context,
                        absl::Span<const Shape> results) {
  const Shape& x = context.operands[0];
  const int last = x.rank() - 1;
  AxisMap map = EmptyAxes(context, results);
  map.operands[0][0] = map.results[0][0] =
      map.AddFactor(AxisKind::kParallel, x.dim(0));
  for (int a = 1; a < last; ++a) {
    map.operands[0][a] = map.AddFactor(AxisKind::kWindowed, x.dim(a));
  }
  if (context.attributes.GetInt("feature_group_count") == 1) {
    map.operands[0][last] = map.operands[1][last - 1] =
        map.AddFactor(AxisKind::kContracted, x.dim(last));
    map.operands[1][last] = map.results[0][last] =
        map.AddFactor(AxisKind::kParallel, results[0].dim(last));
  }
  return OpaqueRest(std::move(map), context, results);
}

// Results [a, b) of a spatial axis lie over elements [first, end) of the spread
// and padded x; of x itself these are [ceil(first / dilation), ...), and what
// is left of them is padding.
absl::Status ConvolutionPart(PartContext& c) {
  ConvolutionSpec spec = ConvolutionSpec::Of(c.attributes());
  const Shape& x = c.operand();
  const Shape& kernel = c.operands[1];
  const int last = x.rank() - 1;
  Box of_x = WholeBox(x), of_kernel = WholeBox(kernel);
  Box gives = c.box();
  of_x[0] = gives[0];
  for (int a = 0; a + 1 < last; ++a) {
    const int64_t step = spec.x_dilations[a], size = x.dim(a + 1);
    const int64_t first = gives[a + 1].begin * spec.strides[a] - spec.low[a];
    const int64_t behind = (gives[a + 1].end - 1) * spec.strides[a] -
                           spec.low[a] +
                           (kernel.dim(a) - 1) * spec.kernel_dilations[a] + 1;
    const int64_t begin =
        std::clamp<int64_t>(first <= 0 ? 0 : (first + step - 1) / step, 0,
                            std::max<int64_t>(size - 1, 0));
    const int64_t end =
        std::clamp<int64_t>(behind <= 0 ? 0 : (behind - 1) / step + 1,
                            std::min(begin + 1, size), size);
    of_x[a + 1] = {begin, end};
    const int64_t spread = begin == end ? 0 : (end - begin - 1) * step + 1;
    spec.low[a] = begin * step - first;
    spec.high[a] = behind - first - spec.low[a] - spread;
  }
  const int64_t of_one = kernel.dim(last - 1);
  const int64_t out = kernel.dim(last) / spec.groups;
  const int64_t group = gives[last].begin / out;
  const int64_t behind = (gives[last].end - 1) / out + 1;
  if (spec.groups > 1) {
    gives[last] = {group * out, behind * out};
    of_x[last] = {group * of_one, behind * of_one};
    spec.groups = behind - group;
  }
  of_kernel[last] = gives[last];
  c.asks[0] = std::move(of_x);
  c.asks[1] = std::move(of_kernel);
  c.gives[0] = std::move(gives);
  c.make = [attributes = spec.ToAttributes()](PartScope& s) {
    s.Give(0, Apply(kConvolution, {s.operands[0], s.operands[1]}, attributes));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

// Features are parted: each part is a sum of its own, halves in f32.
absl::Status ConvolutionSplit(SplitContext& c) {
  const DType dtype = c.operands[0].dtype(), wide = SumDType(dtype);
  Expression all;
  for (size_t cell = 0; cell < c.cells.size(); ++cell) {
    const Expression sum = Apply(
        kConvolution,
        {ConvertTo(c.Part(cell, 0), wide), ConvertTo(c.Part(cell, 1), wide)},
        c.instruction.attributes);
    c.partials[cell] = {sum};
    all = all.present() ? all + sum : sum;
  }
  c.results[0] = ConvertTo(all, dtype);
  return absl::OkStatus();
}

namespace {

// Moves axis `from` so that it is axis `to` of the result.
Expression Moved(const Expression& x, int64_t from, int64_t to) {
  if (x.value() == kNoValue) return x;
  Dims order(x.rank());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return Transposed(x, order);
}

// Joins axis `axis` with the one behind it.
Expression Joined(const Expression& x, int64_t axis) {
  if (x.value() == kNoValue) return x;
  Dims dims = x.dims();
  dims[axis] *= dims[axis + 1];
  dims.erase(dims.begin() + axis + 1);
  return Reshaped(x, dims);
}

// Splits axis `axis` into `count` and `rest`.
Expression SplitAt(const Expression& x, int64_t axis, int64_t count,
                   int64_t rest) {
  if (x.value() == kNoValue) return x;
  Dims dims = x.dims();
  dims[axis] = count;
  dims.insert(dims.begin() + axis + 1, rest);
  return Reshaped(x, dims);
}

// A kernel [places..., features of one, groups * out of one] as [places..., out
// of one, groups * features of one].
Expression Swapped(const Expression& kernel, int64_t k, int64_t groups) {
  if (kernel.value() == kNoValue) return kernel;
  if (groups == 1) return Moved(kernel, k + 1, k);
  const Expression split =
      SplitAt(kernel, k + 1, groups, kernel.dims()[k + 1] / groups);
  return Joined(Moved(Moved(split, k + 2, k), k + 2, k + 1), k + 1);
}

// x [batch, spatial..., groups * features] as [features, spatial..., groups *
// batch].
Expression BatchesAsFeatures(const Expression& x, int64_t k, int64_t groups) {
  if (x.value() == kNoValue) return x;
  if (groups == 1) return Moved(Moved(x, 0, k + 1), k, 0);
  const Expression split = SplitAt(x, k + 1, groups, x.dims()[k + 1] / groups);
  return Joined(Moved(Moved(split, 0, k + 2), k + 1, 0), k + 1);
}

}  // namespace

// A batch of x is more of its batch; of kernels, more results of each group; of
// both, more groups.
absl::StatusOr<std::vector<Expression>> ConvolutionBatch(BatchContext& c) {
  ConvolutionSpec spec = ConvolutionSpec::Of(c.instruction.attributes);
  const int64_t last = c.shape(0).rank() - 1;
  const int64_t out = c.shape(1).dim(static_cast<int>(last));
  const int64_t of_group = out / spec.groups;
  if (c.batched[0] && !c.batched[1]) {
    const Expression result =
        Apply(kConvolution, {Joined(c.operands[0], 0), c.operands[1]},
              spec.ToAttributes());
    return std::vector<Expression>{
        SplitAt(result, 0, c.size, c.shape(0).dim(0))};
  }
  if (!c.batched[0]) {
    // [batch, places..., in, groups, out] to [places..., in, groups, batch,
    // out].
    const Expression kernel = Moved(
        SplitAt(c.operands[1], last + 1, spec.groups, of_group), 0, last + 1);
    const Expression result =
        Apply(kConvolution, {c.operands[0], Joined(Joined(kernel, last), last)},
              spec.ToAttributes());
    const Expression split =
        SplitAt(SplitAt(result, last, spec.groups, c.size * of_group), last + 1,
                c.size, of_group);
    return std::vector<Expression>{Joined(Moved(split, last + 1, 0), last + 1)};
  }
  if (c.size == 0) {  // no groups
    const Shape& result = c.from.shape(c.instruction.first_result);
    return std::vector<Expression>{Filled(
        &c.scope, Shape::Of(result.dtype(), c.WithSize(result.dims())), 0)};
  }
  spec.groups *= c.size;
  const Expression result = Apply(kConvolution,
                                  {Joined(Moved(c.operands[0], 0, last), last),
                                   Joined(Moved(c.operands[1], 0, last), last)},
                                  spec.ToAttributes());
  return std::vector<Expression>{
      Moved(SplitAt(result, last, c.size, out), last, 0)};
}

// Both gradients are convolutions, of the cotangent g.
absl::Status ConvolutionGradient(GradientContext& c) {
  const ConvolutionSpec spec = ConvolutionSpec::Of(c.instruction.attributes);
  if (c.g().shape().num_elements() == 0) return absl::OkStatus();
  const Dims x = c.x().dims(), kernel = c.y().dims(), result = c.g().dims();
  const auto k = static_cast<int64_t>(spec.strides.size());
  // How much of the spread and padded x its windows reach over, from its start.
  Dims reach;
  for (int64_t a = 0; a < k; ++a) {
    reach.push_back((result[a + 1] - 1) * spec.strides[a] +
                    (kernel[a] - 1) * spec.kernel_dilations[a] + 1);
  }
  // Each element collects what its windows got, through the kernel turned
  // around, in which features and results have changed places.
  c.Give(0, [&] {
    ConvolutionSpec back = spec;
    Dims places;
    for (int64_t a = 0; a < k; ++a) {
      places.push_back(a);
      const int64_t span = (kernel[a] - 1) * spec.kernel_dilations[a];
      const int64_t spread =
          x[a + 1] == 0 ? 0 : (x[a + 1] - 1) * spec.x_dilations[a] + 1;
      back.strides[a] = spec.x_dilations[a];
      back.x_dilations[a] = spec.strides[a];
      back.low[a] = span - spec.low[a];
      back.high[a] = spread + span -
                     ((result[a + 1] - 1) * spec.strides[a] + 1) - back.low[a];
    }
    const Expression turned =
        Apply(kReverse, {c.y()}, {{"dimensions", places}});
    return Apply(kConvolution, {c.g(), Swapped(turned, k, spec.groups)},
                 back.ToAttributes());
  });
  // Batches are what is added up: they become features, and features batches.
  c.Give(1, [&] {
    ConvolutionSpec back = spec;
    for (int64_t a = 0; a < k; ++a) {
      const int64_t spread =
          x[a + 1] == 0 ? 0 : (x[a + 1] - 1) * spec.x_dilations[a] + 1;
      back.strides[a] = spec.kernel_dilations[a];
      back.kernel_dilations[a] = spec.strides[a];
      back.high[a] = reach[a] - spread - spec.low[a];
    }
    const Expression by = Moved(c.g(), 0, k);
    const Expression all =
        Apply(kConvolution, {BatchesAsFeatures(c.x(), k, spec.groups), by},
              back.ToAttributes());
    return Moved(all, 0, k);
  });
  return absl::OkStatus();
}

}  // namespace hawser
