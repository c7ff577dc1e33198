// Marks of where a call is to be cut, as core/sharding takes them.
#ifndef HAWSER_CLIENT_SDK_JIT_CUT_MARKS_H_
#define HAWSER_CLIENT_SDK_JIT_CUT_MARKS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sdk/jit/traced_module.h"
#include "client/sdk/structure.h"
#include "core/sharding/notes.h"
#include "core/sharding/shard_spec.h"

namespace hawser::sdk {

// Returns the cuts that the marks ask for; null: there are no marks. Errors:
// kInvalidArgument naming argument, axis, what is wrong and the line of the
// mark.
absl::StatusOr<std::shared_ptr<const ShardSpec>> CutsOf(const Flat& arguments);

// Adds to each of the notes on a module the user's line at which its cut ends.
void AddLines(const TracedModule& traced, std::vector<ShardNote>* notes);
// The notes as an error: kInvalidArgument; OK: there are none.
absl::Status CheckNotes(const std::vector<ShardNote>& notes);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_JIT_CUT_MARKS_H_
