// A program that uses everything of the wire but bulk streams.
#ifndef HAWSER_TESTS_WIRE_PROGRAM_H_
#define HAWSER_TESTS_WIRE_PROGRAM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"

namespace hawser {

// Runs it, one request after the other, and returns every value it fetches. All
// clients give the same. A fixture is a recording of it: when it changes, old
// fixtures keep to the program of their time, and this gets another name.
absl::StatusOr<std::vector<Literal>> RunWireProgram(runtime::Client& client);

}  // namespace hawser
#endif  // HAWSER_TESTS_WIRE_PROGRAM_H_
