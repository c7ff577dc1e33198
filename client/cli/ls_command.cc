// hawser ls: the datasets on a server.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command.h"
#include "client/cli/dataset_text.h"
#include "client/cli/quantity.h"

namespace hawser::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--long", "-l", "", "also size, whether on disk, and arrays"},
    kServerFlag,
};

absl::StatusOr<ExitCode> RunLs(const Invocation& invocation) {
  const std::vector<std::string>& words = invocation.line.words();
  DatasetQuery query{.prefix = words.empty() ? "" : words[0]};
  const bool with_all = invocation.line.Has("--long");
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  std::string text;
  Json::List datasets;
  for (bool more = true; more;) {
    HAWSER_ASSIGN_OR_RETURN(const DatasetPage page,
                            client->ListDatasets(query, {}));
    for (const DatasetInfo& info : page.datasets) {
      absl::StrAppend(&text, info.token);
      if (with_all) {
        absl::StrAppendFormat(
            &text, "  %10s  %-7s  %s", ReadableBytes(info.bytes),
            info.durable ? "durable" : "memory", ArraysText(info));
      }
      absl::StrAppend(&text, "\n");
      datasets.push_back(DatasetMembers(info));
      query.after = info.token;
    }
    more = page.more;
  }
  invocation.Print(text, Json::Members{{"datasets", std::move(datasets)}});
  return kOk;
}

}  // namespace

constinit const Command kLsCommand = {
    .name = "ls",
    .arguments = "[PREFIX]",
    .summary = "list your datasets on the server",
    .description =
        "Prints the tokens of your datasets on the server that begin with "
        "PREFIX (all\nof them without one), one a line, in order. With -l "
        "each line has also the\nsize, whether the dataset is on disk there "
        "(durable) or only in memory, and\nits arrays.\n\n"
        "  hawser ls\n"
        "  hawser ls hw1-ab -l\n",
    .flags = kFlags,
    .words = {0, 1},
    .run = RunLs,
};

}  // namespace hawser::cli
