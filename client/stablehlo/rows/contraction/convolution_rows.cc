// Convolutions: transposed into [batch, spatial..., features], then as core/ops
// has them.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/contraction/shared.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/movement/shape.h"
#include "core/ops/windows/convolution.h"

namespace hawser::stablehlo {
namespace {

// A Layout says where one tensor has its axes: two have names, the others are
// spatial.
struct Layout {
  int64_t first = -1;   // batch; of a kernel: features
  int64_t second = -1;  // features; of a kernel: results
  Dims spatial;

  size_t rank() const { return spatial.size() + 2; }
};

struct Numbers {
  Layout input, kernel, output;
};

// "[b, 0, 1, f]": axes by letters and numbers.
std::optional<Layout> LayoutIn(absl::string_view text, char first,
                               char second) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> axes = absl::StrSplit(text, ',');
  if (axes.size() < 2) return std::nullopt;
  Layout layout{.spatial = Dims(axes.size() - 2, -1)};
  for (size_t a = 0; a < axes.size(); ++a) {
    const absl::string_view axis = absl::StripAsciiWhitespace(axes[a]);
    const auto at = static_cast<int64_t>(a);
    size_t number = 0;
    if (axis == absl::string_view(&first, 1)) {
      layout.first = at;
    } else if (axis == absl::string_view(&second, 1)) {
      layout.second = at;
    } else if (absl::SimpleAtoi(axis, &number) &&
               number < layout.spatial.size()) {
      layout.spatial[number] = at;
    }
  }
  return layout;
}

// "[b, 0, f]x[0, i, o]->[b, 0, f]", maybe within "#stablehlo.conv<...>".
std::optional<Numbers> NumbersIn(absl::string_view text) {
  const size_t begin = text.find('['), end = text.rfind(']');
  if (begin == text.npos || end == text.npos) return std::nullopt;
  text = text.substr(begin, end + 1 - begin);
  const std::pair<absl::string_view, absl::string_view> sides =
      absl::StrSplit(text, absl::MaxSplits("->", 1));
  const std::pair<absl::string_view, absl::string_view> operands =
      absl::StrSplit(sides.first, absl::MaxSplits('x', 1));
  const auto input = LayoutIn(operands.first, 'b', 'f');
  const auto kernel = LayoutIn(operands.second, 'i', 'o');
  const auto output = LayoutIn(sides.second, 'b', 'f');
  if (!input || !kernel || !output) return std::nullopt;
  return Numbers{*input, *kernel, *output};
}

// Artifacts number axes by attributes of their own.
absl::StatusOr<Numbers> AxisNumbersOf(OpContext& context) {
  const Attribute* text = FindAttribute(context.op, "dimension_numbers");
  if (text != nullptr) {
    const auto numbers = NumbersIn(text->text);
    if (numbers) return *numbers;
    return InvalidArgument("dimension_numbers are not understood: ",
                           text->text);
  }
  Numbers numbers;
  const std::pair<absl::string_view, int64_t*> axes[] = {
      {"input_batch_dimension", &numbers.input.first},
      {"input_feature_dimension", &numbers.input.second},
      {"kernel_input_feature_dimension", &numbers.kernel.first},
      {"kernel_output_feature_dimension", &numbers.kernel.second},
      {"output_batch_dimension", &numbers.output.first},
      {"output_feature_dimension", &numbers.output.second}};
  for (const auto& [name, axis] : axes) {
    HAWSER_ASSIGN_OR_RETURN(*axis, context.Int(name, -1));
  }
  const std::pair<absl::string_view, Dims*> lists[] = {
      {"input_spatial_dimensions", &numbers.input.spatial},
      {"kernel_spatial_dimensions", &numbers.kernel.spatial},
      {"output_spatial_dimensions", &numbers.output.spatial}};
  for (const auto& [name, list] : lists) {
    HAWSER_ASSIGN_OR_RETURN(*list, context.Ints(name));
  }
  return numbers;
}

// The layout's axes in the order `first`, spatial ones, `second`; of a kernel
// spatial ones come first. Errors: an axis that is missing or twice.
absl::StatusOr<Dims> OrderOf(const Layout& layout, bool kernel, int rank) {
  Dims order = layout.spatial;
  order.insert(kernel ? order.end() : order.begin(), layout.first);
  order.push_back(layout.second);
  Dims sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t a = 0; a < sorted.size(); ++a) {
    if (static_cast<int>(order.size()) == rank &&
        sorted[a] == static_cast<int64_t>(a)) {
      continue;
    }
    return InvalidArgument("dimension_numbers must name each of ", rank,
                           " axes once");
  }
  return order;
}

// A list with one entry a spatial axis; without it each is `fallback`.
absl::StatusOr<Dims> PerAxis(OpContext& context, absl::string_view name,
                             size_t count, int64_t fallback) {
  const auto numbers = NumbersOf(context.op, name, count, fallback);
  if (numbers) return *numbers;
  return InvalidArgument(name, " must hold ", count, " numbers");
}

