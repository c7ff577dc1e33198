// Rounds of kill -9 of the server: the client goes on, in this process.
#include <signal.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/e2e/kills/kill_rounds.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/process_counts.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

class ServerKillsTest : public ::testing::Test {
 protected:
  // A server over the same datasets, from the second time on at the same
  // address. What the one before left half written is gone when it is ready.
  void Start() {
    std::vector<std::string> flags = {"--data_dir=" + folder_.path(),
                                      "--lease=5s"};
    if (!address_.empty()) flags.push_back("--listen=" + address_);
    server_.reset();
    auto started = StartHawserd(flags, &address_);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = std::make_unique<Process>(*std::move(started));
    EXPECT_EQ(TemporaryFiles(folder_.path()), std::vector<std::string>());
  }
  absl::StatusOr<Client> Reach(bool fallback) const {
    return Connect({.servers = {address_},
                    .fallback = fallback ? Client::Cpu() : Client()});
  }
  OnDurable Remember(uint64_t seed) {
    return [this, seed](const std::string& token) {
      durable_.push_back({token, seed});
    };
  }
  // Everything once in peace.
  void DryRun() {
    uint64_t seed = 0;
    for (const KillWork& work : AllKillWorks()) {
      const auto client = Reach(true);
      ASSERT_TRUE(client.ok()) << client.status();
      const auto cut_off = work.prepare(*client, ++seed);
      ASSERT_TRUE(cut_off.ok()) << work.name << ": " << cut_off.status();
      const absl::Time start = absl::Now();
      const absl::Status done = (*cut_off)(Remember(seed));
      ASSERT_TRUE(done.ok()) << work.name << ": " << done;
      dry_[work.name] = absl::Now() - start;
    }
  }
  // Of this process without a connection. What ends with one ends a moment
  // later, so the counts are those that nothing has changed for a second.
  static ProcessCounts SettledCounts() {
    ProcessCounts last = OwnCounts();
    absl::Time since = absl::Now();
    Await(kPatience, [&] {
      const ProcessCounts now = OwnCounts();
      if (now != last) since = absl::Now();
      last = now;
      return absl::Now() - since > absl::Seconds(1);
    });
    return last;
  }
  // How the work ended that lost its server in the middle.
  absl::Status Cut(const KillRound& round) {
    HAWSER_ASSIGN_OR_RETURN(const Client client, Reach(round.fallback));
    HAWSER_ASSIGN_OR_RETURN(const CutOff cut_off,
                            round.work->prepare(client, round.seed));
    std::thread killer([&, wait = dry_[round.work->name] * round.moment] {
      absl::SleepFor(wait);
      server_->Signal(SIGKILL);
      if (round.restart_at_once) Start();
    });
    const absl::Status done = cut_off(Remember(round.seed));
    killer.join();
    return done;
  }
  ProcessCounts RunRounds();
  void RunRound(const KillRound& round) {
    SCOPED_TRACE(::testing::PrintToString(round));
    const absl::Status done = Cut(round);
    ++ends_[absl::StatusCodeToString(done.code())];
    const bool typed =
        round.fallback ? absl::IsDataLoss(done) && round.work->may_lose
                       : absl::IsDataLoss(done) || absl::IsUnavailable(done);
    EXPECT_TRUE(done.ok() || typed) << done;
    if (!round.restart_at_once) Start();
    ExpectListedAreWhole(address_, &seen_);
    if (!round.work->puts) return;
    const int64_t more = PutOnceMore(address_, folder_.path(), round.seed);
    // A new server has what it finds on its disk and nothing else.
    if (!round.restart_at_once) {
      EXPECT_EQ(more, 0);
    }
  }

  const TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Process> server_;
  DryTimes dry_;
  std::vector<DurablePut> durable_;
  std::set<std::string> seen_;
  std::map<std::string, int> ends_;
};

// The rounds, and what this process held before them.
ProcessCounts ServerKillsTest::RunRounds() {
  Start();
  DryRun();
  server_.reset();
  const ProcessCounts before = SettledCounts();
  Start();
  for (const KillRound& round : DrawRounds(0)) {
    RunRound(round);
    if (HasFatalFailure()) return before;
  }
  ExpectAllThere(address_, durable_);
  std::set<std::string> none;
  ExpectListedAreWhole(address_, &none);
  server_.reset();
  EXPECT_EQ(TemporaryFiles(folder_.path()), std::vector<std::string>());
  return before;
}

TEST_F(ServerKillsTest, ResultsAreRightOrTypedAndNothingIsLeft) {
  const ProcessCounts before = RunRounds();
  // The last connections end in the background.
  EXPECT_TRUE(Await(kPatience, [&] { return OwnCounts() == before; }))
      << OwnCounts() << ", before: " << before;
  EXPECT_LE(GrpcPoolThreads(getpid()), MostGrpcPoolThreads());
  for (const auto& [code, count] : ends_) {
    RecordProperty("ended_" + code, count);
  }
}

}  // namespace
}  // namespace hawser::testing
