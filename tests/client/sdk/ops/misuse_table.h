// One right use of every SDK function, and what it refuses.
#ifndef HAWSER_TESTS_CLIENT_SDK_OPS_MISUSE_TABLE_H_
#define HAWSER_TESTS_CLIENT_SDK_OPS_MISUSE_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/sdk/functions/table/function_table.h"
#include "client/sdk/tensor.h"
#include "core/ir/attributes.h"

namespace hawser {

// Values that some function refuses, by name.
std::vector<std::pair<std::string, Tensor>> OddValues();

struct Use {
  absl::string_view function;
  std::vector<FunctionArgument> arguments;
  Attributes attributes = {};
  // For each argument the odd values that it refuses in place of the right one.
  std::vector<std::string> refused = {};
};

std::vector<Use> Uses();

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_SDK_OPS_MISUSE_TABLE_H_
