// A client that is killed: kill_victim ADDRESS WORK SEED prepares the work and
// says "begin", does it and says "end MICROSECONDS" or "failed STATUS"; in
// between "durable TOKEN" as soon as a dataset is safe.
#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "core/base/status.h"
#include "tests/e2e/kills/kill_work.h"

namespace hawser::testing {
namespace {

void Say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

absl::Status Live(const std::string& address, absl::string_view name,
                  absl::string_view seed_text) {
  const KillWork* work = FindKillWork(name);
  uint64_t seed = 0;
  if (work == nullptr || !absl::SimpleAtoi(seed_text, &seed)) {
    return InvalidArgument(name, " ", seed_text, " is no work and seed");
  }
  HAWSER_ASSIGN_OR_RETURN(
      const Client client,
      Connect({.servers = {address}, .fallback = Client()}));
  HAWSER_ASSIGN_OR_RETURN(const CutOff cut_off, work->prepare(client, seed));
  Say("begin");
  const absl::Time start = absl::Now();
  HAWSER_RETURN_IF_ERROR(cut_off(
      [](const std::string& token) { Say("durable " + token); }));
  Say(absl::StrCat("end ", absl::ToInt64Microseconds(absl::Now() - start)));
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser::testing

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const absl::Status status = hawser::testing::Live(argv[1], argv[2], argv[3]);
  if (status.ok()) return 0;
  hawser::testing::Say("failed " + status.ToString());
  return 1;
}
