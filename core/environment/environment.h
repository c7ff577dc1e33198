// The settings of HAWSER_*: which there are, and what is wrong with those set.
#ifndef HAWSER_CLIENT_ENVIRONMENT_ENVIRONMENT_H_
#define HAWSER_CLIENT_ENVIRONMENT_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser {

// A line for each of `variables` ("NAME=value") that begins with HAWSER_ and is
// no setting, with the one that is nearest, or whose value is none it can have.
// Such a value counts as if it was not set.
std::vector<std::string> CheckEnvironment(
    absl::Span<const std::string> variables);
// Puts the lines of this process into the log, once.
void WarnOfEnvironment();
// Returns whether variable `name` of this process is "1".
bool IsSwitchedOn(const char* name);

}  // namespace hawser
#endif  // HAWSER_CLIENT_ENVIRONMENT_ENVIRONMENT_H_
