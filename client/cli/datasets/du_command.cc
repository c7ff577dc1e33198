// hawser du: what a server keeps for the caller, and may keep.

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command/command.h"
#include "client/cli/command/quantity.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kDuCommandFlags[] = {kServerFlag};

// " of 10.0 GiB (12%)"; nothing without a limit.
std::string OfLimit(int64_t used, int64_t limit,
                    const std::string& limit_text) {
  if (limit == 0) return "";
  return absl::StrFormat(
      " of %s (%.0f%%)", limit_text,
      100.0 * static_cast<double>(used) / static_cast<double>(limit));
}

// The line that reports damaged files; empty without any.
std::string DamageText(const DatasetUsage& usage) {
  if (usage.bad_files == 0) return "";
  return absl::StrCat("damage    ", usage.bad_files,
                      " bad files on the server since it started",
                      usage.lost_bytes == 0
                          ? ""
                          : absl::StrCat(", ", ReadableBytes(usage.lost_bytes),
                                         " of yours are lost: put them again"),
                      "\n");
}

Json LimitJson(int64_t limit) { return limit == 0 ? Json() : Json(limit); }

absl::StatusOr<ExitCode> RunDu(const Invocation& invocation) {
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  HAWSER_ASSIGN_OR_RETURN(const DatasetUsage usage,
                          client->datasets().Ask(QueryUsage{}, {}));
  const std::string text = absl::StrCat(
      "datasets  ", usage.datasets,
      OfLimit(usage.datasets, usage.max_datasets,
              absl::StrCat(usage.max_datasets)),
      "\nbytes     ", ReadableBytes(usage.bytes),
      OfLimit(usage.bytes, usage.max_bytes, ReadableBytes(usage.max_bytes)),
      "\nuploads   ", ReadableBytes(usage.upload_bytes), "\npinned    ",
      ReadableBytes(usage.pinned_bytes), "\n", DamageText(usage));
  invocation.Print(
      text, Json::object({{"datasets", usage.datasets},
                          {"bytes", usage.bytes},
                          {"upload_bytes", usage.upload_bytes},
                          {"pinned_bytes", usage.pinned_bytes},
                          {"max_datasets", LimitJson(usage.max_datasets)},
                          {"max_bytes", LimitJson(usage.max_bytes)},
                          {"bad_files", usage.bad_files},
                          {"lost_bytes", usage.lost_bytes}}));
  return kOk;
}

}  // namespace

extern constinit const Command kDuCommand = {
    .name = "du",
    .arguments = "",
    .summary = "what your datasets take of your quota",
    .description =
        "Asks the server what it keeps for you and how much it may: datasets, "
        "their\nbytes (what several share counts once), those of uploads that "
        "are not done,\nand those that are pinned. Says so when the server has "
        "found files on its disk\nthat are damaged, and how many bytes of "
        "yours "
        "it has lost with them.\n\n"
        "  hawser du\n",
    .flags = kDuCommandFlags,
    .words = {0, 0},
    .run = RunDu,
};

}  // namespace hawser::cli
