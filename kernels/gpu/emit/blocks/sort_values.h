// SortValues: the arrays a sort goes through and its comparator, as text of one
// kernel.
#ifndef HAWSER_KERNELS_GPU_EMIT_BLOCKS_SORT_VALUES_H_
#define HAWSER_KERNELS_GPU_EMIT_BLOCKS_SORT_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/gpu/emit/points/region_source.h"
#include "kernels/gpu/emit/text/index_text.h"
#include "kernels/gpu/emit/text/kernel_builder.h"
#include "kernels/plan/region/block_layout.h"

namespace hawser::gpu {

// A thread for each digit, in so many warps.
inline constexpr int64_t kDigits = plan::SortLayout::kDigits;
inline constexpr int64_t kWarps = kDigits / 32;

// A sort as an operation on runs.
struct Sort {
  explicit Sort(const RegionSource& source);
  DType dtype(int operand) const;
  const Computation& comparator() const;

  const RegionSource& source;
  const Instruction& instruction;
  const Shape& shape;
  const plan::SortLayout layout;
};

// The memory that elements are in between two kernels.
enum class SortSide {
  kOperands,  // as they were given; places are those they stand at
  kResults,   // what is carried in the results, places in scratch memory
  kScratch,   // of digits: all in scratch memory
};

struct SharedArray {
  std::string name, type;
};

// Invariant: `kernel` outlives this object. An element of a run is what is
// carried, keys first, and its place, the index it had when the sort began.
class SortValues {
 public:
  SortValues(const Sort& sort, KernelBuilder* kernel);

  // Writes the comparator: "@_less". Errors: kUnimplemented.
  absl::Status DeclareLess();
  // For a sort by digits: writes what keys are ordered by: "@_bits". Errors: as
  // above.
  absl::Status DeclareBits();
  const IndexNames& names() const { return names_; }
  std::string Number(int64_t n) const { return names_.Number(n); }
  size_t num_carried() const { return sort_.layout.carried.size(); }

  // `places`, here and below: whether places are needed besides what is
  // carried. Shared memory: "k0", "k1", ... and "place".
  void DeclareShared(int64_t elements, bool places);
  // Reads shared element `index` into new variables: "<name>0", ... and
  // "<name>p".
  void ReadShared(const std::string& name, const std::string& index,
                  bool places);
  void WriteShared(const std::string& name, const std::string& index,
                   bool places);
  void ReadSharedKeys(const std::string& name, const std::string& index);
  std::vector<SharedArray> SharedArrays(bool places) const;
  // The same in device memory. Declares where element `at` stands: pointers
  // "from0", ..., of keys alone or of all.
  void DeclareFrom(SortSide side, const std::string& run, const std::string& at,
                   bool keys, bool places);
  // Reads what stands there and `by` elements on, an expression.
  void ReadFrom(const std::string& name, const std::string& by, bool keys,
                bool places);
  void Read(const std::string& name, SortSide side, Access access,
            const std::string& run, const std::string& at, bool places);
  void Write(const std::string& name, SortSide side, Access access,
             const std::string& run, const std::string& at, bool places);
  // Moves what is not carried to where it belongs, `at`, from where it was.
  void WritePayload(const std::string& name, const std::string& run,
                    const std::string& at);
  // Writes whether a goes before b, which stands after it.
  std::string Less(const std::string& a, const std::string& b) const;
  // The unsigned integer that the element is ordered by.
  std::string Bits(const std::string& name) const;

 private:
  DType CarriedType(size_t k) const {
    return sort_.dtype(sort_.layout.carried[k]);
  }
  void ReadSharedFirst(size_t count, const std::string& name,
                       const std::string& index);
  size_t NumRead(bool keys) const {
    return keys ? sort_.layout.keys.size() : num_carried();
  }
  std::string Place(const std::string& run, const std::string& at) const;
  std::string ScratchPlace(const std::string& run, const std::string& at) const;
  std::string Carried(size_t k, SortSide side, Access access);
  std::string Places(SortSide side, Access access);

  const Sort& sort_;
  KernelBuilder* const kernel_;
  IndexNames names_;
  // DeclareFrom sets these: how far neighbours of a run are apart, and whether
  // places are those they stand at.
  int64_t stride_ = 1;
  bool counts_ = false;
};

// The kernels of a network.
// Orders the elements of each tile; of one tile a run moves what is no key.
absl::StatusOr<EmittedKernel> EmitTiles(const Sort& sort);
// Compares what is `distance` apart in each 2 * distance (of the second half in
// reverse order, if `first`), in the results.
absl::StatusOr<EmittedKernel> EmitExchange(const Sort& sort, int64_t distance,
                                           bool first);
// The rest of a doubling, within tiles; the last one moves what is no key.
absl::StatusOr<EmittedKernel> EmitTileExchanges(const Sort& sort, bool last);

// The kernels of a sort by digits.
// All of it, where a run is one tile.
absl::StatusOr<EmittedKernel> EmitDigitTiles(const Sort& sort);
// These work on one digit, `number` from the lowest; `from`, `to`: where
// elements are. Counts what each tile has of its values;
absl::StatusOr<EmittedKernel> EmitDigitCounts(const Sort& sort, int number,
                                              SortSide from);
// adds the counts up, where SortLayout::sums_apart;
absl::StatusOr<EmittedKernel> EmitDigitSums(const Sort& sort);
// and moves elements in their order. The last one moves what is not carried.
absl::StatusOr<EmittedKernel> EmitDigitMoves(const Sort& sort, int number,
                                             SortSide from, SortSide to);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_BLOCKS_SORT_VALUES_H_
