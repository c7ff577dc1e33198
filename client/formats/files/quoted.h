// Text of a file, as errors show it.
#ifndef HAWSER_CLIENT_FORMATS_FILES_QUOTED_H_
#define HAWSER_CLIENT_FORMATS_FILES_QUOTED_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hawser {

// Returns at most 80 bytes of the text in quotes; bytes that cannot be printed
// are written as \x01.
std::string Quoted(absl::string_view text);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_QUOTED_H_
