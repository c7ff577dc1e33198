// The Fashion-MNIST images as their four files hold them.
#ifndef HAWSER_CLIENT_EXAMPLES_FASHION_MNIST_H_
#define HAWSER_CLIENT_EXAMPLES_FASHION_MNIST_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/hawser.h"
#include "core/base/values/literal.h"

namespace hawser {

struct FashionMnist {
  Literal train, train_labels;  // u8[60000,28,28], u8[60000]
  Literal test, test_labels;    // u8[10000,28,28], u8[10000]
};

// Reads the gzipped IDX files in `folder`. Errors: those of ReadIdx.
absl::StatusOr<FashionMnist> ReadFashionMnist(const std::string& folder);

// " to 3 places" where the client has several, each of which has all of a
// dataset; else nothing.
std::string ToPlaces(const Client& client);

}  // namespace hawser
#endif  // HAWSER_CLIENT_EXAMPLES_FASHION_MNIST_H_
