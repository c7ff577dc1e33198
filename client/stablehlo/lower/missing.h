// Finds all at once what a program needs and hawser lacks.
#ifndef HAWSER_CLIENT_STABLEHLO_LOWER_MISSING_H_
#define HAWSER_CLIENT_STABLEHLO_LOWER_MISSING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/stablehlo/body/functions.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

struct Missing {
  std::string what;             // "stablehlo.sort", "elements of 'i4'"
  int64_t count = 0;            // how often
  const char* where = nullptr;  // first in the text
};

// Returns what `function` and those it calls need, in the order of the text.
// Nothing is lowered for it, so it takes time in proportion to the text.
std::vector<Missing> FindMissing(const Functions& functions,
                                 const Op& function);

// kUnimplemented naming all of them with their lines; OK where there are none.
absl::Status MissingStatus(const Source& source,
                           const std::vector<Missing>& missing);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_LOWER_MISSING_H_
