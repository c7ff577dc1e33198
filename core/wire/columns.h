// The columns of a ModuleProto, read straight off the wire. Protobuf's parser
// would allocate before anything can be counted (8 million empty strings fit
// into 16 MiB); this reader counts first and leaves texts where they are.
#ifndef HAWSER_CORE_WIRE_COLUMNS_H_
#define HAWSER_CORE_WIRE_COLUMNS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ir/verifier.h"

namespace hawser {

// The memory that a module may still take, columns and decoded form together.
// In proportion to the bytes an end accepts, so that no table of small entries
// that refer to large ones can grow beyond it.
class MemoryBudget {
 public:
  explicit MemoryBudget(const ModuleLimits& limits)
      : limit_(3 * std::min(limits.bytes, int64_t{1} << 60)), left_(limit_) {}
  // Before the memory is asked for. Errors: kResourceExhausted.
  absl::Status Take(int64_t bytes);

 private:
  int64_t limit_;
  int64_t left_;
};

// One member per field of ModuleProto; see there. Texts point into the bytes.
struct ModuleColumns {
  using Numbers = std::vector<uint32_t>;
  using Texts = std::vector<absl::string_view>;

  absl::string_view name;
  uint32_t opset = 0;
  Texts strings;
  Numbers shape_dtype, shape_rank;
  std::vector<uint64_t> shape_dims;
  Texts computation_name;
  Numbers computation_instructions, computation_results, results;
  Numbers op, num_operands, num_results, num_called, num_attributes;
  Numbers operands, result_shape, called;
  Numbers attribute_name, attribute_kind, attribute_size;
  std::vector<int64_t> attribute_values;
  Texts blobs;
};

// The longest name or string in a module.
inline constexpr int64_t kMaxTextBytes = 4096;

// Fields this end does not know are skipped. Errors: kResourceExhausted for
// more entries than `limits` allow; kInvalidArgument naming the column for
// bytes that are no message, a number that is too large, a text that is not
// UTF-8.
absl::StatusOr<ModuleColumns> ReadColumns(absl::string_view bytes,
                                          const ModuleLimits& limits,
                                          MemoryBudget* budget);

// Checks that every count column adds up to exactly the length of what it
// counts, so that a reader of the columns need not look for their ends. Errors:
// kInvalidArgument naming both columns.
absl::Status CheckLengths(const ModuleColumns& columns);

// A text from the wire for an error message: escaped, quoted, cut to 64 bytes.
std::string QuotedWireText(absl::string_view text);

}  // namespace hawser
#endif  // HAWSER_CORE_WIRE_COLUMNS_H_
