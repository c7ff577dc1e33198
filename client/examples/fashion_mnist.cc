#include "client/examples/fashion_mnist.h"

#include "absl/strings/str_cat.h"
#include "client/formats/idx.h"
#include "core/base/status.h"

namespace hawser {

absl::StatusOr<FashionMnist> ReadFashionMnist(const std::string& folder) {
  FashionMnist images;
  HAWSER_ASSIGN_OR_RETURN(images.train,
                          ReadIdx(folder + "/train-images-idx3-ubyte.gz"));
  HAWSER_ASSIGN_OR_RETURN(images.train_labels,
                          ReadIdx(folder + "/train-labels-idx1-ubyte.gz"));
  HAWSER_ASSIGN_OR_RETURN(images.test,
                          ReadIdx(folder + "/t10k-images-idx3-ubyte.gz"));
  HAWSER_ASSIGN_OR_RETURN(images.test_labels,
                          ReadIdx(folder + "/t10k-labels-idx1-ubyte.gz"));
  return images;
}

std::string ToPlaces(const Client& client) {
  const auto capabilities = client.capabilities();
  if (!capabilities.ok() || capabilities->places < 2) return "";
  return absl::StrCat(" to ", capabilities->places, " places");
}

}  // namespace hawser
