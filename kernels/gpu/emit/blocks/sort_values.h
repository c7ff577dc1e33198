// SortValues: the arrays a sort goes through and its comparator, as text of one
// kernel.
#ifndef HAWSER_KERNELS_GPU_EMIT_BLOCKS_SORT_VALUES_H_
#define HAWSER_KERNELS_GPU_EMIT_BLOCKS_SORT_VALUES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/gpu/emit/points/region_source.h"
#include "kernels/gpu/emit/text/index_text.h"
#include "kernels/gpu/emit/text/kernel_builder.h"
#include "kernels/plan/region/block_layout.h"

namespace hawser::gpu {

// A sort as an operation on runs.
struct Sort {
  explicit Sort(const RegionSource& source);
  DType dtype(int operand) const;

  const RegionSource& source;
  const Instruction& instruction;
  const Shape& shape;
  const plan::SortLayout layout;
};

// Where elements are between two kernels.
enum class SortSide {
  kOperands,  // as they were given; places are those they stand at
  kResults,   // keys in the results, places in scratch memory
  kScratch,   // of merges: all in scratch memory
};

// Invariant: `kernel` outlives this object. An element of a run is its keys and
// its place, the index it had when the sort began.
class SortValues {
 public:
  SortValues(const Sort& sort, KernelBuilder* kernel);

  // Writes the comparator: "@_less". Errors: kUnimplemented.
  absl::Status Declare();
  const IndexNames& names() const { return names_; }
  std::string Number(int64_t n) const { return names_.Number(n); }
  size_t num_keys() const { return sort_.layout.keys.size(); }

  // `places`, here and below: whether places are needed beside keys.
  // Shared memory: "k0", "k1", ... and "place".
  void DeclareShared(bool places);
  // Reads shared element `index` into new variables: "<name>0", ... and
  // "<name>p".
  void ReadShared(const std::string& name, const std::string& index,
                  bool places);
  void WriteShared(const std::string& name, const std::string& index,
                   bool places);
  // The same in device memory.
  void Read(const std::string& name, SortSide side, Access access,
            const std::string& run, const std::string& at, bool places);
  void Write(const std::string& name, SortSide side, Access access,
             const std::string& run, const std::string& at, bool places);
  // Moves what is no key to where it belongs, `at`, from where it was.
  void WritePayload(const std::string& name, const std::string& run,
                    const std::string& at);
  // Whether a goes before b, which stands behind it.
  std::string Less(const std::string& a, const std::string& b) const;

 private:
  std::string Place(const std::string& run, const std::string& at) const;
  std::string ScratchPlace(const std::string& run, const std::string& at) const;
  std::string Key(size_t key, SortSide side, Access access);
  std::string Places(SortSide side, Access access);

  const Sort& sort_;
  KernelBuilder* const kernel_;
  IndexNames names_;
};

// The kernels. `to`, `from`: where elements are.
// Orders the elements of each tile.
absl::StatusOr<EmittedKernel> EmitTiles(const Sort& sort, SortSide to);
// Of a network: compares what is `distance` apart in each 2 * distance (of the
// second half in reverse order, if `first`), in the results.
absl::StatusOr<EmittedKernel> EmitExchange(const Sort& sort, int64_t distance,
                                           bool first);
// Of a network: the rest of a doubling, within tiles; the last one moves what
// is no key.
absl::StatusOr<EmittedKernel> EmitTileExchanges(const Sort& sort, bool last);
// Merges neighbouring parts of `part` elements; the last one as above.
absl::StatusOr<EmittedKernel> EmitMerge(const Sort& sort, int64_t part,
                                        SortSide from, SortSide to, bool last);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_BLOCKS_SORT_VALUES_H_
