#include "client/sharded/task_machine.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;
using State = TaskState;

// A task that was not done so often is given up; and as often as places may
// turn out not to have the datasets that it takes.
constexpr int kMostFailures = 16;

}  // namespace

TaskMachine::TaskMachine(const ShardedPolicy* policy,
                         const std::vector<std::shared_ptr<ShardPlace>>* places,
                         Mover* mover)
    : policy_(*policy),
      places_(*places),
      copies_(places),
      mover_(*mover),
      dispatch_(static_cast<int>(places->size())),
      no_place_(Unavailable("no place is left")) {}

// ---- events -----------------------------------------------------------------

void TaskMachine::Want(const std::vector<ShardedTaskPtr>& tasks,
                       Afterwards& later) {
  for (const ShardedTaskPtr& task : tasks) {
    task->number = next_number_++;
    Handle({task, TaskEvent::kWanted}, later);
  }
}

void TaskMachine::StartWhatCan(Afterwards& later) {
  HandlePosted(later);
  while (const auto start = dispatch_.Next(SteadyNow())) {
    const auto task = unfinished_.find(start->task);
    if (task == unfinished_.end()) continue;
    Handle({.task = task->second,
            .event = TaskEvent::kPlaced,
            .place = start->place},
           later);
  }
}

void TaskMachine::OnQueued(const ShardedTaskPtr& task, int attempt,
                           const std::vector<BufferPtr>& results,
                           Afterwards& later) {
  Handle({.task = task,
          .event = TaskEvent::kQueuedThere,
          .attempt = attempt,
          .results = &results},
         later);
}

void TaskMachine::OnFinished(const ShardedTaskPtr& task, int attempt,
                             Afterwards& later) {
  Handle({task, TaskEvent::kFinished, attempt}, later);
}

void TaskMachine::OnArrived(const ShardedTaskPtr& task, int attempt,
                            const Literal& value, Afterwards& later) {
  Handle({.task = task,
          .event = TaskEvent::kArrived,
          .attempt = attempt,
          .value = &value},
         later);
}

void TaskMachine::OnFailed(const ShardedTaskPtr& task, int attempt,
                           bool at_place, const absl::Status& why,
                           Afterwards& later) {
  if (task->attempt != attempt) return;
  TaskFailure failure = FailureOf(*task, at_place, why);
  if (IsPlaceGone(failure)) {
    failure.why = Unavailable(why.message());
    // With that the attempt has ended, unless the place was known to be gone.
    Lose(task->place, task->life, failure.why, later);
  }
  if (at_place && absl::IsNotFound(why)) {
    failure.lacks_dataset = Copies::LackTaken(*task, later);
  }
  Handle({.task = task,
          .event = EventOf(failure),
          .attempt = attempt,
          .why = ErrorOf(*task, failure)},
         later);
}

void TaskMachine::Lose(int place, uint64_t life, const absl::Status& why,
                       Afterwards& later) {
  if (places_[place]->life() != life || Breaker::IsOpen(life)) return;
  places_[place]->Lose(life, why);
  ++counts_.places_left;
  dispatch_.SetOpen(place, false);
  no_place_ = Annotate(
      why, "no place is left, the last to go was " + places_[place]->name());
  later.lost_places.push_back(place);
  const auto lost = [&](const auto& copy) { return copy.place == place; };
  for (const auto& [number, task] : unfinished_) {
    for (const auto& value : task->takes) Copies::Drop(*value, lost, later);
  }
  for (const auto& [number, task] : unfinished_) {
    const bool there =
        task->place == place &&
        (task->state == State::kStarted || task->state == State::kQueued);
    const TaskEvent event = !there ? TaskEvent::kInputsChanged
                            : HasTriesLeft(*task)
                                ? TaskEvent::kPlaceLost
                                : FailEvent(task->was_done, why);
    Post({.task = task, .event = event, .attempt = task->attempt, .why = why});
  }
}

void TaskMachine::OnBack(int place) {
  dispatch_.SetOpen(place, places_[place]->open());
}

std::vector<ShardedTaskPtr> TaskMachine::TakeUnfinished() {
  std::vector<ShardedTaskPtr> tasks;
  for (auto& [number, task] : std::exchange(unfinished_, {})) {
    tasks.push_back(task);
  }
  return tasks;
}

