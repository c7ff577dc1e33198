// Peers: a hawserd and a bare gRPC server, each in a process of its own, and
// bare gRPC clients, for which the same holds.
#ifndef HAWSER_TESTS_BENCH_MEASURE_PEERS_H_
#define HAWSER_TESTS_BENCH_MEASURE_PEERS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/measure/rounds.h"
#include "tests/testing/processes/process.h"

namespace hawser::bench {

// This process and its two servers, on cores that Place chooses. The servers
// are killed when it goes out of scope.
class Peers {
 public:
  // hawserd gets `memory` bytes for datasets that are touched before, and
  // `flags` beside that.
  static absl::StatusOr<Peers> Start(
      int64_t memory, const std::vector<std::string>& flags = {});
  // With both servers on `server_core` from their start.
  static absl::StatusOr<Peers> StartOn(int server_core, int64_t memory);

  // Moves this process and both servers, with all their threads.
  absl::Status Place(int client_core, int server_core);
  // Runs `subject` with this process where the servers are: cores differ in
  // speed. After Place.
  absl::StatusOr<Times> OnServerCore(const Subject& subject) const;

  const std::string& hawserd() const { return hawserd_address_; }
  const std::string& echo() const { return echo_address_; }
  pid_t hawserd_process() const { return hawserd_.pid(); }
  pid_t echo_process() const { return echo_.pid(); }

  // Runs echo_client, on this process's core, with these arguments behind the
  // address. It shares no thread of gRPC's with what is measured here.
  absl::StatusOr<Times> Echo(const std::vector<std::string>& arguments) const;

 private:
  Peers(testing::Process hawserd, std::string hawserd_address,
        testing::Process echo, std::string echo_address)
      : hawserd_(std::move(hawserd)),
        hawserd_address_(std::move(hawserd_address)),
        echo_(std::move(echo)),
        echo_address_(std::move(echo_address)) {}

  testing::Process hawserd_;
  std::string hawserd_address_;
  testing::Process echo_;
  std::string echo_address_;
  int client_core_ = 0, server_core_ = 0;
};

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_MEASURE_PEERS_H_
