// When a fallback client gives up on its primary, and what it remembers.
#ifndef HAWSER_CLIENT_FALLBACK_POLICY_H_
#define HAWSER_CLIENT_FALLBACK_POLICY_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace hawser {

struct FallbackPolicy {
  // What makes the secondary take over. A bad graph (kInvalidArgument) and
  // the caller's own cancel or deadline never do.
  bool on_unavailable = true;         // link or session lost
  bool on_resource_exhausted = true;  // the primary is full
  bool on_unimplemented = true;       // it lacks an op or a dtype
  bool on_attempt_timeout = true;     // it took longer than this:
  // Used where a call's own attempt_timeout is infinite.
  absl::Duration attempt_timeout = absl::InfiniteDuration();

  // After the link was lost, the primary is asked again this often: at first,
  // doubling, and at most.
  absl::Duration probe_first = absl::Milliseconds(250);
  absl::Duration probe_longest = absl::Seconds(30);

  // Recipes: how results can be made again. A chain longer than half of
  // max_recipe_steps is cut by fetching a value in the background, if that is
  // at most checkpoint_bytes large. Beyond the limits a result has no recipe,
  // and losing it is kDataLoss.
  int max_recipe_steps = 1024;
  int64_t max_recipe_bytes = int64_t{256} << 20;  // host values held for them
  int64_t checkpoint_bytes = int64_t{64} << 20;

  // Called once per switch to the secondary, on any thread; must not block.
  std::function<void(const absl::Status& why)> on_fallback;
};

// Whether `status`, which the primary gave, hands the work to the secondary.
// `own_deadline` is the caller's: once it has passed, nothing does.
bool TriggersFallback(const FallbackPolicy& policy, const absl::Status& status,
                      absl::Time own_deadline);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_POLICY_H_
