#include "client/recipes/place.h"

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace hawser {
namespace {

constexpr absl::string_view kElsewhere = "hawser/elsewhere";

}  // namespace

absl::Status ElsewhereError(absl::Status why) {
  why.SetPayload(kElsewhere, absl::Cord());
  return why;
}

bool IsElsewhere(const absl::Status& status) {
  return status.GetPayload(kElsewhere).has_value();
}

}  // namespace hawser
