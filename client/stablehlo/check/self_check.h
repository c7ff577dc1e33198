// Programs that check themselves, run on any client.
#ifndef HAWSER_CLIENT_STABLEHLO_CHECK_SELF_CHECK_H_
#define HAWSER_CLIENT_STABLEHLO_CHECK_SELF_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/lower/missing.h"
#include "core/runtime/client.h"

namespace hawser::stablehlo {

// The outcome of a program's checks.
struct SelfCheck {
  enum Outcome : uint8_t { kPassed, kLeftOut, kFailed };
  Outcome outcome = kPassed;
  // If kLeftOut: what the program needs, or what the client refused as missing.
  std::vector<std::string> missing;
  // If kFailed: "main: 9:5: f32 element 3 differs ...". If kLeftOut: the whole
  // refusal.
  std::string what;
  int checks = 0;  // that were made
};

// Reads a program in either form and runs each of its functions that takes nothing and has
// checks, compiled with strict numerics. A program without such a function has
// failed, and so has one that cannot be read.
SelfCheck RunSelfCheck(absl::string_view program, runtime::Client& client);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_CHECK_SELF_CHECK_H_
