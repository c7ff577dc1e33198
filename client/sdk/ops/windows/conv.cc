#include "client/sdk/ops/windows/conv.h"

#include <numeric>

#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/windows/lists.h"
#include "core/base/status.h"
#include "core/ops/windows/convolution.h"

namespace hawser {
namespace {

using sdk::CommonDType;
using sdk::OnePerAxis;
using sdk::OpScope;
using Expressions = absl::Span<const Expression>;

// The axes of x and of a kernel in the order that core/ops has them in.
struct ConvOrder {
  Dims x, kernel;
};

ConvOrder OrderOf(ConvLayout layout, int64_t rank) {
  ConvOrder order;
  for (Dims* axes : {&order.x, &order.kernel}) {
    axes->resize(rank);
    std::iota(axes->begin(), axes->end(), int64_t{0});
  }
  if (layout == ConvLayout::kFeaturesLast) return order;
  // [batch, features, spatial...] and [out, features, spatial...].
  order.x.erase(order.x.begin() + 1);
  order.x.push_back(1);
  order.kernel.erase(order.kernel.begin(), order.kernel.begin() + 2);
  order.kernel.push_back(1);
  order.kernel.push_back(0);
  return order;
}

absl::StatusOr<ConvolutionSpec> SpecOf(const Dims& kernel,
                                       const ConvOptions& options) {
  const size_t k = kernel.size() - 2;
  ConvolutionSpec spec = ConvolutionSpec::Of(k);
  HAWSER_ASSIGN_OR_RETURN(spec.strides,
                          OnePerAxis("strides", options.strides, k, true));
  HAWSER_ASSIGN_OR_RETURN(
      spec.x_dilations,
      OnePerAxis("input_dilations", options.input_dilations, k, true));
  HAWSER_ASSIGN_OR_RETURN(
      spec.kernel_dilations,
      OnePerAxis("kernel_dilations", options.kernel_dilations, k, true));
  const Dims sizes(kernel.begin(), kernel.begin() + static_cast<int64_t>(k));
  HAWSER_RETURN_IF_ERROR(sdk::PadWindows(options.padding, options.same_size,
                                         sizes, spec.kernel_dilations,
                                         &spec.low, &spec.high));
  spec.groups = options.groups;
  spec.batch_groups = options.batch_groups;
  return spec;
}

}  // namespace

Tensor Conv(const Operand& x, const Operand& kernel,
            const ConvOptions& options) {
  const OpScope s(
      "Conv", {&x, &kernel},
      {options.strides, options.input_dilations, options.kernel_dilations});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::ToFloating(CommonDType({&x, &kernel}));
  const Tensor values[] = {s.As(x, dtype), s.As(kernel, dtype)};
  for (const Tensor& value : values) {
    if (value.dtype() == DType::kInvalid) return value;
  }
  const int64_t rank = values[0].rank();
  if (rank < 2 || values[1].rank() != rank) {
    return s.Fail(InvalidArgument(
        "takes two tensors of one rank, at least 2: batch and features, or "
        "results and features, beside spatial axes"));
  }
  const ConvOrder order = OrderOf(options.layout, rank);
  Dims sizes;
  for (const int64_t axis : order.kernel) {
    sizes.push_back(values[1].shape().dim(static_cast<int>(axis)));
  }
  const auto spec = SpecOf(sizes, options);
  if (!spec.ok()) return s.Fail(spec.status());
  sdk::Guarded formula;
  return formula.Or(s, sdk::Apply("Conv", s, values, [&](Expressions on) {
                      const Expression of = Transposed(on[0], order.x);
                      const Expression by = Transposed(on[1], order.kernel);
                      const absl::Status fits =
                          CheckConvolution(of.shape(), by.shape(), *spec);
                      if (!fits.ok()) return formula.Keep(fits, of);
                      return Transposed(Convolved(of, by, *spec, dtype),
                                        InversePermutation(order.x));
                    }));
}

}  // namespace hawser
