// The states of tasks: each row of the table in a story, and what holds over
// any sequence of events.
#include "client/sharded/tasks/task_table.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/sharded/tasks/task_failure.h"
#include "gtest/gtest.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

using enum TaskState;
using enum TaskEvent;

using Step = std::pair<TaskEvent, TaskState>;  // then it is in that state
struct Story {
  const char* name;
  std::vector<Step> steps;
};

std::vector<Step> Then(std::vector<Step> before, std::vector<Step> after) {
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

std::vector<Story> Stories() {
  const std::vector<Step> ready = {{kWanted, kWaiting},
                                   {kReadyForPlace, kReady}};
  const std::vector<Step> started = Then(ready, {{kPlaced, kStarted}});
  const std::vector<Step> queued = Then(started, {{kQueuedThere, kQueued}});
  const std::vector<Step> done = Then(queued, {{kFinished, kDone}});
  return {
      {"a place does it", done},
      {"a value comes here",
       {{kWanted, kWaiting}, {kReadyHere, kStarted}, {kArrived, kDone}}},
      {"a value does not come here",
       {{kWanted, kWaiting}, {kReadyHere, kStarted}, {kFail, kFailed}}},
      {"it waits for what gives its inputs",
       {{kWanted, kWaiting},
        {kInputMissing, kWaiting},
        {kInputsChanged, kWaiting},
        {kReadyForPlace, kReady}}},
      {"its inputs go while it is ready",
       Then(ready, {{kInputsChanged, kReady}, {kInputMissing, kWaiting}})},
      {"its inputs are elsewhere now",
       Then(ready, {{kInputsChanged, kReady}, {kReadyForPlace, kReady}})},
      {"its place goes before it has its inputs",
       Then(started, {{kPlaceLost, kWaiting}, {kReadyForPlace, kReady}})},
      {"its place goes while it runs",
       Then(queued, {{kPlaceLost, kWaiting}, {kReadyForPlace, kReady}})},
      {"its inputs did not come", Then(started, {{kRetry, kWaiting}})},
      {"its place says to try again", Then(queued, {{kRetry, kWaiting}})},
      {"its place has no room for its inputs",
       Then(started, {{kUnfit, kWaiting}})},
      {"its place cannot do it", Then(queued, {{kUnfit, kWaiting}})},
      {"its inputs failed", {{kWanted, kWaiting}, {kFail, kFailed}}},
      {"no place is left for it", Then(ready, {{kFail, kFailed}})},
      {"it was not sent", Then(started, {{kFail, kFailed}})},
      {"it failed where it ran", Then(queued, {{kFail, kFailed}})},
      {"what it gave is lost, and its inputs too",
       Then(done, {{kWanted, kWaiting}, {kFailAgain, kDone}})},
      {"it is made again, and no place is left",
       Then(done, Then(ready, {{kFailAgain, kDone}, {kWanted, kWaiting}}))},
      {"it is made again, and not sent",
       Then(done, Then(started, {{kFailAgain, kDone}}))},
      {"it is made again, and does not end",
       Then(done, Then(queued, {{kFailAgain, kDone}}))},
      {"late news of an attempt that is over",
       Then(queued, {{kRetry, kWaiting},
                     {kFinished, kWaiting},
                     {kQueuedThere, kWaiting},
                     {kPlaced, kWaiting},
                     {kPlaceLost, kWaiting}})},
      {"what ended is not told again",
       Then(done,
            {{kFinished, kDone}, {kFail, kDone}, {kInputsChanged, kDone}})},
      {"what failed stays so", Then(started, {{kFail, kFailed},
                                              {kWanted, kFailed},
                                              {kPlaceLost, kFailed},
                                              {kArrived, kFailed}})},
  };
}

TEST(TaskTable, EveryRowIsInAStory) {
  std::set<const TaskRow*> taken;
  for (const Story& story : Stories()) {
    TaskState state = kIdle;
    for (const auto& [event, next] : story.steps) {
      const TaskRow* const row = FindTaskRow(state, event);
      if (row != nullptr) {
        taken.insert(row);
        EXPECT_EQ(row->from, state);
        state = row->to;
      }
      EXPECT_EQ(state, next) << story.name << ": at " << ToString(event)
                             << " it is " << ToString(state);
    }
  }
  for (const TaskRow& row : TaskTable()) {
    EXPECT_TRUE(taken.contains(&row)) << "no story has " << ToString(row.event)
                                      << " in " << ToString(row.from);
    EXPECT_EQ(FindTaskRow(row.from, row.event), &row)
        << "two rows for " << ToString(row.event) << " in "
        << ToString(row.from);
  }
  std::cout << TaskTable().size() << " rows, " << Stories().size()
            << " stories\n";
}

// What the effects so far have left behind, of one task.
class Books {
 public:
  void Enter(const TaskRow& row) {
    told_ = false;
    looks_ = false;
    for (const TaskEffect effect : row.effects) Do(effect);
    if (row.event == kPlaceLost) at_place_ = false;  // the dispatch knows
    Check(row);
  }

 private:
  void Do(TaskEffect effect) {
    switch (effect) {
      case TaskEffect::kBegin:
        ++uses_;
        break;
      case TaskEffect::kEnd:
        --uses_;
        break;
      case TaskEffect::kJoinDispatch:
        EXPECT_FALSE(in_dispatch_);
        in_dispatch_ = true;
        break;
      case TaskEffect::kLeaveDispatch:
        in_dispatch_ = false;
        break;
      case TaskEffect::kBring:
        EXPECT_FALSE(under_way_) << "two attempts at once";
        EXPECT_FALSE(published_) << "results of an earlier attempt";
        in_dispatch_ = false;  // which gave it a place
        at_place_ = under_way_ = true;
        break;
      case TaskEffect::kLeavePlace:
        at_place_ = false;
        break;
      case TaskEffect::kCountDone:
        at_place_ = under_way_ = false;
        break;
      case TaskEffect::kGiveValue:
        at_place_ = under_way_ = false;
        break;
      case TaskEffect::kEndAttempt:
        under_way_ = published_ = false;
        break;
      case TaskEffect::kPublish:
        published_ = true;
        break;
      case TaskEffect::kDropResults:
        published_ = false;
        break;
      case TaskEffect::kTellWaiters:
      case TaskEffect::kFailWaiters:
        told_ = true;
        break;
      case TaskEffect::kLook:
      case TaskEffect::kLookAfterMakers:
      case TaskEffect::kWaitForMakers:
        looks_ = true;
        break;
      case TaskEffect::kCountRepeat:
        published_ = false;
        break;
      default:
        break;
    }
  }
  void Check(const TaskRow& row) const {
    const bool asked = row.to == kWaiting || row.to == kReady ||
                       row.to == kStarted || row.to == kQueued;
    EXPECT_EQ(uses_, asked ? 1 : 0);
    EXPECT_EQ(in_dispatch_, row.to == kReady);
    EXPECT_EQ(at_place_, row.to == kStarted || row.to == kQueued);
    EXPECT_EQ(under_way_, row.to == kStarted || row.to == kQueued);
    if (row.to == kQueued) {
      EXPECT_TRUE(published_);
    }
    if (row.to == kWaiting || row.to == kFailed) {
      EXPECT_FALSE(published_);
    }
    // A task that waits knows for what.
    if (row.to == kWaiting) {
      EXPECT_TRUE(looks_);
    }
    const bool ends =
        (row.to == kDone || row.to == kFailed) && row.to != row.from;
    if (ends && row.event != kArrived) {
      EXPECT_TRUE(told_);
    }
  }

  int uses_ = 0;
  bool in_dispatch_ = false, at_place_ = false, under_way_ = false;
  bool published_ = false, told_ = false, looks_ = false;
};

TEST(TaskTable, NothingIsLeftBehindOverDrawnEvents) {
  constexpr int kWalks = 20'000, kEvents = 60;
  int64_t taken = 0;
  for (int walk = 0; walk < kWalks; ++walk) {
    Random random(walk);
    TaskState state = kIdle;
    Books books;
    for (int i = 0; i < kEvents; ++i) {
      const auto event = static_cast<TaskEvent>(random.Below(kTaskEvents));
      // A value that comes here never was at the dispatch.
      const TaskRow* const row = FindTaskRow(state, event);
      if (row == nullptr) continue;
      books.Enter(*row);
      ASSERT_FALSE(testing::Test::HasFailure())
          << "walk " << walk << ": " << ToString(event) << " in "
          << ToString(state);
      state = row->to;
      ++taken;
    }
  }
  std::cout << taken << " of " << int64_t{kWalks} * kEvents
            << " drawn events had a row\n";
  EXPECT_GT(taken, 100'000);
}

TEST(TaskTable, FromEveryStateATaskCanEnd) {
  std::set<TaskState> ending = {kDone, kFailed};
  for (bool grew = true; grew;) {
    grew = false;
    for (const TaskRow& row : TaskTable()) {
      grew =
          (ending.contains(row.to) && ending.insert(row.from).second) || grew;
    }
  }
  EXPECT_EQ(ending.size(), kTaskStates);
}

// ---- which event a failure is ----------------------------------------------

struct FailureCase {
  const char* name;
  absl::StatusCode why;
  TaskFailure failure;  // without the status
  TaskEvent event;
};

std::vector<FailureCase> FailureCases() {
  return {
      {"a place that is gone",
       absl::StatusCode::kUnavailable,
       {.at_place = true, .tries_left = true},
       kRetry},
      {"an input whose place is gone",
       absl::StatusCode::kUnavailable,
       {.tries_left = true},
       kRetry},
      {"too often", absl::StatusCode::kUnavailable, {.at_place = true}, kFail},
      {"too often, made before",
       absl::StatusCode::kUnavailable,
       {.at_place = true, .was_done = true},
       kFailAgain},
      {"the call has expired",
       absl::StatusCode::kUnavailable,
       {.at_place = true, .expired = true, .tries_left = true},
       kFail},
      {"the attempt is late",
       absl::StatusCode::kDeadlineExceeded,
       {.at_place = true, .late = true, .tries_left = true},
       kRetry},
      {"its own deadline",
       absl::StatusCode::kDeadlineExceeded,
       {.at_place = true, .tries_left = true},
       kFail},
      {"a dataset that its place lacks",
       absl::StatusCode::kNotFound,
       {.at_place = true, .lacks_dataset = true, .tries_left = true},
       kRetry},
      {"a dataset that none has",
       absl::StatusCode::kNotFound,
       {.at_place = true, .tries_left = true},
       kFail},
      {"no room, and room elsewhere",
       absl::StatusCode::kResourceExhausted,
       {.at_place = true, .fits_elsewhere = true, .tries_left = true},
       kUnfit},
      {"no such op, and others are asked",
       absl::StatusCode::kUnimplemented,
       {.at_place = true, .fits_elsewhere = true, .tries_left = true},
       kUnfit},
      {"no room anywhere",
       absl::StatusCode::kResourceExhausted,
       {.at_place = true, .tries_left = true},
       kFail},
      {"no room for an input, and room elsewhere",
       absl::StatusCode::kResourceExhausted,
       {.fits_elsewhere = true, .tries_left = true},
       kUnfit},
      {"no room here",
       absl::StatusCode::kResourceExhausted,
       {.comes_here = true, .fits_elsewhere = true, .tries_left = true},
       kFail},
      {"no room, while a maker may have failed of it",
       absl::StatusCode::kResourceExhausted,
       {.at_place = true,
        .takes_unfinished = true,
        .fits_elsewhere = true,
        .tries_left = true},
       kRetry},
      {"an input failed, and its maker is not known to",
       absl::StatusCode::kInvalidArgument,
       {.takes_unfinished = true, .tries_left = true},
       kRetry},
      {"an input failed",
       absl::StatusCode::kInvalidArgument,
       {.tries_left = true},
       kFail},
      {"its place says that it is wrong",
       absl::StatusCode::kInvalidArgument,
       {.at_place = true, .takes_unfinished = true, .tries_left = true},
       kFail},
      {"wrong, though made before",
       absl::StatusCode::kInvalidArgument,
       {.at_place = true, .tries_left = true, .was_done = true},
       kFail},
  };
}

TEST(TaskFailure, IsTheEventThatTheRulesSay) {
  for (const FailureCase& one : FailureCases()) {
    TaskFailure failure = one.failure;
    failure.why = absl::Status(one.why, "why");
    EXPECT_EQ(EventOf(failure), one.event)
        << one.name << ": " << ToString(EventOf(failure));
  }
}

TEST(TaskFailure, APlaceIsGoneWhenItSaysSoOrIsLate) {
  const absl::Status gone = absl::UnavailableError("gone");
  EXPECT_TRUE(IsPlaceGone({.why = gone, .at_place = true}));
  EXPECT_FALSE(IsPlaceGone({.why = gone}));
  EXPECT_FALSE(IsPlaceGone({.why = gone, .at_place = true, .expired = true}));
  EXPECT_TRUE(IsPlaceGone({.why = absl::DeadlineExceededError("late"),
                           .at_place = true,
                           .late = true}));
}

}  // namespace
}  // namespace hawser
