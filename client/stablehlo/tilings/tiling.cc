#include "client/stablehlo/tilings/tiling.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/stablehlo/body/body.h"
#include "client/stablehlo/tilings/mesh.h"
#include "client/stablehlo/tilings/scanner.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

// The product, or more than `most`.
int64_t ProductOf(const std::vector<int64_t>& sizes, int64_t most) {
  int64_t product = 1;
  for (const int64_t size : sizes) {
    if (size > most) return most + 1;
    product *= size;
    if (product > most) return most + 1;
  }
  return product;
}

// Returns the place in a box with that number; the last axis is the fastest.
std::vector<int64_t> PlaceOf(int64_t index, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> place(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    place[axis] = index % sizes[axis];
    index /= sizes[axis];
  }
  return place;
}

// Reads "4,2]T(1,0)": numbers from 0 on fill a box, whose axes are then put into
// another order.
absl::StatusOr<std::vector<int64_t>> ReadIota(Scanner* text, int64_t count) {
  HAWSER_ASSIGN_OR_RETURN(const auto sizes, text->Numbers("]"));
  if (ProductOf(sizes, count) != count) return text->Invalid("as many devices");
  std::vector<int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (text->TakeIf("T(")) {
    HAWSER_ASSIGN_OR_RETURN(order, text->Numbers(")"));
    if (order.size() != sizes.size()) return text->Invalid("an order of axes");
    std::vector<int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted[i] != static_cast<int64_t>(i)) {
        return text->Invalid("an order of axes");
      }
    }
  }
  std::vector<int64_t> turned;
  for (const int64_t axis : order) {
    turned.push_back(sizes[static_cast<size_t>(axis)]);
  }
  std::vector<int64_t> devices;
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<int64_t> place = PlaceOf(i, turned);
    std::vector<int64_t> source(sizes.size());
    for (size_t k = 0; k < order.size(); ++k) {
      source[static_cast<size_t>(order[k])] = place[k];
    }
    int64_t device = 0;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      device = device * sizes[axis] + source[axis];
    }
    devices.push_back(device);
  }
  return devices;
}

// The meshes of a file, by their names.
absl::Status AddMeshes(const std::vector<Op>& ops, Meshes* meshes) {
  for (const Op& op : ops) {
    if (op.name == "builtin.module") {
      for (const Region& region : op.regions) {
        HAWSER_RETURN_IF_ERROR(AddMeshes(region.ops, meshes));
      }
    }
    const Attribute* mesh =
        op.name == "sdy.mesh" ? FindAttribute(op, "mesh") : nullptr;
    if (mesh == nullptr) continue;
    HAWSER_ASSIGN_OR_RETURN(Mesh read, ParseMesh(mesh->text));
    meshes->insert_or_assign(std::string(NameOf(op)), std::move(read));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tiling> TilingIn(const Attribute* attributes, size_t i, int rank,
                                const Meshes& meshes, int partitions) {
  if (attributes != nullptr && i < attributes->items.size()) {
    for (const NamedAttribute& field : attributes->items[i]->fields) {
      if (field.name == "sdy.sharding") {
        return ParseMeshSharding(field.value->text, meshes, rank, partitions);
      }
      if (field.name == "mhlo.sharding") {
        return ParseTiling(field.value->text, rank, partitions);
      }
    }
  }
  return Tiling::Whole(rank, partitions);
}

}  // namespace

absl::StatusOr<Shape> TileShape(const Tiling& tiling, const Shape& shape) {
  Dims dims = shape.dims();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] % tiling.tiles[axis] != 0) {
      return Unimplemented(shape.ToString(), " in ", tiling.tiles[axis],
                           " parts that are not equal, along axis ", axis);
    }
    dims[axis] /= tiling.tiles[axis];
  }
  return Shape::Make(shape.dtype(), dims);
}

