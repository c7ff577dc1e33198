// How scans and sorts are cut up: a region of kBlock has no points; what its
// kernels and the planner must agree on is here, by sizes and the target alone.
#ifndef HAWSER_KERNELS_PLAN_REGION_BLOCK_LAYOUT_H_
#define HAWSER_KERNELS_PLAN_REGION_BLOCK_LAYOUT_H_

#include <cstdint>
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
// shorter; no part is empty. With more than one, what the parts come to and
// what stands before each are in scratch memory: of every input one array of
// [parts, runs], then all of them again.
struct ScanLayout {
  // Steps of a part of a run that a block goes along are a multiple of it.
  static constexpr int64_t kUnit = 2048;
  // Runs of at most so many elements are one thread's, as all are whose
  // neighbours in memory are of other runs.
  static constexpr int64_t kShortRun = 16;

  // In at most so many parts.
  ScanLayout(const Shape& shape, int64_t axis, int64_t most_parts);
  // How many keep a device busy.
  static int64_t PartsFor(const Shape& shape, int64_t axis,
                          int64_t parallel_units);
  bool by_thread() const { return runs.inner > 1 || runs.size <= kShortRun; }
  int64_t ArrayBytes(DType dtype) const;

  RunsOf runs;
  int64_t parts = 1, part_size = 0;
};

// Operands that a sort's comparator looks at, ascending.
std::vector<int> KeysOfComparator(const Computation& comparator);

// Whether the computation compares a function of the elements on the left with
// the same one of those on the right, and what it compares are no floats: then
// it orders all elements, whatever they are.
bool IsOrder(const Computation& comparator);

// A sort: tiles of `tile` elements, ordered in shared memory; of longer runs
// tiles go on in device memory. Sorted parts are merged where the comparator is
// known to be an order; else they go through a sorting network, which moves
// elements whatever a comparator says. In scratch memory are, each one for an
// element of a run, where there are several tiles:
//   places along the axis (u32), of a network once; of merges, where some
//   operand is no key, twice;
//   of merges, each key once.
struct SortLayout {
  // Of runs longer than u32 counts and of keys too wide for shared memory
  // `tile` is 0.
  SortLayout(const Module& module, int computation, const Instruction& sort);

  bool one_tile() const { return padded <= tile; }
  bool has_payload() const { return keys.size() < num_operands; }
  // The merges, or the doublings of a network, that follow the tiles.
  int doublings() const;
  // Where an array of u32, and of a key, begin in scratch memory.
  int64_t PlacesBegin(int side) const { return side * places_bytes; }
  int64_t KeysBegin(size_t key) const { return keys_begin[key]; }

  RunsOf runs;
  size_t num_operands = 0;
  std::vector<int> keys;  // operands
  bool merges = false;
  int64_t padded = 1;        // the power of two not below the size
  int64_t tile = 0;          // elements of a block
  int64_t places_bytes = 0;  // of one array of places
  std::vector<int64_t> keys_begin;
  int64_t scratch_bytes = 0;
};

// Fills in what a region of kBlock has beside its bytes.
void LayOutBlocks(const Module& module, const Instruction& instruction,
                  const Target& target, Region* region);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_BLOCK_LAYOUT_H_
