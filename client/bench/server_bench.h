// Measures how long a server's answers take beside bare gRPC and TCP on the
// same link.
#ifndef HAWSER_CLIENT_BENCH_SERVER_BENCH_H_
#define HAWSER_CLIENT_BENCH_SERVER_BENCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/remote/bare/bare_calls.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/client.h"

namespace hawser::bench {

// A figure of hawser beside the same figure of bare gRPC or TCP.
struct BenchRow {
  enum class Unit { kMicroseconds, kGigabytesPerSecond };

  std::string what;    // "step, p50", "upload of 64 MiB"
  std::string beside;  // "gRPC ping, p50"
  Unit unit = Unit::kMicroseconds;
  double ours = 0;
  double theirs = 0;
  size_t samples = 0;  // of hawser

  double ratio() const { return ours / theirs; }
};

struct BenchReport {
  std::vector<BenchRow> rows;
  // Sentences on what could not be compared, and why.
  std::vector<std::string> notes;
  // An error that came after the server had answered; the rows are valid all
  // the same.
  absl::Status failure;
};

// The server to measure, and how long.
struct BenchPlan {
  std::string address;  // of the server
  std::shared_ptr<runtime::Client> client;
  std::shared_ptr<BareCalls> bare;
  std::string peer;  // of a ServeExchanges beside the server; "": none
  // About how long to measure in all. Every figure is measured at least once.
  absl::Duration time = absl::Seconds(10);
  int64_t bytes = int64_t{64} << 20;  // of an upload and a download
  CancelToken cancel;                 // whose deadline is the end of `time`
};

// Measures the figures it compares in turn, so that other traffic of the link
// affects all of them. Deletes what it has put before it returns; chunks of an
// upload that was cut short stay until the server drops them. Errors: those of
// the first step; kUnavailable for a named peer that does not answer.
absl::StatusOr<BenchReport> BenchServer(const BenchPlan& plan);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_SERVER_BENCH_H_
