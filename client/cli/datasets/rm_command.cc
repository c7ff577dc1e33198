// hawser rm: datasets go from a server.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/command/command.h"
#include "client/cli/datasets/dataset_text.h"
#include "client/cli/datasets/pin_time.h"
#include "core/runtime/dataset.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kRmCommandFlags[] = {
    {"--untagged", "", "", "instead of TOKENs: those that have no tag"},
    {"--older", "", "TIME", "instead of TOKENs: those not used for so long"},
    {"--dry-run", "-n", "", "prints what would go"},
    kServerFlag,
};

// The flags that choose which datasets go.
struct Choice {
  bool untagged = false;
  absl::Time used_before = absl::InfiniteFuture();

  bool Takes(const DatasetInfo& info) const {
    if (info.pinned_until > absl::Now()) return false;
    if (untagged && !info.tags.empty()) return false;
    if (used_before == absl::InfiniteFuture()) return true;
    // The age of a dataset without a time is not known.
    return info.last_used != absl::InfinitePast() &&
           info.last_used < used_before;
  }
};

// Errors: UsageError.
absl::StatusOr<std::optional<Choice>> ChoiceOf(const CommandLine& line) {
  const bool chooses = line.Has("--untagged") || line.Has("--older");
  if (chooses == line.words().empty()) {
    if (!chooses) return std::optional<Choice>();
    Choice choice{.untagged = line.Has("--untagged")};
    if (line.Has("--older")) {
      HAWSER_ASSIGN_OR_RETURN(const absl::Duration age,
                              ReadAge("--older", line.Get("--older")));
      choice.used_before = absl::Now() - age;
    }
    return std::optional<Choice>(choice);
  }
  return UsageError(chooses ? "rm takes TOKENs or --untagged and --older, not "
                              "both"
                            : "rm needs TOKENs, or --untagged or --older=TIME");
}

// Deletes datasets and says which.
class Removal {
 public:
  Removal(const Invocation& invocation, runtime::Client* client)
      : invocation_(invocation), client_(*client) {}

  // Deletes a dataset by its token or a tag; with a choice, only if that still
  // takes it. Errors: the server cannot be reached. Others are kept for the
  // end.
  absl::Status Take(const std::string& name,
                    const std::optional<Choice>& choice) {
    const absl::StatusOr<bool> gone = Delete(name, choice);
    const absl::Status& status = gone.status();
    if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
      return status;
    }
    if (gone.ok()) {
      if (!*gone) return absl::OkStatus();
      deleted_.push_back(name);
      if (choice.has_value()) absl::StrAppend(&text_, name, "\n");
      return absl::OkStatus();
    }
    *invocation_.environment.err << "hawser: " << status.message() << "\n";
    failed_.push_back(
        Json::object({{"token", name},
                      {"code", absl::StatusCodeToString(status.code())},
                      {"message", status.message()}}));
    return absl::OkStatus();
  }
  ExitCode Finish() {
    const ExitCode code = failed_.empty() ? kOk : kFailed;
    invocation_.Print(text_, Json::object({{"deleted", std::move(deleted_)},
                                           {"failed", std::move(failed_)}}));
    return code;
  }

 private:
  // False: it is no longer what was chosen.
  absl::StatusOr<bool> Delete(const std::string& name,
                              const std::optional<Choice>& choice) {
    HAWSER_ASSIGN_OR_RETURN(const std::string token,
                            TokenNamed(name, &client_));
    if (choice.has_value()) {
      const auto now = client_.datasets().Ask(StatDataset{token}, {});
      if (absl::IsNotFound(now.status())) return false;
      HAWSER_RETURN_IF_ERROR(now);
      if (!choice->Takes(*now)) return false;
    }
    if (invocation_.line.Has("--dry-run")) return true;
    HAWSER_RETURN_IF_ERROR(
        client_.datasets().Ask(DeleteDataset{token}, {}).status());
    return true;
  }

  const Invocation& invocation_;
  runtime::Client& client_;
  std::string text_;
  Json deleted_ = Json::array(), failed_ = Json::array();
};

absl::StatusOr<ExitCode> RunRm(const Invocation& invocation) {
  HAWSER_ASSIGN_OR_RETURN(const auto choice, ChoiceOf(invocation.line));
  std::vector<std::string> names = invocation.line.words();
  // A malformed name is refused before anything is deleted.
  for (const std::string& name : names) {
    HAWSER_RETURN_IF_ERROR(CheckDatasetName(name));
  }
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  if (choice.has_value()) {
    HAWSER_RETURN_IF_ERROR(
        EachDataset(client.get(), {}, [&](const DatasetInfo& info) {
          if (choice->Takes(info)) names.push_back(info.token);
        }));
  }
  Removal removal(invocation, client.get());
  for (const std::string& name : names) {
    HAWSER_RETURN_IF_ERROR(removal.Take(name, choice));
  }
  return removal.Finish();
}

}  // namespace

extern constinit const Command kRmCommand = {
    .name = "rm",
    .arguments = "TOKEN... | --untagged --older=TIME",
    .summary = "delete datasets from the server",
    .description =
        "Deletes your datasets from the server, in memory and on disk. Bytes "
        "that\nanother dataset holds too stay for that one; programs that run "
        "on a dataset\nkeep it until they end. Goes on after a token that is "
        "not there, and then\nexits with 1.\n\n"
        "Without TOKENs --untagged takes those that have no tag, --older=TIME "
        "(90s, 36h,\n7d) those that were not put, named or read for so long, "
        "both together those of\nwhich both is true; pinned ones stay. Prints "
        "their tokens.\n\n"
        "  hawser rm hw1-... @old\n"
        "  hawser rm --untagged --older=7d\n"
        "  hawser ls hw1-ab | xargs hawser rm\n",
    .flags = kRmCommandFlags,
    .words = {0, kMany},
    .run = RunRm,
};

}  // namespace hawser::cli
