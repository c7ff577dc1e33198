#include "tests/bench/measure/peers.h"

#include <unistd.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "core/base/status.h"
#include "tests/bench/measure/placement.h"

namespace hawser::bench {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

}  // namespace

absl::StatusOr<Peers> Peers::StartOn(int server_core, int64_t memory) {
  // Children start where their parent is.
  HAWSER_RETURN_IF_ERROR(Pin(getpid(), server_core));
  return Start(memory);
}

absl::StatusOr<Peers> Peers::Start(int64_t memory,
                                   const std::vector<std::string>& flags) {
  std::string hawserd_address;
  std::vector<std::string> all = {absl::StrCat("--prepared_memory=", memory)};
  all.insert(all.end(), flags.begin(), flags.end());
  HAWSER_ASSIGN_OR_RETURN(testing::Process hawserd,
                          testing::StartHawserd(all, &hawserd_address));
  HAWSER_ASSIGN_OR_RETURN(
      testing::Process echo,
      testing::Process::Start({testing::Runfile("tests/bench/echo_server")}));
  HAWSER_ASSIGN_OR_RETURN(const std::string line,
                          echo.ReadLineWith("echo ready on ", kPatience));
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  return Peers(std::move(hawserd), std::move(hawserd_address), std::move(echo),
               words[3]);
}

absl::Status Peers::Place(int client_core, int server_core) {
  client_core_ = client_core;
  server_core_ = server_core;
  HAWSER_RETURN_IF_ERROR(Pin(hawserd_.pid(), server_core));
  HAWSER_RETURN_IF_ERROR(Pin(echo_.pid(), server_core));
  return Pin(getpid(), client_core);
}

absl::StatusOr<Times> Peers::OnServerCore(const Subject& subject) const {
  HAWSER_RETURN_IF_ERROR(Pin(getpid(), server_core_));
  absl::StatusOr<Times> times = subject();
  HAWSER_RETURN_IF_ERROR(Pin(getpid(), client_core_));
  return times;
}

absl::StatusOr<Times> Peers::Echo(
    const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv = {testing::Runfile("tests/bench/echo_client"),
                                   echo_address_};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  HAWSER_ASSIGN_OR_RETURN(testing::Process client,
                          testing::Process::Start(argv));
  HAWSER_ASSIGN_OR_RETURN(const int code, client.Wait(kPatience));
  const std::vector<std::string> words =
      absl::StrSplit(client.output(), absl::ByAnyChar(" \n"));
  Times times;
  if (code != 0 || words.size() < 2 ||
      !absl::SimpleAtod(words[0], &times.p50) ||
      !absl::SimpleAtod(words[1], &times.p99)) {
    return Internal("echo_client ", absl::StrJoin(arguments, " "),
                    " ended with ", code, " and said: ", client.output());
  }
  return times;
}

}  // namespace hawser::bench
