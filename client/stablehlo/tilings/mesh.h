// Mesh: Shardy's description of where parts lie.
#ifndef HAWSER_CLIENT_STABLEHLO_TILINGS_MESH_H_
#define HAWSER_CLIENT_STABLEHLO_TILINGS_MESH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tilings/tiling.h"

namespace hawser::stablehlo {

// Devices in rows along named axes.
struct Mesh {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  // The partition at each place, the last axis the fastest; empty: in order.
  std::vector<int64_t> devices;
};
using Meshes = absl::flat_hash_map<std::string, Mesh>;

// Reads "<["x"=2, "y"=4], device_ids=[3, ...]>"; "mesh" may stand in front.
// Errors: kInvalidArgument.
absl::StatusOr<Mesh> ParseMesh(absl::string_view text);

// Reads "#sdy.sharding<@mesh, [{"x", ?}, {"y":(1)2}], replicated={}>", whose mesh
// may stand in place. Errors: as ParseTiling.
absl::StatusOr<Tiling> ParseMeshSharding(absl::string_view text,
                                         const Meshes& meshes, int rank,
                                         int partitions);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TILINGS_MESH_H_
