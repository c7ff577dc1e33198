// Convolutions.
#ifndef HAWSER_CLIENT_SDK_OPS_WINDOWS_CONV_H_
#define HAWSER_CLIENT_SDK_OPS_WINDOWS_CONV_H_

#include <cstdint>
#include <vector>

#include "client/sdk/operand.h"
#include "client/sdk/ops/indexing/edge.h"
#include "client/sdk/tensor.h"
#include "core/base/values/shape.h"

namespace hawser {

// Conv(images, kernel, {.same_size = true, .layout =
// ConvLayout::kFeaturesLast}).
enum class ConvLayout {
  kFeaturesFirst,  // x [batch, features, spatial...], kernel [out, features,
                   // spatial...]
  kFeaturesLast,   // x [batch, spatial..., features], kernel [spatial...,
                   // features, out]
};
// Lists have one entry a spatial axis, or one for all of them; none: 1, and no
// padding.
struct ConvOptions {
  Dims strides = {};
  std::vector<Padding> padding = {};  // zeros; a negative one cuts
  bool same_size = false;             // as in WindowOptions
  Dims input_dilations = {};          // x spread apart by zeros
  Dims kernel_dilations = {};
  int64_t groups = 1;        // of features, each of which has its own results
  int64_t batch_groups = 1;  // of batches
  ConvLayout layout = ConvLayout::kFeaturesFirst;
};

// The convolution of neural networks, in which a kernel is not turned around.
// x, kernel: tensors of numbers of one rank, 2 at least, as the layout says; a
// kernel has features / groups. Result: [batch, out, spatial...], or [batch,
// spatial..., out]; the promoted dtype, f32 of integers and bool; halves are
// added up in f32. Errors: sizes, groups or lists that do not fit. Grad: two
// such convolutions. Source: Nx conv; StableHLO convolution.
Tensor Conv(const Operand& x, const Operand& kernel,
            const ConvOptions& options = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_WINDOWS_CONV_H_
