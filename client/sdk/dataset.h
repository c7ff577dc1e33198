// Dataset: arrays that were put once and are used by name from then on.
#ifndef HAWSER_CLIENT_SDK_DATASET_H_
#define HAWSER_CLIENT_SDK_DATASET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/sdk/client.h"
#include "client/sdk/tensor.h"
#include "core/runtime/dataset.h"

namespace hawser {

// A copyable handle, made by Client::Put and Client::Dataset. Thread-safe.
// The arrays live where the client computes, also after this handle, the
// session and (where `durable`) the server's process.
class Dataset {
 public:
  Dataset() = default;  // none
  Dataset(Client client, DatasetInfo info);

  // "hw1-...": the name of these bytes on every machine.
  const std::string& token() const { return info().token; }
  // Names, shapes, sizes, and what the Put really sent.
  const DatasetInfo& info() const;
  const Client& client() const;

  // An array, as the argument of a function. The first use of a name may block
  // to ask for it. Errors (sticky): kNotFound naming the arrays there are.
  Tensor operator[](absl::string_view name) const;
  // The array of a dataset of one unnamed array.
  Tensor operator()() const { return (*this)[""]; }

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_DATASET_H_
