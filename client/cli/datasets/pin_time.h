// Times as people write them: how long a pin lasts, how old a dataset is.
#ifndef HAWSER_CLIENT_CLI_DATASETS_PIN_TIME_H_
#define HAWSER_CLIENT_CLI_DATASETS_PIN_TIME_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hawser::cli {

// Reads "90s", "10m", "36h", "7d" or "1d12h". Errors: UsageError naming the
// flag, for other texts and for times that are not above zero.
absl::StatusOr<absl::Duration> ReadAge(absl::string_view flag,
                                       absl::string_view text);

// The same, or "forever".
absl::StatusOr<absl::Duration> ReadPinTime(absl::string_view flag,
                                           absl::string_view text);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_DATASETS_PIN_TIME_H_
