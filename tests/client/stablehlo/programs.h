// Small programs for tests, and what comes of them.
#ifndef HAWSER_TESTS_CLIENT_STABLEHLO_PROGRAMS_H_
#define HAWSER_TESTS_CLIENT_STABLEHLO_PROGRAMS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/stablehlo.h"
#include "core/ir/text/printer.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {

// A function main with these arguments, results and ops.
inline std::string MainOf(absl::string_view arguments,
                          absl::string_view results, absl::string_view ops) {
  return absl::StrCat("func.func @main(", arguments, ") -> (", results, ") {\n",
                      ops, "\n}\n");
}

// The module as text, or the error.
inline std::string LoweredText(const std::string& program) {
  const auto module = ReadProgram(program);
  return module.ok() ? Print(module->module)
                     : absl::StrCat("ERROR ", module.status().ToString());
}

}  // namespace hawser::stablehlo
#endif  // HAWSER_TESTS_CLIENT_STABLEHLO_PROGRAMS_H_
