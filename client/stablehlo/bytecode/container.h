// Container: the sections of an artifact.
#ifndef HAWSER_CLIENT_STABLEHLO_BYTECODE_CONTAINER_H_
#define HAWSER_CLIENT_STABLEHLO_BYTECODE_CONTAINER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/bytecode/dialects/cursor.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// The numbers of sections, as MLIR has them.
enum class SectionId : uint8_t {
  kStrings,
  kDialects,
  kEntries,  // bytes of attributes and types
  kOffsets,  // where each of them stands
  kOps,
  kResources,
  kResourceOffsets,
  kDialectVersions,
  kProperties,
};
inline constexpr int kSectionIds = 9;

struct Section {
  SectionId id;
  absl::string_view bytes;
};
absl::StatusOr<Section> ReadSection(Cursor* cursor, const Source& source);

// An attribute or type, not decoded.
struct CodedEntry {
  absl::string_view dialect;
  bool is_text = false;  // as MLIR prints it, and a NUL
  absl::string_view bytes;
};

// All views are of the source's bytes, or of strings that the tree keeps.
struct Container {
  uint64_t version = 0;
  absl::string_view producer;
  std::vector<absl::string_view> strings;
  std::vector<absl::string_view> op_names;  // "vhlo.add_v1"
  std::vector<CodedEntry> attributes;
  std::vector<CodedEntry> types;
  std::vector<absl::string_view> properties;
  absl::string_view ops;
};

// Errors: kInvalidArgument for what is no MLIR bytecode; kUnimplemented for a
// version that is newer than 6.
absl::StatusOr<Container> ReadContainer(const Source& source,
                                        TreeStrings* strings);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BYTECODE_CONTAINER_H_
