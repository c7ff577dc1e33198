// RunArgument: `hawser run --arg` may name a file, a dataset's array or a
// number.
#ifndef HAWSER_CLIENT_CLI_MODULES_RUN_ARGUMENT_H_
#define HAWSER_CLIENT_CLI_MODULES_RUN_ARGUMENT_H_

#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "client/cli/datasets/dataset_text.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"

namespace hawser::cli {

// TOKEN[:ARRAY] or @TAG[:ARRAY], with or without rows after it, "[BEGIN:END]".
// It has not been looked up.
struct ArrayName {
  std::string token;
  std::string array;
  std::optional<RowSpan> rows;
  // The name with "[BEGIN:END]" as a part of it, since an array may be called
  // so.
  std::string whole_name;
};
using RunArgument = std::variant<Literal, ArrayName>;

// Reads a word of the command line; asks no server. A word that begins with
// "hw1-" or "@" is an array of a dataset; a number, a complex number, true or
// false is a scalar of the parameter's dtype; every other word is the path of a
// file with one array ("./3" for a file that is called like a number).
// Errors: kInvalidArgument for a malformed token, a number that does not fit
// the parameter; those of ReadArray.
absl::StatusOr<RunArgument> ReadRunArgument(const std::string& word,
                                            const Shape& parameter);

// The argument for `client`, which is asked about an array of a dataset.
// Errors: as DatasetArray and DatasetRows.
absl::StatusOr<runtime::Argument> Resolve(const RunArgument& argument,
                                          runtime::Client* client);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_MODULES_RUN_ARGUMENT_H_
