// hawser stat: what a dataset holds.

#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/command/command.h"
#include "client/cli/command/quantity.h"
#include "client/cli/datasets/dataset_text.h"
#include "core/runtime/dataset.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kStatCommandFlags[] = {kServerFlag};

absl::StatusOr<ExitCode> RunStat(const Invocation& invocation) {
  const std::string& token = invocation.line.words()[0];
  HAWSER_RETURN_IF_ERROR(CheckDatasetName(token));
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  HAWSER_ASSIGN_OR_RETURN(
      const DatasetInfo info,
      client->datasets().Ask(StatDataset{std::string(token)}, {}));
  std::string text = absl::StrCat(
      info.token, "\n  bytes    ", info.bytes, " (", ReadableBytes(info.bytes),
      ")\n  durable  ", info.durable ? "yes" : "no, in memory only", "\n");
  if (info.last_used != absl::InfinitePast()) {
    absl::StrAppend(&text, "  used     ", TimeText(info.last_used), "\n");
  }
  if (info.pinned_until != absl::InfinitePast()) {
    absl::StrAppend(&text, "  pinned   ", TimeText(info.pinned_until), "\n");
  }
  for (const std::string& tag : info.tags) {
    absl::StrAppend(&text, "  tag      ", tag, "\n");
  }
  for (const DatasetInfo::Array& array : info.arrays) {
    absl::StrAppend(&text, "  array    ", array.shape.ToString(),
                    array.name.empty() ? "" : "  ", array.name, "\n");
  }
  invocation.Print(text, DatasetJson(info));
  return kOk;
}

}  // namespace

extern constinit const Command kStatCommand = {
    .name = "stat",
    .arguments = "TOKEN",
    .summary = "what a dataset holds",
    .description =
        "Asks the server for a dataset's size, its arrays with dtype, sizes "
        "and name,\nwhether it survives a restart of the server, when it was "
        "last used, until\nwhen it is pinned, and its tags.\n\n"
        "  hawser stat hw1-...\n"
        "  hawser stat @mnist\n",
    .flags = kStatCommandFlags,
    .words = {1, 1},
    .run = RunStat,
};

}  // namespace hawser::cli
