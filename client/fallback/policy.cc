#include "client/fallback/policy.h"

#include "absl/strings/str_cat.h"

namespace hawser {
namespace {

const char* InAWord(const absl::Status& why) {
  switch (why.code()) {
    case absl::StatusCode::kResourceExhausted:
      return "full";
    case absl::StatusCode::kUnimplemented:
      return "not supported";
    case absl::StatusCode::kDeadlineExceeded:
      return "too slow";
    case absl::StatusCode::kUnauthenticated:
      return "unauthenticated";
    case absl::StatusCode::kPermissionDenied:
      return "permission denied";
    case absl::StatusCode::kFailedPrecondition:
      return "misconfigured";
    default:
      return "unreachable";
  }
}

}  // namespace

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
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:
      if (policy.on_refusal) return true;
      return link_lost && policy.on_unavailable;
    case absl::StatusCode::kDeadlineExceeded:
      if (timed_out) return policy.on_attempt_timeout;
      [[fallthrough]];
    default:
      return link_lost && policy.on_unavailable;
  }
}

runtime::RanOn StoodIn(const runtime::RanOn& there, const absl::Status& why) {
  if (there.fallback) return there;  // of a chain of them, the last reason
  return {absl::StrCat(there.where, " (fallback: ", InAWord(why), ")"), true};
}

}  // namespace hawser
