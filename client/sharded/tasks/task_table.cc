#include "client/sharded/tasks/task_table.h"

#include <array>
#include <cstddef>

namespace hawser {
namespace {

using enum TaskState;
using enum TaskEvent;
using enum TaskEffect;

// Tasks end in one of three ways.
const std::vector<TaskEffect>& Failing() {
  static const auto& effects = *new std::vector<TaskEffect>{
      kLeaveDispatch, kLeavePlace, kEndAttempt, kGiveError,
      kDropResults,   kEnd,        kTellWaiters};
  return effects;
}
const std::vector<TaskEffect>& FailingAgain() {
  static const auto& effects = *new std::vector<TaskEffect>{
      kLeaveDispatch, kLeavePlace, kEndAttempt, kGiveError,
      kDropResults,   kEnd,        kFailWaiters};
  return effects;
}
// Or begin again.
const std::vector<TaskEffect>& Retrying() {
  static const auto& effects = *new std::vector<TaskEffect>{
      kLeavePlace, kCountFailure, kDropResults, kEndAttempt, kLookAfterMakers};
  return effects;
}

std::vector<TaskRow> MakeTable() {
  std::vector<TaskRow> rows = {
      {kIdle, kWanted, kWaiting, {kBegin, kLook}},
      {kDone, kWanted, kWaiting, {kCountRepeat, kBegin, kLook}},

      {kWaiting, kInputsChanged, kWaiting, {kLook}},
      {kWaiting, kInputMissing, kWaiting, {kWaitForMakers}},
      {kWaiting, kReadyForPlace, kReady, {kJoinDispatch}},
      {kWaiting, kReadyHere, kStarted, {kBring}},

      {kReady, kInputsChanged, kReady, {kLook}},
      {kReady, kInputMissing, kWaiting, {kLeaveDispatch, kWaitForMakers}},
      {kReady, kReadyForPlace, kReady, {kLeaveDispatch, kJoinDispatch}},
      {kReady, kPlaced, kStarted, {kBring}},

      {kStarted, kQueuedThere, kQueued, {kPublish, kTellWaiters}},
      {kStarted, kArrived, kDone, {kGiveValue, kEnd}},
      {kQueued,
       kFinished,
       kDone,
       {kCountDone, kEnd, kTellWaiters, kForgetChain}},
  };
  for (const TaskState at_place : {kStarted, kQueued}) {
    rows.push_back(
        {at_place, kPlaceLost, kWaiting, {kCountFailure, kEndAttempt, kLook}});
    rows.push_back({at_place, kRetry, kWaiting, Retrying()});
    rows.push_back({at_place, kUnfit, kWaiting, Retrying()});
    auto& effects = rows.back().effects;
    effects.insert(effects.begin(), kMarkUnfit);
  }
  for (const TaskState asked_for : {kWaiting, kReady, kStarted, kQueued}) {
    rows.push_back({asked_for, kFail, kFailed, Failing()});
    rows.push_back({asked_for, kFailAgain, kDone, FailingAgain()});
  }
  return rows;
}

constexpr std::array<const char*, kTaskStates> kStateNames = {
    "Idle", "Waiting", "Ready", "Started", "Queued", "Done", "Failed"};
constexpr std::array<const char*, kTaskEvents> kEventNames = {
    "Wanted", "InputsChanged", "InputMissing", "ReadyForPlace", "ReadyHere",
    "Placed", "QueuedThere",   "Finished",     "Arrived",       "PlaceLost",
    "Retry",  "Unfit",         "Fail",         "FailAgain"};

}  // namespace

absl::Span<const TaskRow> TaskTable() {
  static const auto& table = *new std::vector<TaskRow>(MakeTable());
  return table;
}

const TaskRow* FindTaskRow(TaskState from, TaskEvent event) {
  using Cells = std::array<const TaskRow*, kTaskStates * kTaskEvents>;
  const auto at = [](TaskState state, TaskEvent of) {
    return static_cast<size_t>(state) * kTaskEvents + static_cast<size_t>(of);
  };
  static const Cells cells = [&] {
    Cells made{};
    for (const TaskRow& row : TaskTable()) made[at(row.from, row.event)] = &row;
    return made;
  }();
  return cells[at(from, event)];
}

std::string ToString(TaskState state) {
  return kStateNames[static_cast<size_t>(state)];
}
std::string ToString(TaskEvent event) {
  return kEventNames[static_cast<size_t>(event)];
}

}  // namespace hawser
