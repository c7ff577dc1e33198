#include "client/fallback/policy.h"

#include "absl/time/clock.h"

namespace hawser {

bool TriggersFallback(const FallbackPolicy& policy, const absl::Status& status,
                      absl::Time own_deadline) {
  if (absl::IsUnavailable(status)) return policy.on_unavailable;
  if (absl::IsResourceExhausted(status)) return policy.on_resource_exhausted;
  if (absl::IsUnimplemented(status)) return policy.on_unimplemented;
  if (absl::IsDeadlineExceeded(status)) {
    return policy.on_attempt_timeout && absl::Now() < own_deadline;
  }
  return false;
}

}  // namespace hawser
