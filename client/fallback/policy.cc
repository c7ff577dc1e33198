#include "client/fallback/policy.h"

namespace hawser {

bool TriggersFallback(const FallbackPolicy& policy, const absl::Status& status,
                      bool timed_out, bool link_lost) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kInvalidArgument:
      return false;
    case absl::StatusCode::kUnavailable:
      return policy.on_unavailable;
    case absl::StatusCode::kResourceExhausted:
      return policy.on_resource_exhausted;
    case absl::StatusCode::kUnimplemented:
      return policy.on_unimplemented;
    case absl::StatusCode::kDeadlineExceeded:
      if (timed_out) return policy.on_attempt_timeout;
      [[fallthrough]];
    default:
      return link_lost && policy.on_unavailable;
  }
}

}  // namespace hawser
