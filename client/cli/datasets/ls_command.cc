// hawser ls: the datasets on a server.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command/command.h"
#include "client/cli/command/quantity.h"
#include "client/cli/datasets/dataset_text.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kLsCommandFlags[] = {
    {"--long", "-l", "", "also size, state, times, arrays and tags"},
    kServerFlag,
};

std::string LongText(const DatasetInfo& info) {
  std::string text = absl::StrFormat(
      "  %10s  %-7s  %-17s  %-17s  %s", ReadableBytes(info.bytes),
      info.durable ? "durable" : "memory", TimeText(info.last_used),
      TimeText(info.pinned_until), ArraysText(info));
  for (const std::string& tag : info.tags) absl::StrAppend(&text, "  ", tag);
  return text;
}

// True if a dataset of the server's answer is listed. The server looks for
// prefixes of tokens; those of tags ("@mn") are looked for here.
bool IsWanted(const DatasetInfo& info, absl::string_view prefix) {
  return !IsTag(prefix) || std::any_of(info.tags.begin(), info.tags.end(),
                                       [&](const std::string& tag) {
                                         return absl::StartsWith(tag, prefix);
                                       });
}

// A line for each dataset, or for each tag that was asked for.
std::string LinesOf(const DatasetInfo& info, absl::string_view prefix,
                    bool with_all) {
  const std::string rest = with_all ? LongText(info) : "";
  if (!IsTag(prefix)) return absl::StrCat(info.token, rest, "\n");
  std::string lines;
  for (const std::string& tag : info.tags) {
    if (!absl::StartsWith(tag, prefix)) continue;
    absl::StrAppend(&lines, tag, "  ", info.token, rest, "\n");
  }
  return lines;
}

absl::StatusOr<ExitCode> RunLs(const Invocation& invocation) {
  const std::vector<std::string>& words = invocation.line.words();
  const std::string prefix = words.empty() ? "" : words[0];
  const DatasetQuery query{.prefix = IsTag(prefix) ? "" : prefix};
  const bool with_all = invocation.line.Has("--long");
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  std::vector<DatasetInfo> listed;
  HAWSER_RETURN_IF_ERROR(
      EachDataset(client.get(), query, [&](const DatasetInfo& info) {
        if (IsWanted(info, prefix)) listed.push_back(info);
      }));
  if (with_all) {  // those used together stay in order
    std::stable_sort(listed.begin(), listed.end(),
                     [](const DatasetInfo& a, const DatasetInfo& b) {
                       return a.last_used > b.last_used;
                     });
  }
  std::string text;
  Json datasets = Json::array();
  for (const DatasetInfo& info : listed) {
    absl::StrAppend(&text, LinesOf(info, prefix, with_all));
    datasets.push_back(DatasetJson(info));
  }
  invocation.Print(text, Json::object({{"datasets", std::move(datasets)}}));
  return kOk;
}

}  // namespace

extern constinit const Command kLsCommand = {
    .name = "ls",
    .arguments = "[PREFIX]",
    .summary = "list your datasets on the server",
    .description =
        "Prints the tokens of your datasets on the server that begin with "
        "PREFIX (all\nof them without one), one a line, in order; with a "
        "PREFIX like @mn the tags\nthat begin so, each with its token. With "
        "-l the last used comes first, and each\nline has also the size, "
        "whether the dataset is on disk there (durable) or only\nin memory, "
        "when it was last used, until when it is pinned, its arrays and its\n"
        "tags.\n\n"
        "  hawser ls\n"
        "  hawser ls hw1-ab -l\n",
    .flags = kLsCommandFlags,
    .words = {0, 1},
    .run = RunLs,
};

}  // namespace hawser::cli
