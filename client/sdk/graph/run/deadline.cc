#include "client/sdk/graph/run/deadline.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace hawser::sdk {

absl::Status NameDeadline(const absl::Status& status,
                          absl::string_view function, const Client& client,
                          const CallOptions& call, const CancelToken& limits) {
  if (!absl::IsDeadlineExceeded(status) || limits.deadline() > SteadyNow()) {
    return status;
  }
  // The token the caller passed in may have ended it earlier.
  const std::string which =
      call.cancel.deadline() <= limits.deadline()
          ? "of the CancelToken"
          : absl::StrCat("of ", absl::FormatDuration(call.deadline));
  return DeadlineExceeded("deadline ", which, " passed: ", function, " on ",
                          client.name(), "; ", status.message());
}

}  // namespace hawser::sdk
