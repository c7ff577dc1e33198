// Convolutions as formulas: windows of the input times a kernel.
#ifndef HAWSER_CORE_OPS_WINDOWS_CONVOLUTION_H_
#define HAWSER_CORE_OPS_WINDOWS_CONVOLUTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/base/values/dtype.h"
#include "core/ops/expression.h"

namespace hawser {

// A convolution over k spatial axes, of x [batch, spatial..., features] by a
// kernel [spatial..., features / groups, out]. Each list has one entry a
// spatial axis. x is spread apart by `x_dilations` and padded with zeros (a
// negative padding cuts); the kernel, spread by `kernel_dilations`, slides over
// it by `strides`. It is not turned around, as in all libraries of neural
// networks.
struct ConvolutionSpec {
  Dims strides;
  Dims low;
  Dims high;
  Dims x_dilations;
  Dims kernel_dilations;
  int64_t groups = 1;
  // Each group of batches has results of its own, of its part of the kernel's;
  // beside groups above 1 it must be 1.
  int64_t batch_groups = 1;

  // Of strides and dilations of 1, without padding.
  static ConvolutionSpec Of(size_t spatial_axes);
};

// Errors: kInvalidArgument that names what does not fit, with its sizes: ranks,
// lists of another length, strides, dilations and groups below 1, groups that
// do not divide features, features that differ, sizes too large.
absl::Status CheckConvolution(const Shape& x, const Shape& kernel,
                              const ConvolutionSpec& spec);

// The result, [batch, spatial..., out] of dtype `result`, which may be wider
// than the operands' (as of dot_general). Takes what CheckConvolution takes. An
// engine multiplies matrices, or, where a group has few features, adds products
// up without writing windows out.
Expression Convolved(const Expression& x, const Expression& kernel,
                     const ConvolutionSpec& spec, DType result);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_WINDOWS_CONVOLUTION_H_
