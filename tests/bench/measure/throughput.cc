#include "tests/bench/measure/throughput.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bench/fresh_bytes.h"
#include "client/hawser.h"
#include "core/base/status.h"
#include "tests/bench/measure/rounds.h"

namespace hawser::bench {
namespace {

absl::StatusOr<int64_t> SentByPut(const Client& client, const Literal& value) {
  HAWSER_ASSIGN_OR_RETURN(const Dataset dataset, client.Put({{"x", value}}));
  return dataset.info().sent_bytes;
}

}  // namespace

absl::Status MeasureThroughput(const Peers& peers, const ThroughputPlan& plan,
                               const std::string& placement, Report* report) {
  HAWSER_ASSIGN_OR_RETURN(const Client client,
                          Connect({.servers = {peers.hawserd()}}));
  Rounds rounds;
  Literal value;
  for (int round = 0; round < plan.rounds; ++round) {
    value = FreshBytes(plan.bytes, round);
    const auto put = [&]() -> absl::Status {
      HAWSER_ASSIGN_OR_RETURN(const int64_t sent, SentByPut(client, value));
      if (sent == plan.bytes) return absl::OkStatus();
      return Internal("a put of ", plan.bytes, " new bytes has sent ", sent);
    };
    const auto stream = [&] {
      return peers.Echo(
          {"put", absl::StrCat(plan.bytes), absl::StrCat(kFrameBytes), "1"});
    };
    HAWSER_ASSIGN_OR_RETURN(
        rounds.emplace_back(),
        MeasureOnce({stream, [&] { return TimesOf(put, 1); }}));
  }
  const auto gigabytes = [&](int of) {
    return absl::StrFormat("%.2f GB/s",
                           MedianOf(rounds, [&](const Round& times) {
                             return plan.bytes / times[of].p50 / 1e3;
                           }));
  };
  report->rows.push_back(
      {placement,
       absl::StrFormat("put of %d MiB / client stream", plan.bytes >> 20),
       gigabytes(1), gigabytes(0),
       MedianOf(rounds,
                [](const Round& times) { return times[0].p50 / times[1].p50; }),
       "at least 0.5"});
  HAWSER_ASSIGN_OR_RETURN(report->put_again_bytes, SentByPut(client, value));
  return absl::OkStatus();
}

}  // namespace hawser::bench
