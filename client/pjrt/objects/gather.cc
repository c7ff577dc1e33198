#include "client/pjrt/objects/gather.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/status.h"
#include "core/sharding/moves.h"

namespace hawser::pjrt {
namespace {

// The value that all of them are tiles of; null: there is none.
std::shared_ptr<const Together> WholeOf(const std::vector<Held>& parts,
                                        const std::vector<Box>& tiles,
                                        const Shape& whole) {
  const auto& first = parts[0].whole;
  if (first == nullptr || first->value->shape() != whole) return nullptr;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].whole != first || parts[p].box != tiles[p]) return nullptr;
  }
  return first;
}

// The value that the parts make, in this process.
absl::StatusOr<Literal> Join(absl::Span<Buffer* const> parts,
                             const std::vector<Box>& tiles,
                             const Shape& whole) {
  std::vector<Future<Literal>> fetched(parts.size());
  const auto is_first = [&](size_t p) {
    return std::find(tiles.begin(), tiles.begin() + static_cast<ptrdiff_t>(p),
                     tiles[p]) == tiles.begin() + static_cast<ptrdiff_t>(p);
  };
  for (size_t p = 0; p < parts.size(); ++p) {
    if (!is_first(p)) continue;
    HAWSER_ASSIGN_OR_RETURN(fetched[p], parts[p]->Fetch());
  }
  Literal joined;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (!fetched[p].valid()) continue;
    HAWSER_ASSIGN_OR_RETURN(const Literal tile, fetched[p].Await());
    if (tile.shape() == whole) return tile;
    if (!joined.valid()) {
      HAWSER_ASSIGN_OR_RETURN(joined, Literal::Allocate(whole));
    }
    CopyBox(tile, tiles[p], WholeBox(whole), &joined);
  }
  return joined;
}

}  // namespace

Box TileOf(const stablehlo::Tiling& tiling, const Shape& whole, int p) {
  Box box = WholeBox(whole);
  for (size_t axis = 0; axis < box.size(); ++axis) {
    const int64_t size = box[axis].end / tiling.tiles[axis];
    const int64_t begin = tiling.at[static_cast<size_t>(p)][axis] * size;
    box[axis] = {begin, begin + size};
  }
  return box;
}

absl::StatusOr<std::shared_ptr<const Together>> Gather(
    absl::Span<Buffer* const> parts, const stablehlo::Tiling& tiling,
    const Shape& whole, runtime::Client& client) {
  std::vector<Held> held;
  std::vector<Box> tiles;
  for (size_t p = 0; p < parts.size(); ++p) {
    HAWSER_ASSIGN_OR_RETURN(Held now, parts[p]->Get());
    held.push_back(std::move(now));
    tiles.push_back(TileOf(tiling, whole, static_cast<int>(p)));
    if (const Shape tile = ShapeOf(whole, tiles.back());
        parts[p]->shape != tile) {
      return InvalidArgument("part ", p, " is ", parts[p]->shape.ToString(),
                             ", the program takes ", tile.ToString());
    }
  }
  if (auto same = WholeOf(held, tiles, whole)) return same;
  HAWSER_ASSIGN_OR_RETURN(const Literal joined, Join(parts, tiles, whole));
  auto together = std::make_shared<Together>();
  HAWSER_ASSIGN_OR_RETURN(together->value, client.Upload(joined, {}));
  for (size_t p = 0; p < parts.size(); ++p) {
    parts[p]->Set({.whole = together, .box = tiles[p]});
  }
  return std::shared_ptr<const Together>(std::move(together));
}

}  // namespace hawser::pjrt
