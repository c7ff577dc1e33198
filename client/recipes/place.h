// Place: where recipes are followed.
#ifndef HAWSER_CLIENT_RECIPES_PLACE_H_
#define HAWSER_CLIENT_RECIPES_PLACE_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser {

// A client, and how long what it makes lasts. Value type.
struct Place {
  runtime::Client* client = nullptr;
  // Limits of what is done there.
  runtime::CallOptions call;
  // Values that were made there in another life are gone.
  uint64_t life = 0;
  // A part of a dataset there, put there first if its source is known.
  std::function<absl::StatusOr<runtime::BufferPtr>(const DatasetPart&)> open;
};

// A part that another place has, and this one does not: `why`, marked so. A
// recipe that fails with it here may be followed there.
absl::Status ElsewhereError(absl::Status why);
bool IsElsewhere(const absl::Status& status);

}  // namespace hawser
#endif  // HAWSER_CLIENT_RECIPES_PLACE_H_
