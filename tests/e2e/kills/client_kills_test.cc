// Rounds of kill -9 of a client: the server forgets it and stays as it was.
#include <signal.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/e2e/kills/kill_rounds.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/process_counts.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

// What the server says of itself.
struct State {
  int64_t sessions = -1;
  int64_t buffers = -1;
  int64_t dataset_arrays = -1;
};

class ClientKillsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started =
        StartHawserd({"--data_dir=" + folder_.path(), "--lease=1s"}, &address_);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = std::make_unique<Process>(*std::move(started));
  }
  absl::StatusOr<Process> StartVictim(const KillWork& work, uint64_t seed) {
    return Process::Start({Runfile("tests/e2e/kill_victim"), address_,
                           std::string(work.name), absl::StrCat(seed)});
  }
  // What its output says was durable.
  void Remember(const Process& victim, uint64_t seed) {
    for (absl::string_view line : absl::StrSplit(victim.output(), '\n')) {
      if (absl::ConsumePrefix(&line, "durable ")) {
        durable_.push_back({std::string(line), seed});
      }
    }
  }
  // Every work to its end.
  void DryRun() {
    uint64_t seed = 0;
    for (const KillWork& work : AllKillWorks()) {
      auto victim = StartVictim(work, ++seed);
      ASSERT_TRUE(victim.ok()) << victim.status();
      const auto code = victim->Wait(kPatience);
      ASSERT_TRUE(code.ok() && *code == 0) << victim->output();
      const std::string& output = victim->output();
      int64_t micros = 0;
      ASSERT_TRUE(absl::SimpleAtoi(
          output.substr(output.rfind("\nend ") + 5), &micros))
          << output;
      dry_[work.name] = absl::Microseconds(micros);
      Remember(*victim, seed);
    }
  }
  void RunRound(const KillRound& round) {
    SCOPED_TRACE(::testing::PrintToString(round));
    auto victim = StartVictim(*round.work, round.seed);
    ASSERT_TRUE(victim.ok()) << victim.status();
    ASSERT_TRUE(victim->ReadLineWith("begin", kPatience).ok())
        << victim->output() << server_->output();
    absl::SleepFor(dry_[round.work->name] * round.moment);
    victim->Signal(SIGKILL);
    const auto code = victim->Wait(kPatience);
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_TRUE(*code == 0 || *code == 128 + SIGKILL) << victim->output();
    Remember(*victim, round.seed);
    ExpectListedAreWhole(address_, &seen_);
    if (round.work->puts) PutOnceMore(address_, folder_.path(), round.seed);
  }
  State Ask() {
    State state;
    server_->Signal(SIGUSR1);
    const auto line = server_->ReadLineWith("hawserd state ", kPatience);
    if (!line.ok()) return state;
    for (absl::string_view word : absl::StrSplit(*line, ' ')) {
      if (absl::ConsumePrefix(&word, "sessions=")) {
        EXPECT_TRUE(absl::SimpleAtoi(word, &state.sessions)) << *line;
      } else if (absl::ConsumePrefix(&word, "buffers=")) {
        EXPECT_TRUE(absl::SimpleAtoi(word, &state.buffers)) << *line;
      } else if (absl::ConsumePrefix(&word, "dataset_arrays=")) {
        EXPECT_TRUE(absl::SimpleAtoi(word, &state.dataset_arrays)) << *line;
      }
    }
    return state;
  }
  // Waits until leases are over and expects that no session and no value is
  // left, but for the dataset arrays it keeps on purpose.
  void ExpectEmpty() {
    State state;
    EXPECT_TRUE(Await(kPatience, [&] {
      state = Ask();
      return state.sessions == 0 && state.buffers == state.dataset_arrays;
    })) << state.sessions << " sessions, " << state.buffers << " buffers, "
        << state.dataset_arrays << " dataset arrays";
  }

  const TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Process> server_;
  DryTimes dry_;
  std::vector<DurablePut> durable_;
  std::set<std::string> seen_;
};

TEST_F(ClientKillsTest, TheServerForgetsThemAndStaysAsItWas) {
  DryRun();
  ExpectEmpty();
  const ProcessCounts before = CountsOf(server_->pid());
  for (const KillRound& round : DrawRounds(1)) {
    RunRound(round);
    if (HasFatalFailure()) return;
  }
  ExpectEmpty();
  EXPECT_TRUE(Await(kPatience, [&] {
    return CountsOf(server_->pid()) == before;
  })) << CountsOf(server_->pid()) << ", before: " << before;
  EXPECT_LE(GrpcPoolThreads(server_->pid()), MostGrpcPoolThreads());
  EXPECT_TRUE(Await(kPatience, [&] {
    return TemporaryFiles(folder_.path()).empty();
  })) << ::testing::PrintToString(TemporaryFiles(folder_.path()));
  ExpectAllThere(address_, durable_);
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(kPatience).value_or(-1), 0) << server_->output();
}

}  // namespace
}  // namespace hawser::testing
