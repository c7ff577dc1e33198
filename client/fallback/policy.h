// When a fallback client gives up on its primary, and what it remembers.
#ifndef HAWSER_CLIENT_FALLBACK_POLICY_H_
#define HAWSER_CLIENT_FALLBACK_POLICY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser {

// A dataset that would be lost with this process.
struct UnsentDataset {
  std::string token;
  std::vector<std::string> tags = {};
  std::vector<DatasetSource::Array> arrays = {};
};

struct FallbackPolicy {
  // The errors that make the secondary take over. A bad graph
  // (kInvalidArgument) and the caller's own cancel or deadline never do.
  bool on_unavailable = true;         // link or session lost
  bool on_resource_exhausted = true;  // the primary is full
  bool on_unimplemented = true;       // it lacks an op or a dtype
  // It was reached and does not let this program in, or is not to be reached as
  // its credentials or its address are written.
  bool on_refusal = false;
  bool on_attempt_timeout = true;  // it took longer than this:
  // Used where a call's own attempt_timeout is infinite, but not for putting
  // datasets, whose time goes by their size.
  absl::Duration attempt_timeout = absl::InfiniteDuration();

  // After the link was lost, the primary is asked again this often: at first,
  // doubling, and at most.
  absl::Duration probe_first = absl::Milliseconds(100);
  absl::Duration probe_longest = absl::Milliseconds(1600);

  // The time that work which only the primary can do waits for it to come back,
  // where the caller set no deadline: work on a dataset that was not put from
  // here.
  absl::Duration wait_for_primary = absl::Minutes(2);

  // Recipes: how results can be made again. A chain longer than half of
  // max_recipe_steps, or recipes that fill half of max_recipe_bytes, are cut by
  // fetching a value in the background, if that is at most checkpoint_bytes
  // large. Beyond the limits a result has no recipe: losing it is kDataLoss.
  int max_recipe_steps = 1024;
  // A chain that began so long ago is cut in the same way: making a lost value
  // again takes about that long at most.
  absl::Duration max_replay = absl::Seconds(10);
  int64_t max_recipe_bytes = int64_t{256} << 20;  // host values held for them
  int64_t checkpoint_bytes = int64_t{64} << 20;
  // If true, the sources of datasets that were put from here stay referenced,
  // to put them again where they are missing. Not counted above: a source is
  // a mapped file or memory that is the caller's anyway.
  bool keep_dataset_sources = true;

  // If false, the secondary is on another machine, or falls back itself: what
  // it has is not lost with this process, and it is told of tags too.
  bool secondary_is_here = true;

  // Called when the client ends, or where GiveUnsent is called, with each
  // dataset that was put or frozen and is on no server.
  std::function<void(const UnsentDataset& dataset)> on_unsent;
  // Called when the log line about a fallback is written, on any thread; must
  // not block.
  std::function<void(const absl::Status& why)> on_fallback;
};

// True if `status`, which the primary gave while the caller still waited, hands
// the work to the secondary. `timed_out`: the attempt has had its time.
// `link_lost`: the link it began on is gone, so that unknown handles and the
// like are only the echo of that.
bool TriggersFallback(const FallbackPolicy& policy, const absl::Status& status,
                      bool timed_out, bool link_lost);

// Returns where something was computed that the primary should have: `there`,
// and `why`, which triggered it, in a word or two.
runtime::RanOn StoodIn(const runtime::RanOn& there, const absl::Status& why);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_POLICY_H_
