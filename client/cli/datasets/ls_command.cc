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

constexpr Flag kFlags[] = {
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

// Whether a dataset of the server's answer is listed. The server looks for
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
  DatasetQuery query{.prefix = IsTag(prefix) ? "" : prefix};
  const bool with_all = invocation.line.Has("--long");
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  std::string text;
  Json datasets = Json::array();
  for (bool more = true; more;) {
    HAWSER_ASSIGN_OR_RETURN(const DatasetPage page,
                            client->datasets().Ask(query, {}));
    for (const DatasetInfo& info : page.datasets) {
      query.after = info.token;
      if (!IsWanted(info, prefix)) continue;
      absl::StrAppend(&text, LinesOf(info, prefix, with_all));
      datasets.push_back(DatasetJson(info));
    }
    more = page.more;
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
        "-l each line has also the size,\nwhether the dataset is on disk "
        "there (durable) or only in memory, when it was\nlast used, until "
        "when it is pinned, its arrays and its tags.\n\n"
        "  hawser ls\n"
        "  hawser ls hw1-ab -l\n",
    .flags = kFlags,
    .words = {0, 1},
    .run = RunLs,
};

}  // namespace hawser::cli
