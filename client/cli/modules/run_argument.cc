#include "client/cli/modules/run_argument.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/formats/array_file.h"
#include "core/base/status.h"
#include "core/ir/text/parser.h"
#include "core/runtime/dataset.h"
#include "core/runtime/datasets.h"

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

absl::StatusOr<ArrayName> ReadArrayName(absl::string_view word) {
  ArrayName name;
  const size_t bracket = word.rfind('[');
  if (bracket != absl::string_view::npos && absl::EndsWith(word, "]")) {
    const auto rows =
        ParseRowSpan(word.substr(bracket + 1, word.size() - bracket - 2));
    if (rows.ok()) name.rows = *rows;
  }
  const absl::string_view bare =
      name.rows.has_value() ? word.substr(0, bracket) : word;
  const auto [token, array] = SplitToken(bare);
  HAWSER_RETURN_IF_ERROR(CheckDatasetName(token));
  name.token = std::string(token);
  name.array = std::string(array);
  if (!array.empty()) {
    name.whole_name = std::string(word.substr(token.size() + 1));
  }
  return name;
}

}  // namespace

absl::StatusOr<RunArgument> ReadRunArgument(const std::string& word,
                                            const Shape& parameter) {
  if (absl::StartsWith(word, "hw1-") || IsTag(word)) {
    HAWSER_ASSIGN_OR_RETURN(ArrayName name, ReadArrayName(word));
    return name;
  }
  auto value =
      ReadsAsNumber(word) ? ScalarOf(word, parameter) : ReadArray(word);
  HAWSER_RETURN_IF_ERROR(value);
  return *std::move(value);
}

absl::StatusOr<runtime::Argument> Resolve(const RunArgument& argument,
                                          runtime::Client* client) {
  if (const auto* value = std::get_if<Literal>(&argument)) return *value;
  const ArrayName& name = std::get<ArrayName>(argument);
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                          client->datasets().Ask(StatDataset{name.token}, {}));
  const bool rows =
      name.rows.has_value() &&
      (name.whole_name.empty() || info.Find(name.whole_name) == nullptr);
  HAWSER_ASSIGN_OR_RETURN(
      const std::string array,
      ChooseArray(info, rows || name.whole_name.empty() ? name.array
                                                        : name.whole_name));
  if (!rows) return client->datasets().Open({info.token, array}, {});
  return client->datasets().Open(
      {info.token, array, RowsOf(*name.rows, info.Find(array)->shape)}, {});
}

}  // namespace hawser::cli
