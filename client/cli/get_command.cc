// hawser get: arrays of a dataset become a file.

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/command.h"
#include "client/cli/dataset_text.h"
#include "client/cli/progress_bar.h"
#include "client/formats/npy.h"
#include "client/formats/safetensors.h"

namespace hawser::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--output", "-o", "FILE", "the npy or .safetensors file to write"},
    {"--rows", "-r", "BEGIN:END", "only these rows, END left out"},
    kServerFlag,
};

absl::StatusOr<Literal> Fetch(const Invocation& invocation,
                              runtime::Client* client, const DatasetInfo& info,
                              const DatasetInfo::Array& array,
                              const std::optional<RowSpan>& rows) {
  HAWSER_ASSIGN_OR_RETURN(
      const auto buffer,
      rows.has_value() ? client->DatasetRows(info.token, array.name,
                                             RowsOf(*rows, array.shape), {})
                       : client->DatasetArray(info.token, array.name, {}));
  ProgressBar bar(invocation.environment.err,
                  invocation.environment.err_is_terminal);
  return buffer->Fetch({.progress = bar.Callback()}).Await();
}

// Which arrays a file can hold: an npy file one, a safetensors file all.
absl::StatusOr<std::vector<DatasetInfo::Array>> Choose(const DatasetInfo& info,
                                                       absl::string_view wanted,
                                                       bool all) {
  if (all && wanted.empty()) return info.arrays;
  HAWSER_ASSIGN_OR_RETURN(const std::string name, ChooseArray(info, wanted));
  return std::vector<DatasetInfo::Array>{*info.Find(name)};
}

void PrintResult(const Invocation& invocation, const std::string& path,
                 const NamedArrays& arrays, bool all) {
  std::string text;
  Json::List list;
  for (const NamedArray& array : arrays) {
    const Shape& shape = array.value.shape();
    absl::StrAppend(&text, path, ": ", shape.ToString(),
                    all && !array.name.empty() ? "  " + array.name : "", "\n");
    Json::Members members = ShapeMembers(shape);
    members.insert(members.begin(), {"name", array.name});
    list.push_back(std::move(members));
  }
  Json::Members result = all ? Json::Members{{"arrays", std::move(list)}}
                             : ShapeMembers(arrays[0].value.shape());
  result.insert(result.begin(), {"path", path});
  invocation.Print(text, std::move(result));
}

absl::StatusOr<ExitCode> RunGet(const Invocation& invocation) {
  const std::string path = invocation.line.Get("--output");
  if (path.empty()) return UsageError("get needs -o FILE");
  const bool safetensors = absl::EndsWithIgnoreCase(path, ".safetensors");
  const auto [name, wanted] = SplitToken(invocation.line.words()[0]);
  std::optional<RowSpan> rows;
  if (invocation.line.Has("--rows")) {
    auto parsed = ParseRowSpan(invocation.line.Get("--rows"));
    if (!parsed.ok()) return UsageError(parsed.status().message());
    rows = *parsed;
  }
  HAWSER_RETURN_IF_ERROR(CheckDatasetName(name));

  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                          client->StatDataset(name, {}));
  HAWSER_ASSIGN_OR_RETURN(const auto chosen, Choose(info, wanted, safetensors));
  NamedArrays arrays;
  for (const DatasetInfo::Array& array : chosen) {
    HAWSER_ASSIGN_OR_RETURN(Literal value,
                            Fetch(invocation, client.get(), info, array, rows));
    arrays.push_back({array.name, std::move(value)});
  }
  HAWSER_RETURN_IF_ERROR(safetensors ? WriteSafetensors(path, arrays)
                                     : WriteNpy(path, arrays[0].value));
  PrintResult(invocation, path, arrays, safetensors);
  return kOk;
}

}  // namespace

constinit const Command kGetCommand = {
    .name = "get",
    .arguments = "TOKEN[:ARRAY]",
    .summary = "write arrays of a dataset to a file",
    .description =
        "Fetches an array of a dataset from the server into an npy file. ARRAY "
        "may be\nleft out where the dataset has only one; where FILE ends in "
        ".safetensors all\narrays go into it then. With --rows only those rows "
        "along the leading axis\ncross the wire; either end may be left "
        "out.\n\n"
        "  hawser get hw1-...:images -o images.npy\n"
        "  hawser get @mnist:images --rows 0:256 -o first.npy\n"
        "  hawser get @mnist -o mnist.safetensors\n",
    .flags = kFlags,
    .words = {1, 1},
    .run = RunGet,
};

}  // namespace hawser::cli
