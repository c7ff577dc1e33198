// The header of a safetensors file: JSON that says where each array lies.
#ifndef HAWSER_CLIENT_FORMATS_SAFETENSORS_HEADER_H_
#define HAWSER_CLIENT_FORMATS_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/shape.h"

namespace hawser {

// The most bytes of JSON that a file may have, as in the reference reader.
inline constexpr int64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsEntry {
  std::string name;
  Shape shape;
  int64_t begin = 0;  // its bytes [begin, end) after the header
  int64_t end = 0;
};

// Reads the JSON. The entries come back in the order of their bytes, which
// begin at 0 and follow each other without gap or overlap; each is as long as
// its dtype and shape say. Names are distinct. "__metadata__" is checked and
// left out.
// Errors: kInvalidArgument naming array and field.
absl::StatusOr<std::vector<SafetensorsEntry>> ParseSafetensorsHeader(
    absl::string_view json);

// The JSON of these entries, in this order, with blanks after it up to a
// multiple of 8 bytes. Errors: kInvalidArgument for a name that is not
// printable ASCII or is "__metadata__".
absl::StatusOr<std::string> SafetensorsHeaderOf(
    absl::Span<const SafetensorsEntry> entries);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_SAFETENSORS_HEADER_H_
