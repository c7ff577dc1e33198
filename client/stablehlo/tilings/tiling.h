// Tiling: how a value lies on the partitions of a program.
#ifndef HAWSER_CLIENT_STABLEHLO_TILINGS_TILING_H_
#define HAWSER_CLIENT_STABLEHLO_TILINGS_TILING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"
#include "core/base/values/shape.h"

namespace hawser::stablehlo {

// Every axis is cut into so many equal tiles, and each partition has one tile;
// several may have the same.
struct Tiling {
  Dims tiles;            // of each axis
  std::vector<Dims> at;  // the place of each partition's tile

  static Tiling Whole(int rank, int partitions) {
    return {Dims(static_cast<size_t>(rank), 1),
            std::vector<Dims>(static_cast<size_t>(partitions),
                              Dims(static_cast<size_t>(rank), 0))};
  }
  friend bool operator==(const Tiling&, const Tiling&) = default;
};

// The shape of a tile. Errors: kUnimplemented for an axis that its tiles do not
// divide.
absl::StatusOr<Shape> TileShape(const Tiling& tiling, const Shape& shape);

// Writes XLA's text: "{devices=[2,1]0,1}", "{replicated}".
std::string ToString(const Tiling& tiling);
// Reads XLA's text. Errors: kInvalidArgument for text that is none, or of
// another number of axes or partitions; kUnimplemented for values that are on
// one partition alone, or that a program handles by hand.
absl::StatusOr<Tiling> ParseTiling(absl::string_view text, int rank,
                                   int partitions);

// The tilings of what a function takes and gives: those that its attributes
// sdy.sharding or mhlo.sharding say; none says whole. In text only attributes
// of arguments are read. Errors: as ParseTiling.
struct FunctionTilings {
  std::vector<Tiling> arguments;
  std::vector<Tiling> results;
};
absl::StatusOr<FunctionTilings> TilingsOf(const Tree& tree, const Op& function,
                                          int partitions);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TILINGS_TILING_H_
