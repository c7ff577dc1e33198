// What `hawser run --arg` may name: a file, a dataset's array or a number.
#ifndef HAWSER_CLIENT_CLI_MODULES_RUN_ARGUMENT_H_
#define HAWSER_CLIENT_CLI_MODULES_RUN_ARGUMENT_H_

#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "client/cli/datasets/dataset_text.h"
#include "core/base/literal.h"
#include "core/runtime/client.h"

namespace hawser::cli {

// TOKEN[:ARRAY] or @TAG[:ARRAY], maybe with rows behind it, "[BEGIN:END]"; not
// looked up yet.
struct ArrayName {
  std::string token;
  std::string array;
  std::optional<RowSpan> rows;
  // The array with the rows as a part of its name, which it may be.
  std::string whole_name;
};
using RunArgument = std::variant<Literal, ArrayName>;

// A word that begins "hw1-" or "@" is an array of a dataset; one that reads as
// a number, a complex number, true or false is a scalar of the parameter's
// dtype; every other is the path of a file with one array ("./3" for one that
// is called like a number). Touches no server.
// Errors: kInvalidArgument for a malformed token, a number that does not fit
// the parameter; those of ReadArray.
absl::StatusOr<RunArgument> ReadRunArgument(const std::string& word,
                                            const Shape& parameter);

// Looks an array up on `client`. Errors: as DatasetArray and DatasetRows.
absl::StatusOr<runtime::Argument> Resolve(const RunArgument& argument,
                                          runtime::Client* client);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_MODULES_RUN_ARGUMENT_H_
