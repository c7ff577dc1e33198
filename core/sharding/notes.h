// Notes: cuts that were wanted and came out whole.
#ifndef HAWSER_CORE_SHARDING_NOTES_H_
#define HAWSER_CORE_SHARDING_NOTES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/sharding/cuts.h"
#include "core/sharding/shard_spec.h"
#include "core/sharding/sharding.h"
#include "core/sharding/split.h"

namespace hawser {

// Notes the spec's cuts of parameters that end. partials: those of the
// contractions that are split.
std::vector<ShardNote> NotesOf(const Module& module, const ShardSpec& spec,
                               const Cuts& cuts,
                               absl::Span<const Partial> partials);
// Returns the notes of Shard, without its tasks; neighbours of every index are
// not joined. Errors: as CheckShardSpec; kInvalidArgument for a contraction in
// more parts than there may be tasks.
absl::StatusOr<std::vector<ShardNote>> NotesOf(const Module& module,
                                               const ShardSpec& spec);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_NOTES_H_
