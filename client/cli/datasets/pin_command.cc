// hawser pin and unpin: which datasets a server must keep.

#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/command/command.h"
#include "client/cli/datasets/dataset_text.h"
#include "client/cli/datasets/pin_time.h"
#include "core/runtime/dataset.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr Flag kPinFlags[] = {
    {"--ttl", "", "DURATION", "how long from now: 90s, 10m, 36h; else forever"},
    kServerFlag,
};
constexpr Flag kUnpinFlags[] = {kServerFlag};

absl::StatusOr<ExitCode> Pin(const Invocation& invocation, absl::Duration ttl) {
  const std::string& name = invocation.line.words()[0];
  HAWSER_RETURN_IF_ERROR(CheckDatasetName(name));
  HAWSER_ASSIGN_OR_RETURN(const auto client, invocation.Connect());
  HAWSER_ASSIGN_OR_RETURN(
      const DatasetInfo info,
      client->datasets().Ask(PinDataset{std::string(name), ttl}, {}));
  invocation.Print("", DatasetJson(info));
  return kOk;
}

absl::StatusOr<ExitCode> RunPin(const Invocation& invocation) {
  absl::Duration ttl = absl::InfiniteDuration();
  if (invocation.line.Has("--ttl")) {
    HAWSER_ASSIGN_OR_RETURN(ttl,
                            ReadPinTime("--ttl", invocation.line.Get("--ttl")));
  }
  return Pin(invocation, ttl);
}

absl::StatusOr<ExitCode> RunUnpin(const Invocation& invocation) {
  return Pin(invocation, absl::ZeroDuration());
}

}  // namespace

extern constinit const Command kPinCommand = {
    .name = "pin",
    .arguments = "TOKEN",
    .summary = "keep a dataset from being evicted",
    .description =
        "The server evicts what was not used for long when it needs the room, "
        "but not\nwhat is pinned: until the time given by --ttl is over, or "
        "until unpin. A pin\ntakes the place of the one before, be it longer "
        "or shorter.\n\n"
        "  hawser pin hw1-... --ttl 36h\n"
        "  hawser pin @mnist\n",
    .flags = kPinFlags,
    .words = {1, 1},
    .run = RunPin,
};

extern constinit const Command kUnpinCommand = {
    .name = "unpin",
    .arguments = "TOKEN",
    .summary = "let a dataset be evicted again",
    .description =
        "Ends a pin. The dataset stays until the server needs its room.\n\n"
        "  hawser unpin @mnist\n",
    .flags = kUnpinFlags,
    .words = {1, 1},
    .run = RunUnpin,
};

}  // namespace hawser::cli
