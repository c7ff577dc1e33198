// Exact nearest neighbours as one program over tensors. Nothing in it knows
// where it computes.
#ifndef HAWSER_CLIENT_EXAMPLES_KNN_H_
#define HAWSER_CLIENT_EXAMPLES_KNN_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/hawser.h"

namespace hawser {

// Called with each batch's number, from 0, and its labels, which are here by
// then. An error ends the classification.
using AfterBatch = std::function<absl::Status(int batch, const Tensor& labels)>;

// For each of `images`, u8[n, ...], the label of the training image that is
// nearest to it; of equally near ones the first. `data` holds "images", u8[m,
// ...] of as many pixels each, and "labels", u8[m]. Values that depend only on
// the training images are computed once and stay where they were computed; a
// batch of images and its labels are all that travels. Blocks. Errors:
// kInvalidArgument for a batch size below 1; those of the client that holds
// `data`.
absl::StatusOr<std::vector<uint8_t>> NearestLabels(const Dataset& data,
                                                   const Literal& images,
                                                   int64_t batch_size,
                                                   const AfterBatch& after);

}  // namespace hawser
#endif  // HAWSER_CLIENT_EXAMPLES_KNN_H_
