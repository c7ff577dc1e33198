#include "client/stablehlo/tilings/mesh.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "client/stablehlo/tilings/scanner.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

// A part of an axis has `size` places, each of `stride` places of the axis.
struct AxisPart {
  size_t axis = 0;
  int64_t stride = 1;
  int64_t size = 1;
};

absl::StatusOr<std::string> ReadName(Scanner* text) {
  HAWSER_RETURN_IF_ERROR(text->Expect("\""));
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view name, text->Until("\""));
  return std::string(name);
}

absl::StatusOr<Mesh> ReadMesh(Scanner* text) {
  Mesh mesh;
  HAWSER_RETURN_IF_ERROR(text->Expect("<"));
  HAWSER_RETURN_IF_ERROR(text->Expect("["));
  while (!text->TakeIf("]")) {
    if (!mesh.names.empty()) HAWSER_RETURN_IF_ERROR(text->Expect(","));
    HAWSER_ASSIGN_OR_RETURN(std::string name, ReadName(text));
    HAWSER_RETURN_IF_ERROR(text->Expect("="));
    HAWSER_ASSIGN_OR_RETURN(const int64_t size, text->Number());
    if (size < 1) return text->Invalid("an axis of 1 or more");
    mesh.names.push_back(std::move(name));
    mesh.sizes.push_back(size);
  }
  if (text->TakeIf(",")) {
    HAWSER_RETURN_IF_ERROR(text->Expect("device_ids=["));
    HAWSER_ASSIGN_OR_RETURN(mesh.devices, text->Numbers("]"));
  }
  HAWSER_RETURN_IF_ERROR(text->Expect(">"));
  return mesh;
}

// Reads "x", or "x":(before)size, which is the part that has `before` in front.
absl::StatusOr<AxisPart> ReadAxis(Scanner* text, const Mesh& mesh) {
  HAWSER_ASSIGN_OR_RETURN(const std::string name, ReadName(text));
  const auto found = std::find(mesh.names.begin(), mesh.names.end(), name);
  if (found == mesh.names.end()) {
    return text->Invalid(absl::StrCat("an axis of the mesh, not ", name, ","));
  }
  AxisPart part;
  part.axis = static_cast<size_t>(found - mesh.names.begin());
  part.size = mesh.sizes[part.axis];
  if (!text->TakeIf(":(")) return part;
  HAWSER_ASSIGN_OR_RETURN(const int64_t before, text->Number());
  HAWSER_RETURN_IF_ERROR(text->Expect(")"));
  const int64_t whole = part.size;
  HAWSER_ASSIGN_OR_RETURN(part.size, text->Number());
  if (before < 1 || part.size < 1 || before > whole / part.size ||
      whole % (before * part.size) != 0) {
    return text->Invalid("a part that divides the axis");
  }
  part.stride = whole / (before * part.size);
  return part;
}

// Reads "{"x", "y", ?}p1".
absl::StatusOr<std::vector<AxisPart>> ReadDimension(Scanner* text,
                                                    const Mesh& mesh) {
  std::vector<AxisPart> parts;
  HAWSER_RETURN_IF_ERROR(text->Expect("{"));
  while (!text->TakeIf("}")) {
    if (!parts.empty()) HAWSER_RETURN_IF_ERROR(text->Expect(","));
    if (text->TakeIf("?")) continue;
    HAWSER_ASSIGN_OR_RETURN(const AxisPart part, ReadAxis(text, mesh));
    parts.push_back(part);
  }
  if (text->TakeIf("p")) HAWSER_RETURN_IF_ERROR(text->Number().status());
  return parts;
}

// The coordinates of each partition in the mesh.
absl::StatusOr<std::vector<std::vector<int64_t>>> PlacesIn(const Mesh& mesh,
                                                           int partitions) {
  int64_t count = 1;
  for (const int64_t size : mesh.sizes) {
    if (size > partitions / count) count = partitions + 1;
    if (count > partitions) break;
    count *= size;
  }
  // A mesh without axes is one device, or all of them.
  const bool fits = mesh.sizes.empty() || count == partitions;
  if (!fits || (!mesh.devices.empty() &&
                static_cast<int64_t>(mesh.devices.size()) != count)) {
    return InvalidArgument("a mesh of another number of devices than ",
                           partitions, " partitions");
  }
  std::vector<std::vector<int64_t>> places(static_cast<size_t>(partitions));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t device =
        mesh.devices.empty() ? i : mesh.devices[static_cast<size_t>(i)];
    if (device < 0 || device >= partitions) {
      return InvalidArgument("a mesh has device ", device, " of ", partitions);
    }
    std::vector<int64_t>& place = places[static_cast<size_t>(device)];
    place.resize(mesh.sizes.size());
    int64_t rest = i;
    for (size_t axis = mesh.sizes.size(); axis-- > 0;) {
      place[axis] = rest % mesh.sizes[axis];
      rest /= mesh.sizes[axis];
    }
  }
  return places;
}

}  // namespace

absl::StatusOr<Mesh> ParseMesh(absl::string_view text) {
  Scanner scanner(text);
  scanner.TakeIf("#sdy.");
  scanner.TakeIf("mesh");
  return ReadMesh(&scanner);
}

absl::StatusOr<Tiling> ParseMeshSharding(absl::string_view text,
                                         const Meshes& meshes, int rank,
                                         int partitions) {
  Scanner scanner(text);
  HAWSER_RETURN_IF_ERROR(scanner.Expect("#sdy.sharding<"));
  Mesh mesh;
  if (scanner.TakeIf("@")) {
    HAWSER_ASSIGN_OR_RETURN(const absl::string_view name, scanner.Until(","));
    const auto found = meshes.find(std::string(name));
    if (found == meshes.end()) {
      return InvalidArgument("there is no mesh ", Quoted(name));
    }
    mesh = found->second;
  } else {
    scanner.TakeIf("mesh");
    HAWSER_ASSIGN_OR_RETURN(mesh, ReadMesh(&scanner));
    HAWSER_RETURN_IF_ERROR(scanner.Expect(","));
  }
  HAWSER_ASSIGN_OR_RETURN(const auto places, PlacesIn(mesh, partitions));
  Tiling tiling = Tiling::Whole(rank, partitions);
  HAWSER_RETURN_IF_ERROR(scanner.Expect("["));
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != 0) HAWSER_RETURN_IF_ERROR(scanner.Expect(","));
    HAWSER_ASSIGN_OR_RETURN(const auto parts, ReadDimension(&scanner, mesh));
    for (const AxisPart& part : parts) {
      tiling.tiles[axis] *= part.size;
      if (tiling.tiles[axis] > partitions) {
        return scanner.Invalid("axes that cut once");
      }
      for (size_t p = 0; p < places.size(); ++p) {
        const int64_t place =
            places[p].empty() ? 0 : places[p][part.axis] / part.stride;
        tiling.at[p][axis] = tiling.at[p][axis] * part.size + place % part.size;
      }
    }
  }
  HAWSER_RETURN_IF_ERROR(scanner.Expect("]"));
  if (scanner.TakeIf(", unreduced")) {
    return Unimplemented("values that are not reduced yet, ", text);
  }
  return tiling;
}

}  // namespace hawser::stablehlo