void TaskMachine::Handle(Happening first, Afterwards& later) {
  Post(std::move(first));
  HandlePosted(later);
}

void TaskMachine::HandlePosted(Afterwards& later) {
  while (!posted_.empty()) {
    const Happening next = std::move(posted_.front());
    posted_.pop_front();
    HandleOne(next, later);
  }
}

void TaskMachine::HandleOne(const Happening& one, Afterwards& later) {
  ShardedTask& task = *one.task;
  if (one.attempt != kAnyAttempt && one.attempt != task.attempt) return;
  const TaskRow* const row = FindTaskRow(task.state, one.event);
  if (row == nullptr) return;
  task.state = row->to;
  for (const TaskEffect effect : row->effects) {
    (this->*EffectOf(effect))(one, later);
  }
}

// ---- what is known of a task ------------------------------------------------

absl::Status TaskMachine::FindMissing(
    const ShardedTask& task, std::vector<ShardedTaskPtr>* missing) const {
  for (size_t i = 0; i < task.takes.size(); ++i) {
    const ShardedValue& value = *task.takes[i];
    const Box box = task.BoxOf(i);
    const auto* status = std::get_if<absl::Status>(&value.source);
    if (status == nullptr || copies_.FindCopy(value, box) != nullptr) continue;
    for (const int g : CoverOf(value.given, box)) {
      const ShardedValue::Given& given = value.given[g];
      if (copies_.FindCopy(value, given.box) != nullptr) continue;
      if (!status->ok()) return *status;
      if (given.by->state == State::kFailed) return given.by->error;
      missing->push_back(given.by);
    }
  }
  return absl::OkStatus();
}

int TaskMachine::HomeOf(const ShardedTask& task,
                        const std::vector<int64_t>& bytes) const {
  if (task.home == kHere) return kHere;
  const int home = std::max(task.home, kHere);
  const auto most = std::max_element(bytes.begin(), bytes.end());
  const int64_t at_home = home == kHere ? 0 : bytes[home];
  return *most > at_home ? static_cast<int>(most - bytes.begin()) : home;
}

bool TaskMachine::HasPlace(const ShardedTask& task) const {
  for (size_t p = 0; p < places_.size(); ++p) {
    const bool fit = task.unfit.empty() || !task.unfit[p];
    if (fit && dispatch_.is_open(static_cast<int>(p))) return true;
  }
  return false;
}

bool TaskMachine::HasTriesLeft(const ShardedTask& task) const {
  const size_t most = kMostFailures + task.takes.size() * places_.size();
  return static_cast<size_t>(task.failures) < most;
}

TaskFailure TaskMachine::FailureOf(const ShardedTask& task, bool at_place,
                                   const absl::Status& why) const {
  TaskFailure failure{.why = why, .at_place = at_place};
  failure.expired = !task.call.cancel.Check().ok();
  failure.late = absl::IsDeadlineExceeded(why) &&
                 task.call.attempt_timeout != absl::InfiniteDuration();
  failure.takes_unfinished = task.takes_unfinished();
  failure.comes_here = task.comes_here();
  for (size_t p = 0; p < places_.size(); ++p) {
    const bool refused = static_cast<int>(p) == task.place ||
                         (!task.unfit.empty() && task.unfit[p]);
    failure.fits_elsewhere = failure.fits_elsewhere || !refused;
  }
  failure.tries_left = HasTriesLeft(task);
  failure.was_done = task.was_done;
  return failure;
}

absl::Status TaskMachine::ErrorOf(const ShardedTask& task,
                                  const TaskFailure& failure) const {
  if (failure.expired) return task.call.cancel.Check();
  if (absl::IsUnavailable(failure.why) || failure.lacks_dataset) {
    return failure.why;
  }
  if (!IsUnfit(failure.why) || failure.comes_here) {
    return task.FirstCause(failure.why);
  }
  if (failure.fits_elsewhere) return failure.why;
  const std::string& name = places_[task.place]->name();
  return absl::StrContains(failure.why.message(), name)
             ? failure.why
             : Annotate(failure.why, name);
}

}  // namespace hawser
