// hawser tag: names for datasets that may name others later.

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/command/command.h"
#include "client/cli/datasets/dataset_text.h"
#include "core/runtime/dataset.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr absl::string_view kNone = "none";

constexpr Flag kTagCommandFlags[] = {
    {"--expect", "-e", "TOKEN|none", "only if it names this, or nothing, now"},
    {"--delete", "-d", "", "the name goes, the dataset stays"},
    kServerFlag,
};

// Checks the words before anything is sent. Errors: UsageError.
absl::Status CheckLine(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  const size_t wanted = line.Has("--delete") ? 1 : 2;
  if (words.size() != wanted) {
    return UsageError(absl::StrCat(
        "tag takes ", wanted == 1 ? "one @NAME to delete" : "@NAME TOKEN",
        ", got ", words.size(), words.size() == 1 ? " word" : " words"));
  }
  if (const absl::Status tag = CheckTag(words[0]); !tag.ok()) {
    return UsageError(tag.message());
  }
  if (wanted == 2) HAWSER_RETURN_IF_ERROR(CheckDatasetName(words[1]));
  const std::string expected = line.Get("--expect");
  if (!line.Has("--expect") || expected == kNone) return absl::OkStatus();
  return CheckDatasetName(expected);
}

absl::StatusOr<ExitCode> RunTag(const Invocation& invocation) {
  const CommandLine& line = invocation.line;
  HAWSER_RETURN_IF_ERROR(CheckLine(line));
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  DatasetTag tag{.name = line.words()[0]};
  if (!line.Has("--delete")) {
    HAWSER_ASSIGN_OR_RETURN(tag.token,
                            TokenNamed(line.words()[1], client.get()));
  }
  if (const std::string expected = line.Get("--expect"); expected == kNone) {
    tag.expected = "";
  } else if (!expected.empty()) {
    HAWSER_ASSIGN_OR_RETURN(tag.expected, TokenNamed(expected, client.get()));
  }
  HAWSER_RETURN_IF_ERROR(client->datasets().Ask(tag, {}).status());
  invocation.Print(
      "",
      Json::object({{"name", tag.name},
                    {"token", tag.token.empty() ? Json() : Json(tag.token)}}));
  return kOk;
}

}  // namespace

extern constinit const Command kTagCommand = {
    .name = "tag",
    .arguments = "@NAME [TOKEN]",
    .summary = "name a dataset, whatever had that name before",
    .description =
        "Lets @NAME stand for a dataset: every command takes it where it takes "
        "a\ntoken. The name is yours alone and may stand for another dataset "
        "later. With\n--expect it changes only if it stands for that dataset "
        "(none: for nothing)\nnow, so of two who change it at once one fails. "
        "With --delete it goes.\n\n"
        "  hawser tag @mnist hw1-...\n"
        "  hawser tag @mnist hw1-new --expect hw1-old\n"
        "  hawser tag --delete @mnist\n",
    .flags = kTagCommandFlags,
    .words = {1, 2},
    .run = RunTag,
};

}  // namespace hawser::cli
