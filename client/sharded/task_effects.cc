// The effects of the table's rows.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "client/sharded/task_machine.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace hawser {

using runtime::Argument;
using runtime::BufferPtr;
using State = TaskState;

TaskMachine::Effect TaskMachine::EffectOf(TaskEffect effect) {
  using M = TaskMachine;
  static constexpr Effect kEffects[kTaskEffects] = {
      &M::Begin,         &M::CountRepeat,
      &M::Look,          &M::LookAfterMakers,
      &M::WaitForMakers, &M::JoinDispatch,
      &M::LeaveDispatch, &M::Bring,
      &M::LeavePlace,    &M::MarkUnfit,
      &M::CountFailure,  &M::EndAttempt,
      &M::Publish,       &M::DropResults,
      &M::CountDone,     &M::ForgetChain,
      &M::GiveValue,     &M::GiveError,
      &M::End,           &M::TellWaiters,
      &M::FailWaiters};
  return kEffects[static_cast<size_t>(effect)];
}

void TaskMachine::Begin(const Happening& one, Afterwards&) {
  one.task->failures = 0;
  one.task->unfit.clear();
  for (const ShardedValuePtr& value : one.task->takes) ++value->uses;
  unfinished_[one.task->number] = one.task;
}

void TaskMachine::CountRepeat(const Happening&, Afterwards&) {
  ++counts_.again;
}

void TaskMachine::Look(const Happening& one, Afterwards& later) {
  const ShardedTask& task = *one.task;
  Happening next{one.task, TaskEvent::kReadyForPlace};
  next.why = FindMissing(task, &next.missing);
  const bool gone = next.why.ok() && next.missing.empty() &&
                    !task.comes_here() && !HasPlace(task);
  if (gone) {
    next.why = absl::IsResourceExhausted(task.error) ? task.error : no_place_;
  }
  if (!next.why.ok()) {
    next.event = FailEvent(task.was_done, next.why);
  } else if (!next.missing.empty()) {
    next.event = TaskEvent::kInputMissing;
  } else if (task.comes_here()) {
    next.event = TaskEvent::kReadyHere;
  }
  HandleOne(next, later);
}

void TaskMachine::LookAfterMakers(const Happening& one, Afterwards& later) {
  bool waits = false;
  for (const ShardedTaskPtr& maker : one.task->Makers()) {
    if (maker->state != State::kQueued) continue;
    maker->waiters[one.task->number] = one.task;
    waits = true;
  }
  if (!waits) Look(one, later);
}

void TaskMachine::WaitForMakers(const Happening& one, Afterwards&) {
  for (const ShardedTaskPtr& maker : one.missing) {
    maker->waiters[one.task->number] = one.task;
    Post({maker, TaskEvent::kWanted});
  }
}

void TaskMachine::JoinDispatch(const Happening& one, Afterwards&) {
  const ShardedTask& task = *one.task;
  const std::vector<int64_t> bytes = copies_.BytesThere(task);
  dispatch_.Add({.number = task.number,
                 .home = HomeOf(task, bytes),
                 .work = task.work,
                 .bytes_there = bytes,
                 .unfit = task.unfit});
}

void TaskMachine::LeaveDispatch(const Happening& one, Afterwards&) {
  dispatch_.Remove(one.task->number);
}

void TaskMachine::Bring(const Happening& one, Afterwards& later) {
  ShardedTask& task = *one.task;
  task.place = one.place;
  task.life = one.place == kHere ? 0 : places_[one.place]->life();
  StartedTask started{one.task, ++task.attempt, one.place, {}};
  for (size_t i = 0; i < task.takes.size(); ++i) {
    started.takes.push_back(
        mover_.Bring(task.takes[i], task.BoxOf(i), one.place, later));
  }
  later.starts.push_back(std::move(started));
}

void TaskMachine::LeavePlace(const Happening& one, Afterwards&) {
  if (one.task->place != kHere) {
    dispatch_.Dropped(one.task->number, one.task->place);
  }
}

