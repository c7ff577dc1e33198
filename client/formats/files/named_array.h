// Arrays of a file, with names where its format has them.
#ifndef HAWSER_CLIENT_FORMATS_FILES_NAMED_ARRAY_H_
#define HAWSER_CLIENT_FORMATS_FILES_NAMED_ARRAY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/values/literal.h"

namespace hawser {

struct NamedArray {
  std::string name;  // "" for the array of a format without names
  Literal value;
};
// In the order of the file; the names are distinct.
using NamedArrays = std::vector<NamedArray>;

// One array of a file that is open.
struct ArrayReader {
  int64_t bytes = 0;  // of its elements, to some bytes of a header
  bool packed = false;  // its elements take memory once it is read
  // Reads it, as often as it is called; thread-safe. Errors: those of reading
  // the file.
  std::function<absl::StatusOr<NamedArray>()> read;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_NAMED_ARRAY_H_
