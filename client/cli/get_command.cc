// hawser get: an array of a dataset becomes an npy file.

#include <optional>

#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/dataset_text.h"
#include "client/cli/progress_bar.h"
#include "client/formats/npy.h"

namespace hawser::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--output", "-o", "FILE", "the npy file to write"},
    {"--rows", "-r", "BEGIN:END", "only these rows, END left out"},
    kServerFlag,
};

absl::StatusOr<ExitCode> RunGet(const Invocation& invocation) {
  const Environment& environment = invocation.environment;
  const std::string path = invocation.line.Get("--output");
  if (path.empty()) return UsageError("get needs -o FILE");
  const auto [token, wanted] = SplitToken(invocation.line.words()[0]);
  std::optional<RowSpan> rows;
  if (invocation.line.Has("--rows")) {
    auto parsed = ParseRowSpan(invocation.line.Get("--rows"));
    if (!parsed.ok()) return UsageError(parsed.status().message());
    rows = *parsed;
  }
  HAWSER_RETURN_IF_ERROR(ParseToken(token));

  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                          client->StatDataset(token, {}));
  HAWSER_ASSIGN_OR_RETURN(const std::string name, ChooseArray(info, wanted));
  HAWSER_ASSIGN_OR_RETURN(
      const auto buffer,
      rows.has_value()
          ? client->DatasetRows(token, name,
                                RowsOf(*rows, info.Find(name)->shape), {})
          : client->DatasetArray(token, name, {}));
  absl::StatusOr<Literal> value;
  {
    ProgressBar bar(environment.err, environment.err_is_terminal);
    value = buffer->Fetch({.progress = bar.Callback()}).Await();
  }
  HAWSER_RETURN_IF_ERROR(value);
  HAWSER_RETURN_IF_ERROR(WriteNpy(path, *value));
  Json::Members result = ShapeMembers(value->shape());
  result.insert(result.begin(), {"path", path});
  invocation.Print(absl::StrCat(path, ": ", value->shape().ToString(), "\n"),
                   result);
  return kOk;
}

}  // namespace

constinit const Command kGetCommand = {
    .name = "get",
    .arguments = "TOKEN[:ARRAY]",
    .summary = "write an array of a dataset to an npy file",
    .description =
        "Fetches an array of a dataset from the server. ARRAY may be left out "
        "where\nthe dataset has only one. With --rows only those rows along "
        "the leading axis\ncross the wire; either end may be left out.\n\n"
        "  hawser get hw1-...:images -o images.npy\n"
        "  hawser get hw1-...:images --rows 0:256 -o first.npy\n",
    .flags = kFlags,
    .words = {1, 1},
    .run = RunGet,
};

}  // namespace hawser::cli
