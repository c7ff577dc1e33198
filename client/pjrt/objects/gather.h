// Gather: the parts of an argument, on several devices, as one value.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_GATHER_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_GATHER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/pjrt/objects/buffer.h"
#include "client/stablehlo/tilings/tiling.h"

namespace hawser::pjrt {

// The box of partition `p`'s tile.
Box TileOf(const stablehlo::Tiling& tiling, const Shape& whole, int p);

// The value on `client` of which each of `parts` is its partition's tile. Parts
// of one value that lie so already are that value; others are fetched and put
// together, and are parts of it from then on. May block. Errors:
// kInvalidArgument for a part that is of another shape, deleted or donated;
// those of making the parts.
absl::StatusOr<std::shared_ptr<const Together>> Gather(
    absl::Span<Buffer* const> parts, const stablehlo::Tiling& tiling,
    const Shape& whole, runtime::Client& client);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_GATHER_H_
