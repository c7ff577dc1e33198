// Probe: measures what a place does in a second.
#ifndef HAWSER_CLIENT_SHARDED_PLACES_PROBE_H_
#define HAWSER_CLIENT_SHARDED_PLACES_PROBE_H_

#include "absl/status/statusor.h"
#include "core/runtime/client.h"
#include "core/sharding/choice/choose.h"

namespace hawser {

// Runs a matrix product, a pass over memory and a transfer there, which takes
// some milliseconds and what compiling them takes. Figures are powers of
// two, so that a cut that is chosen by them is the same the next time. Blocks.
// Errors: the client's; kDeadlineExceeded after five seconds.
absl::StatusOr<PlaceFigures> MeasurePlace(runtime::Client& client);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_PLACES_PROBE_H_
