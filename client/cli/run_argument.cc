#include "client/cli/run_argument.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/dataset_text.h"
#include "client/formats/array_file.h"
#include "core/base/status.h"
#include "core/ir/parser.h"

namespace hawser::cli {
namespace {

bool ReadsAsNumber(const std::string& word) {
  for (const DType dtype : {DType::kF64, DType::kBool, DType::kC128}) {
    if (ParseScalar(word, dtype).ok()) return true;
  }
  return false;
}

absl::StatusOr<Literal> ScalarOf(const std::string& word,
                                 const Shape& parameter) {
  if (!parameter.is_scalar()) {
    return InvalidArgument("is a scalar, the parameter is ",
                           parameter.ToString());
  }
  auto value = ParseScalar(word, parameter.dtype());
  if (value.ok()) return value;
  return InvalidArgument("is not a value of the parameter's dtype, ",
                         DTypeName(parameter.dtype()));
}

}  // namespace

absl::StatusOr<RunArgument> ReadRunArgument(const std::string& word,
                                            const Shape& parameter) {
  if (absl::StartsWith(word, "hw1-")) {
    const auto [token, array] = SplitToken(word);
    HAWSER_RETURN_IF_ERROR(ParseToken(token));
    return ArrayName{std::string(token), std::string(array)};
  }
  auto value = ReadsAsNumber(word) ? ScalarOf(word, parameter)
                                   : ReadArray(word);
  HAWSER_RETURN_IF_ERROR(value);
  return *std::move(value);
}

absl::StatusOr<runtime::Argument> Resolve(const RunArgument& argument,
                                          runtime::Client* client) {
  if (const auto* value = std::get_if<Literal>(&argument)) return *value;
  const ArrayName& name = std::get<ArrayName>(argument);
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                          client->StatDataset(name.token, {}));
  HAWSER_ASSIGN_OR_RETURN(const std::string array,
                          ChooseArray(info, name.array));
  return client->DatasetArray(name.token, array, {});
}

}  // namespace hawser::cli