std::string ToString(const Tiling& tiling) {
  int64_t tiles = 1;
  for (const int64_t count : tiling.tiles) tiles *= count;
  if (tiles == 1) return "{replicated}";
  std::vector<size_t> devices(tiling.at.size());
  std::iota(devices.begin(), devices.end(), 0);
  std::stable_sort(devices.begin(), devices.end(), [&](size_t a, size_t b) {
    return std::lexicographical_compare(
        tiling.at[a].begin(), tiling.at[a].end(), tiling.at[b].begin(),
        tiling.at[b].end());
  });
  const int64_t copies = static_cast<int64_t>(tiling.at.size()) / tiles;
  return absl::StrCat("{devices=[", absl::StrJoin(tiling.tiles, ","),
                      copies == 1 ? "" : absl::StrCat(",", copies), "]",
                      absl::StrJoin(devices, ","),
                      copies == 1 ? "" : " last_tile_dim_replicate", "}");
}

absl::StatusOr<Tiling> ParseTiling(absl::string_view text, int rank,
                                   int partitions) {
  Scanner scanner(text);
  HAWSER_RETURN_IF_ERROR(scanner.Expect("{"));
  if (scanner.TakeIf("replicated")) return Tiling::Whole(rank, partitions);
  if (!scanner.TakeIf("devices=[")) {
    return Unimplemented("sharding ", Quoted(text));
  }
  HAWSER_ASSIGN_OR_RETURN(const auto sizes, scanner.Numbers("]"));
  if (ProductOf(sizes, partitions) != partitions) {
    return scanner.Invalid(absl::StrCat(partitions, " devices"));
  }
  std::vector<int64_t> devices;
  if (scanner.TakeIf("<=[")) {
    HAWSER_ASSIGN_OR_RETURN(devices, ReadIota(&scanner, partitions));
  } else {
    for (int i = 0; i < partitions; ++i) {
      if (i != 0) HAWSER_RETURN_IF_ERROR(scanner.Expect(","));
      HAWSER_ASSIGN_OR_RETURN(const int64_t device, scanner.Number());
      devices.push_back(device);
    }
  }
  const bool copied = scanner.TakeIf("last_tile_dim_replicate");
  if (!copied && scanner.TakeIf("last_tile_dims")) {
    return Unimplemented("sharding ", Quoted(text));
  }
  if (sizes.size() != static_cast<size_t>(rank) + (copied ? 1 : 0)) {
    return scanner.Invalid(absl::StrCat(rank, " axes"));
  }
  HAWSER_RETURN_IF_ERROR(scanner.Expect("}"));
  Tiling tiling = Tiling::Whole(rank, partitions);
  tiling.tiles.assign(sizes.begin(), sizes.begin() + rank);
  for (int64_t i = 0; i < partitions; ++i) {
    const int64_t device = devices[static_cast<size_t>(i)];
    if (device >= partitions) return scanner.Invalid("devices that there are");
    const std::vector<int64_t> place = PlaceOf(i, sizes);
    tiling.at[static_cast<size_t>(device)].assign(place.begin(),
                                                  place.begin() + rank);
  }
  return tiling;
}

absl::StatusOr<FunctionTilings> TilingsOf(const Tree& tree, const Op& function,
                                          int partitions) {
  Meshes meshes;
  HAWSER_RETURN_IF_ERROR(AddMeshes(tree.ops, &meshes));
  FunctionTilings tilings;
  const Attribute* arguments = FindAttribute(function, "arg_attrs");
  const Attribute* results = FindAttribute(function, "res_attrs");
  const Attribute* type = FindAttribute(function, "function_type");
  const std::vector<BlockArgument>& taken = function.regions[0].arguments;
  for (size_t i = 0; i < taken.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(taken[i].type));
    HAWSER_ASSIGN_OR_RETURN(Tiling tiling, TilingIn(arguments, i, shape.rank(),
                                                    meshes, partitions));
    tilings.arguments.push_back(std::move(tiling));
  }
  if (type == nullptr || type->function == nullptr) return tilings;
  for (size_t i = 0; i < type->function->results.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(const Shape shape,
                            ShapeOf(type->function->results[i]));
    HAWSER_ASSIGN_OR_RETURN(
        Tiling tiling, TilingIn(results, i, shape.rank(), meshes, partitions));
    tilings.results.push_back(std::move(tiling));
  }
  return tilings;
}

}  // namespace hawser::stablehlo
