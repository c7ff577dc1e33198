// ShardSpec: where a function is to be cut.
#ifndef HAWSER_CORE_SHARDING_SHARD_SPEC_H_
#define HAWSER_CORE_SHARDING_SHARD_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/ir/types/signature.h"

namespace hawser {

// Says where one axis of a parameter or result is cut.
struct AxisCut {
  enum class Kind : uint8_t { kParts, kSizes, kEveryIndex, kWhole };

  int value = 0;  // the parameter's number, or the result's
  int axis = 0;   // may be negative: from the back
  Kind kind = Kind::kWhole;
  int64_t parts = 1;           // kParts: as equal as they can be
  std::vector<int64_t> sizes;  // kSizes: in order, empty ones too
  friend bool operator==(const AxisCut&, const AxisCut&) = default;
};

// The wishes of a user; cuts are advice, values never depend on them.
struct ShardSpec {
  enum class Unnamed : uint8_t { kEveryIndex, kWhole };
  enum class Contracted : uint8_t {
    kWhole,   // each task contracts all of it
    kSplit,   // each task contracts its part, and others combine what they give
    kRefuse,  // it is an error
  };

  std::vector<AxisCut> parameters;
  std::vector<AxisCut> results;
  // Says how to compute a contraction over axes that are cut since they are
  // named.
  Contracted contracted = Contracted::kWhole;
  // How to cut axes of parameters that no cut names, if no axis of their class
  // is named.
  Unnamed unnamed = Unnamed::kEveryIndex;
  // Neighbouring parts of axes that are cut at every index are one until there
  // are at most so many tasks.
  int64_t max_tasks = 4096;
  // If true, a named cut that no result has is an error, not a note.
  bool strict = false;
  friend bool operator==(const ShardSpec&, const ShardSpec&) = default;
};

// Cuts of parameters as text, "1.4=1+1 0.0/2 2.0* 3.1.": argument.axis, then
// the sizes, a number of parts, every index, or whole. A result's begin with
// "r". The word "split" or "refuse": contracted axes. Errors: kInvalidArgument
// with the word.
absl::StatusOr<ShardSpec> ParseShardSpec(absl::string_view text);
// The same text again.
std::string ToString(const ShardSpec& spec);

// Axes of a mesh of devices, and which of them cut which axes of the
// parameters: FromMesh({{"x", 2}, {"y", 2}}, {{{0, {"x"}}}, {}}). Axes that are
// not named are whole. Errors: kInvalidArgument for an axis the mesh does not
// have or that cuts a parameter twice.
struct MeshAxis {
  std::string name;
  int64_t size = 1;
};
struct MeshCut {
  int axis = 0;
  std::vector<std::string> mesh_axes;
};
absl::StatusOr<ShardSpec> FromMesh(
    absl::Span<const MeshAxis> mesh,
    absl::Span<const std::vector<MeshCut>> parameters);

// Errors: kInvalidArgument naming argument, axis and what is wrong: no such
// parameter or axis, named twice, sizes that are negative or do not add up, no
// parts, more than max_tasks as spelled.
absl::Status CheckShardSpec(const ShardSpec& spec,
                            const ir::Signature& signature);

// The same, where cuts into 0 parts are into as many as there are places.
ShardSpec ForPlaces(ShardSpec spec, int64_t places);

// Returns the indices at which [0, size) is cut: inside, ascending.
std::vector<int64_t> BoundariesOf(const AxisCut& cut, int64_t size);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_SHARD_SPEC_H_
