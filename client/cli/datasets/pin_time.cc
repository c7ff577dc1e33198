#include "client/cli/datasets/pin_time.h"

#include "absl/strings/str_cat.h"
#include "client/cli/command/command.h"

namespace hawser::cli {

absl::StatusOr<absl::Duration> ReadPinTime(absl::string_view flag,
                                           const std::string& text) {
  if (text == "forever") return absl::InfiniteDuration();
  absl::Duration ttl;
  // Milliseconds are the finest that the wire carries.
  if (absl::ParseDuration(text, &ttl) && ttl >= absl::Milliseconds(1)) {
    return ttl;
  }
  return UsageError(
      absl::StrCat(flag, " \"", text, "\" is no time: 90s, 10m, 36h, forever"));
}

}  // namespace hawser::cli
