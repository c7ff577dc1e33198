// hawser status: who answers, on what device, how fast.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command/command.h"
#include "client/cli/command/quantity.h"
#include "core/base/clock.h"
#include "core/ir/builder.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

constexpr int kPings = 20;
constexpr absl::Duration kPatience = absl::Seconds(5);

struct Answer {
  runtime::Capabilities capabilities;
  absl::Duration round_trip;  // the median
  DatasetUsage usage;
};

// The smallest module: it returns its argument.
absl::StatusOr<std::shared_ptr<const Module>> Echo(const Shape& shape) {
  Module module("echo");
  ComputationBuilder builder(&module, "main");
  HAWSER_RETURN_IF_ERROR(builder.Finish({builder.Parameter(shape)}));
  return std::make_shared<const Module>(std::move(module));
}

// The median time of a stateless call.
absl::StatusOr<absl::Duration> RoundTrip(runtime::Client* client) {
  const Literal nothing = Literal::Scalar<uint8_t>(0);
  HAWSER_ASSIGN_OR_RETURN(auto module, Echo(nothing.shape()));
  const runtime::CallOptions patience{.cancel =
                                          CancelToken(SteadyNow() + kPatience)};
  HAWSER_ASSIGN_OR_RETURN(auto executable,
                          client->Compile(module, {}, patience));
  std::vector<absl::Duration> times;
  for (int i = 0; i < kPings; ++i) {
    const absl::Time start = SteadyNow();
    HAWSER_RETURN_IF_ERROR(
        executable->Call({runtime::Argument(nothing)}, patience)
            .Await(start + kPatience));
    times.push_back(SteadyNow() - start);
  }
  std::nth_element(times.begin(), times.begin() + kPings / 2, times.end());
  return times[kPings / 2];
}

absl::StatusOr<Answer> Ask(const std::string& address,
                           const Environment& environment) {
  HAWSER_ASSIGN_OR_RETURN(const auto client, environment.connect(address));
  Answer answer;
  HAWSER_ASSIGN_OR_RETURN(answer.capabilities, client->capabilities());
  HAWSER_ASSIGN_OR_RETURN(answer.round_trip, RoundTrip(client.get()));
  const auto usage = client->datasets().Ask(
      QueryUsage{}, {.cancel = CancelToken(SteadyNow() + kPatience)});
  if (absl::IsUnimplemented(usage.status())) return answer;  // no datasets
  HAWSER_RETURN_IF_ERROR(usage.status());
  answer.usage = *usage;
  return answer;
}

void Describe(const std::string& address, const absl::StatusOr<Answer>& answer,
              std::string* text, Json* servers) {
  if (!answer.ok()) {
    absl::StrAppend(text, address, "\n  unreachable  ",
                    answer.status().message(), "\n");
    servers->push_back(Json::object(
        {{"address", address},
         {"reachable", false},
         {"error", absl::StatusCodeToString(answer.status().code())},
         {"message", answer.status().message()}}));
    return;
  }
  const runtime::Capabilities& c = answer->capabilities;
  const std::string memory =
      c.memory_bytes > 0 ? ReadableBytes(c.memory_bytes) : "not known";
  absl::StrAppendFormat(text,
                        "%s\n  device       %s\n  platform     %s\n"
                        "  engine       %s\n"
                        "  memory       %s\n  opset        %d\n"
                        "  round trip   %s (median of %d)\n",
                        address, c.device, c.platform,
                        c.engine_id.empty() ? "not known" : c.engine_id, memory,
                        c.opset, ReadableDuration(answer->round_trip), kPings);
  const DatasetUsage& usage = answer->usage;
  if (usage.all_memory_limit > 0) {
    absl::StrAppend(text, "  held         ", ReadableBytes(usage.memory_held),
                    " of ", ReadableBytes(usage.memory_limit),
                    " by this tenant, ", ReadableBytes(usage.all_memory_held),
                    " of ", ReadableBytes(usage.all_memory_limit),
                    " by all\n");
  }
  if (usage.bad_files > 0) {
    absl::StrAppend(text, "  bad files    ", usage.bad_files,
                    " on its disk since it started, see its log\n");
  }
  servers->push_back(Json::object(
      {{"address", address},
       {"reachable", true},
       {"device", c.device},
       {"platform", c.platform},
       {"engine_id", c.engine_id},
       {"memory_bytes", c.memory_bytes},
       {"opset", c.opset},
       {"round_trip_us", absl::ToDoubleMicroseconds(answer->round_trip)},
       {"memory_held", usage.memory_held},
       {"memory_limit", usage.memory_limit},
       {"all_memory_held", usage.all_memory_held},
       {"all_memory_limit", usage.all_memory_limit},
       {"bad_files", usage.bad_files}}));
}

absl::StatusOr<ExitCode> RunStatus(const Invocation& invocation) {
  std::vector<std::string> addresses = invocation.line.words();
  if (addresses.empty()) {
    HAWSER_ASSIGN_OR_RETURN(addresses, invocation.Servers());
  }
  std::string text;
  Json servers = Json::array();
  ExitCode code = kOk;
  for (const std::string& address : addresses) {
    const auto answer = Ask(address, invocation.environment);
    if (!answer.ok()) code = kUnreachable;
    Describe(address, answer, &text, &servers);
  }
  invocation.Print(text, Json::object({{"servers", std::move(servers)}}));
  return code;
}

}  // namespace

extern constinit const Command kStatusCommand = {
    .name = "status",
    .arguments = "[ADDRESS]...",
    .summary = "who answers, on what device, how fast",
    .description =
        "Asks each server (those of HAWSER_SERVERS when none is given) for "
        "its\n"
        "device, memory and opset, and measures the round trip to it. Exits "
        "with 3\nwhen one of them does not answer.\n",
    .flags = {},
    .words = {0, kMany},
    .run = RunStatus,
};

}  // namespace hawser::cli