void TaskMachine::MarkUnfit(const Happening& one, Afterwards&) {
  one.task->unfit.resize(places_.size());
  one.task->unfit[one.task->place] = true;
  one.task->error = one.why;
}

void TaskMachine::CountFailure(const Happening& one, Afterwards&) {
  ++one.task->failures;
}

void TaskMachine::EndAttempt(const Happening& one, Afterwards&) {
  ++one.task->attempt;
}

void TaskMachine::Publish(const Happening& one, Afterwards&) {
  const ShardedTask& task = *one.task;
  const std::vector<BufferPtr>& results = *one.results;
  task.execution->ran.insert(results[0]->ran_on().where);
  for (size_t k = 0; k < results.size(); ++k) {
    const ShardedValuePtr value = task.gives[k].lock();
    if (value == nullptr || !value->needed()) continue;
    value->copies.push_back({task.what->gives[k].box, task.place, task.life,
                             Future<Argument>(Argument(results[k]))});
  }
}

void TaskMachine::DropResults(const Happening& one, Afterwards& later) {
  Copies::DropGiven(*one.task, later);
}

void TaskMachine::CountDone(const Happening& one, Afterwards&) {
  ++counts_.done;
  dispatch_.Done(one.task->number, one.task->place, SteadyNow());
  one.task->call = {};
  one.task->was_done = true;
}

void TaskMachine::ForgetChain(const Happening& one, Afterwards&) {
  if (one.task->steps < policy_.max_steps) return;
  for (const auto& weak : one.task->gives) {
    const ShardedValuePtr value = weak.lock();
    if (value == nullptr || value->known() ||
        value->shape.byte_size() <= policy_.checkpoint_bytes) {
      continue;
    }
    const bool done = std::all_of(
        value->given.begin(), value->given.end(), [](const auto& given) {
          return given.by == nullptr || given.by->state == State::kDone;
        });
    if (!done) continue;
    value->source =
        DataLoss("what at most ", policy_.max_steps,
                 " executions led to is made again; Freeze keeps values");
    for (ShardedValue::Given& given : value->given) given.by = nullptr;
  }
}

void TaskMachine::GiveValue(const Happening& one, Afterwards& later) {
  later.gifts.push_back({std::exchange(one.task->give, nullptr), *one.value});
}

void TaskMachine::GiveError(const Happening& one, Afterwards& later) {
  one.task->error = one.why;
  if (one.task->give == nullptr) return;
  later.gifts.push_back({std::exchange(one.task->give, nullptr), one.why});
}

void TaskMachine::End(const Happening& one, Afterwards& later) {
  ShardedTask& task = *one.task;
  unfinished_.erase(task.number);
  std::vector<ShardedValuePtr> unused = task.takes;
  if (!task.counted && task.execution != nullptr) {
    task.counted = true;
    if (--task.execution->unfinished == 0) {
      const auto takes = std::exchange(task.execution->takes, {});
      unused.insert(unused.end(), takes.begin(), takes.end());
    }
  }
  for (const ShardedValuePtr& value : unused) {
    --value->uses;
    Copies::Trim(*value, later);
  }
}

void TaskMachine::TellWaiters(const Happening& one, Afterwards&) {
  for (const auto& [number, waiter] : std::exchange(one.task->waiters, {})) {
    if (ShardedTaskPtr waits = waiter.lock()) {
      Post({std::move(waits), TaskEvent::kInputsChanged});
    }
  }
}

void TaskMachine::FailWaiters(const Happening& one, Afterwards&) {
  for (const auto& [number, waiter] : std::exchange(one.task->waiters, {})) {
    if (ShardedTaskPtr waits = waiter.lock()) {
      const TaskEvent event = FailEvent(waits->was_done, one.why);
      Post({.task = std::move(waits), .event = event, .why = one.why});
    }
  }
}

}  // namespace hawser
