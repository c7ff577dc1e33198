// OrExit: the value of what may fail, for programs that end when it does.
#ifndef HAWSER_CLIENT_SDK_OR_EXIT_H_
#define HAWSER_CLIENT_SDK_OR_EXIT_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ir/source_location.h"

namespace hawser {
namespace sdk {

[[noreturn]] void ExitFor(const absl::Status& error, SourceLocation where);

}  // namespace sdk

// Returns the value of `result`. If that is an error, it prints the error with
// the line of the call and ends the program with exit code 1, as `return 1` in
// main would. (`*` of an error aborts and names no line.)
//   Literal x = OrExit(ReadNpy("x.npy"));
//   main.cc:7: NOT_FOUND: x.npy: No such file or directory
template <typename T>
T OrExit(absl::StatusOr<T> result,
         SourceLocation where = SourceLocation::Current()) {
  if (!result.ok()) sdk::ExitFor(result.status(), where);
  return *std::move(result);
}
inline void OrExit(const absl::Status& status,
                   SourceLocation where = SourceLocation::Current()) {
  if (!status.ok()) sdk::ExitFor(status, where);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OR_EXIT_H_
