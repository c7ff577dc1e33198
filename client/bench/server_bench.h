// What a server's answers take, beside what its link takes by itself.
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
#include "core/base/cancel.h"
#include "core/runtime/client.h"

namespace hawser::bench {

// One figure of hawser's beside one of what is below it.
struct BenchRow {
  enum class Unit { kMicroseconds, kGigabytesPerSecond };

  std::string what;    // "step, p50", "upload of 64 MiB"
  std::string beside;  // "gRPC ping, p50"
  Unit unit = Unit::kMicroseconds;
  double ours = 0;
  double theirs = 0;
  size_t samples = 0;  // of ours

  double ratio() const { return ours / theirs; }
};

struct BenchReport {
  std::vector<BenchRow> rows;
  // What could not be compared and why, in plain words.
  std::vector<std::string> notes;
  // What went wrong once the server had answered: the rows beside it are good.
  absl::Status failure;
};

// Where and how long to measure.
struct BenchPlan {
  std::string address;  // of the server
  std::shared_ptr<runtime::Client> client;
  std::shared_ptr<BareCalls> bare;
  std::string peer;  // of a ServeExchanges beside the server; "": there is none
  // For everything together, about. At least one of each is measured.
  absl::Duration time = absl::Seconds(10);
  int64_t bytes = int64_t{64} << 20;  // of an upload and a download
  CancelToken cancel;                 // with the time's end as its deadline
};

// Measures in turn what it compares, so that whatever else the link is doing
// happens to all of it. What it puts is deleted before it returns; chunks of an
// upload that is cut short stay until the server forgets them. Errors: what the
// first step said, or a peer that is named and not there.
absl::StatusOr<BenchReport> BenchServer(const BenchPlan& plan);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_SERVER_BENCH_H_
