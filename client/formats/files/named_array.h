// Arrays of a file, with names where its format has them.
#ifndef HAWSER_CLIENT_FORMATS_FILES_NAMED_ARRAY_H_
#define HAWSER_CLIENT_FORMATS_FILES_NAMED_ARRAY_H_

#include <string>
#include <vector>

#include "core/base/values/literal.h"

namespace hawser {

struct NamedArray {
  std::string name;  // "" for the array of a format without names
  Literal value;
};
// In the order of the file; the names are distinct.
using NamedArrays = std::vector<NamedArray>;

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_NAMED_ARRAY_H_
