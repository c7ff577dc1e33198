// The layouts that cut scans and sorts up: a region of kBlock has no points;
// what its kernels and the planner must agree on is here, by sizes and the
// target alone.
#ifndef HAWSER_KERNELS_PLAN_REGION_BLOCK_LAYOUT_H_
#define HAWSER_KERNELS_PLAN_REGION_BLOCK_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/module.h"
#include "kernels/plan/region/region.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// The axis that an op goes along and what is around it: element (o, s, i) of
// [outer, size, inner] stands at (o * size + s) * inner + i. A run is one (o,
// i).
struct RunsOf {
  RunsOf(const Shape& shape, int64_t axis);
  int64_t runs() const { return outer * inner; }

  int64_t outer = 1, size = 1, inner = 1;
};

// A scan: each run in `parts` parts of `part_size` elements, the last one maybe
// shorter; no part is empty. If there is more than one, the totals of the parts
// and what stands before each are in scratch memory: for every input one array
// of [parts, runs], then all of them again.
struct ScanLayout {
  // Steps of a part of a run that a block goes along are a multiple of it.
  static constexpr int64_t kUnit = 2048;
  // Runs of at most so many elements are one thread's, as all are whose
  // neighbours in memory are of other runs.
  static constexpr int64_t kShortRun = 16;

  // In at most so many parts.
  ScanLayout(const Shape& shape, int64_t axis, int64_t most_parts);
  // Returns how many keep a device busy.
  static int64_t PartsFor(const Shape& shape, int64_t axis,
                          int64_t parallel_units);
  bool by_thread() const { return runs.inner > 1 || runs.size <= kShortRun; }
  int64_t ArrayBytes(DType dtype) const;

  RunsOf runs;
  int64_t parts = 1, part_size = 0;
};

// Operands that a sort's comparator looks at, ascending.
std::vector<int> KeysOfComparator(const Computation& comparator);

// A comparator that compares an integer, or a truth, that it makes of the
// elements on the left with the same one of those on the right: it orders all
// elements, whatever they are.
struct SortOrder {
  ValueId image = 0;  // of the comparator: the one it makes
  bool descending = false;
};
// Returns nullopt for comparators of any other form.
std::optional<SortOrder> OrderOfComparator(const Computation& comparator);

// A sort. It goes by digits (a radix sort) if the comparator is a SortOrder and
// runs are not short: a run that fits is a block's, in shared memory; others go
// through device memory, once for each digit of the image. If not, a network
// moves elements whatever a comparator says: tiles in shared memory, longer
// runs then in device memory.
// In scratch memory are, where a run has several tiles: places along the axis
// (u32), where some operand is not carried; and of digits, all that is carried,
// once, and how many elements of each digit each tile has.
struct SortLayout {
  // Digits have so many values, and the threads of a block are as many.
  static constexpr int64_t kDigits = 256;
  static constexpr int kDigitBits = 8;

  // `tile` is 0 for runs longer than u32 counts and for keys too wide for
  // shared memory.
  SortLayout(const Module& module, int computation, const Instruction& sort);

  bool by_digits() const { return passes > 0; }
  bool one_tile() const { return padded <= tile; }
  // True if some operand moves once, at the end, to where its place says.
  bool has_payload() const { return carried.size() < num_operands; }
  // Tiles of a run of several.
  int64_t tiles() const { return (runs.size + tile - 1) / tile; }
  // True if a launch of its own adds up what the tiles have of each digit; if
  // there are few tiles, each block does.
  bool sums_apart() const { return tiles() > kFewTiles; }
  // The doublings of a network that follow its tiles.
  int doublings() const;
  int launches() const;
  // Return where an array of u32, and of what is carried, begin in scratch
  // memory.
  int64_t PlacesBegin(int side) const { return side * places_bytes; }
  int64_t CarriedBegin(size_t k) const { return carried_begin[k]; }

  RunsOf runs;
  size_t num_operands = 0;
  std::vector<int> keys;     // operands
  std::vector<int> carried;  // with every step: the keys, then others
  SortOrder order;           // of digits
  int passes = 0;            // digits of the image
  int64_t padded = 1;        // the power of two not below the size
  int64_t tile = 0;          // elements of a block
  int64_t places_bytes = 0;  // of one array of places
  std::vector<int64_t> carried_begin;
  // Offsets of u32 [runs, digits, tiles] and [runs, digits], in a sort by
  // digits.
  int64_t counts_begin = 0, totals_begin = 0;
  int64_t scratch_bytes = 0;

 private:
  static constexpr int64_t kFewTiles = 32;

  int64_t BytesOfCarried(const Computation& c, const Instruction& sort) const;
  void TryDigits(const Computation& c, const Instruction& sort,
                 const Computation& comparator);
  void LayOutScratch(const Computation& c, const Instruction& sort);
};

// Fills in what a region of kBlock has besides its bytes.
void LayOutBlocks(const Module& module, const Instruction& instruction,
                  const Target& target, Region* region);

// Returns by instruction of c, whose regions these are: for a sort, how many
// entries of its axis, from the first on, are all that is read of its results.
// Empty where nothing is sorted.
std::vector<int64_t> FindWanted(const Computation& c, const Regions& regions);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_BLOCK_LAYOUT_H_
