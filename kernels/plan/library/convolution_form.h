// Convolutions as calls of a device's library.
#ifndef HAWSER_KERNELS_PLAN_LIBRARY_CONVOLUTION_FORM_H_
#define HAWSER_KERNELS_PLAN_LIBRARY_CONVOLUTION_FORM_H_

#include <optional>

#include "kernels/plan/library/library_site.h"

namespace hawser::plan {

// The convolution as a call, with the padding, transposes and reverses that it
// needs around it. nullopt: a product does it better, or the library refuses.
std::optional<Expressions> ConvolutionForm(const LibrarySite& site);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_LIBRARY_CONVOLUTION_FORM_H_