// Two numbers an axis: in front and behind. "[[1, 0], [0, 1]]" is a list of
// lists.
absl::StatusOr<Dims> PaddingOf(OpContext& context, size_t k) {
  const Attribute* list = FindAttribute(context.op, "padding");
  if (list == nullptr || list->kind != Attribute::kList) {
    return PerAxis(context, "padding", 2 * k, 0);
  }
  Dims padding;
  for (const AttributePtr& pair : list->items) {
    padding.insert(padding.end(), pair->ints.begin(), pair->ints.end());
  }
  if (padding.size() == 2 * k) return padding;
  return InvalidArgument("padding must hold two numbers for each of ", k,
                         " axes");
}

// The kernel's axes that are turned around. Artifacts hold bools as numbers.
absl::StatusOr<Dims> Reversed(OpContext& context, size_t k) {
  Dims axes;
  const Attribute* list = FindAttribute(context.op, "window_reversal");
  if (list == nullptr) return axes;
  const auto add = [&](size_t i, bool turned) {
    if (turned) axes.push_back(static_cast<int64_t>(i));
  };
  if (list->kind == Attribute::kList) {
    if (list->items.size() != k) {
      return InvalidArgument("window_reversal must hold ", k, " bools");
    }
    for (size_t i = 0; i < k; ++i) add(i, list->items[i]->text == "true");
    return axes;
  }
  if (list->kind == Attribute::kElements && list->elements->value.valid() &&
      list->elements->value.shape().dtype() == DType::kBool) {
    const Literal& values = list->elements->value;
    for (size_t i = 0; i < k; ++i) {
      add(i, values.bytes()[list->elements->splat ? 0 : i] != 0);
    }
    return axes;
  }
  HAWSER_ASSIGN_OR_RETURN(const Dims numbers,
                          PerAxis(context, "window_reversal", k, 0));
  for (size_t i = 0; i < k; ++i) add(i, numbers[i] != 0);
  return axes;
}

absl::StatusOr<ConvolutionSpec> SpecOf(OpContext& context, size_t k) {
  ConvolutionSpec spec = ConvolutionSpec::Of(k);
  const std::pair<absl::string_view, Dims*> lists[] = {
      {"window_strides", &spec.strides},
      {"lhs_dilation", &spec.x_dilations},
      {"rhs_dilation", &spec.kernel_dilations}};
  for (const auto& [name, list] : lists) {
    HAWSER_ASSIGN_OR_RETURN(*list, PerAxis(context, name, k, 1));
  }
  HAWSER_ASSIGN_OR_RETURN(const Dims padding, PaddingOf(context, k));
  for (size_t i = 0; i < k; ++i) {
    spec.low[i] = padding[2 * i];
    spec.high[i] = padding[2 * i + 1];
  }
  HAWSER_ASSIGN_OR_RETURN(spec.groups, context.Int("feature_group_count", 1));
  HAWSER_ASSIGN_OR_RETURN(spec.batch_groups,
                          context.Int("batch_group_count", 1));
  return spec;
}

absl::StatusOr<Values> LowerConvolution(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2, 2));
  if (context.results.size() != 1) return InvalidArgument("has one result");
  if (context.operand_shape(0).rank() < 2) {
    return InvalidArgument("takes tensors of at least 2 axes, not ",
                           context.operand_shape(0).ToString());
  }
  context.program.AddProduct(WantsAllBits(context.op));
  const int rank = context.operand_shape(0).rank();
  HAWSER_ASSIGN_OR_RETURN(const Numbers numbers, AxisNumbersOf(context));
  HAWSER_ASSIGN_OR_RETURN(const Dims of_input,
                          OrderOf(numbers.input, false, rank));
  HAWSER_ASSIGN_OR_RETURN(
      const Dims of_kernel,
      OrderOf(numbers.kernel, true, context.operand_shape(1).rank()));
  HAWSER_ASSIGN_OR_RETURN(const Dims of_output,
                          OrderOf(numbers.output, false, rank));
  HAWSER_ASSIGN_OR_RETURN(const ConvolutionSpec spec,
                          SpecOf(context, rank - 2));
  HAWSER_ASSIGN_OR_RETURN(const Dims turned, Reversed(context, rank - 2));
  const DType result = context.results[0].dtype();
  const DType dtype = SumDType(context.operand_shape(0).dtype(),
                               context.operand_shape(1).dtype(), result);
  if (dtype == DType::kInvalid || dtype == DType::kBool) {
    return Unimplemented("a convolution of these dtypes");
  }
  const bool widens =
      context.operand_shape(0).dtype() == context.operand_shape(1).dtype();
  if (!widens) ConvertOperands(context, dtype);
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression x =
      Transposed(Expression(&scope, context.operands[0]), of_input);
  Expression kernel =
      Transposed(Expression(&scope, context.operands[1]), of_kernel);
  if (!turned.empty()) {
    kernel = Apply(kReverse, {kernel}, {{"dimensions", turned}});
  }
  HAWSER_RETURN_IF_ERROR(CheckConvolution(x.shape(), kernel.shape(), spec));
  const Expression all = ConvertTo(Convolved(x, kernel, spec, dtype), result);
  return Values{Transposed(all, InversePermutation(of_output)).value()};
}

constexpr Row kConvolutionRows[] = {
    {"stablehlo.convolution", LowerConvolution, nullptr, MissingProduct},
};

}  // namespace

absl::Span<const Row> ConvolutionRows() { return kConvolutionRows; }

}  // namespace hawser::stablehlo
