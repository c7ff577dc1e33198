#include "client/sharded/shard_runner.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/threads/all_of.h"
#include "core/base/threads/or_expired.h"
#include "core/runtime/attempt.h"

namespace hawser {
namespace {

using State = ShardedTask::State;
using runtime::Argument;
using runtime::BufferPtr;

// In Run, on the thread of its caller, which may wait, and does not yet.
thread_local bool is_users_thread = false;

// A task that was not done so often is given up; and as often as places may
// turn out not to have the datasets that it takes.
constexpr int kMostFailures = 16;

std::vector<std::unique_ptr<ShardPlace>> PlacesOf(
    std::vector<std::shared_ptr<runtime::Client>> clients,
    const ShardedPolicy& policy) {
  std::vector<std::unique_ptr<ShardPlace>> places;
  for (auto& client : clients) {
    places.push_back(std::make_unique<ShardPlace>(std::move(client), policy));
  }
  return places;
}

// Another place may be able to.
bool IsUnfit(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnimplemented(status);
}

}  // namespace

ShardRunner::ShardRunner(std::vector<std::shared_ptr<runtime::Client>> clients,
                         const ShardedPolicy& policy)
    : policy_(policy),
      places_(PlacesOf(std::move(clients), policy)),
      mover_(&places_, gate_,
             {.locked = [this](Event event) { On(event); },
              .lost = std::bind_front(&ShardRunner::Lost, this),
              .owner = [this] { return shared_from_this(); }}),
      dispatch_(static_cast<int>(places_.size())) {}

void ShardRunner::Close() {
  gate_->Close();
  places_.clear();  // after what their threads do
  const auto unfinished = [this] {
    MutexLock lock(&mu_);
    return std::exchange(unfinished_, {});
  }();
  for (const auto& [number, task] : unfinished) {
    if (task->give) task->give(Cancelled("the client is gone"));
    if (task->execution != nullptr) task->execution->takes.clear();
  }
}

bool ShardRunner::On(Event event) {
  thread_local std::vector<std::function<void()>>* outermost = nullptr;
  Afterwards later;
  std::vector<std::function<void()>> tells;
  const bool is_outermost = outermost == nullptr;
  {
    const Gate::Pass pass = gate_->Enter();
    if (!pass) return false;
    if (is_outermost) outermost = &tells;
    {
      MutexLock lock(&mu_);
      event(later);
      StartWhatCan(later);
    }
    for (auto& tell : later.tells) outermost->push_back(std::move(tell));
    for (const auto& call : later.calls) call();
    later.calls.clear();
    later.garbage.clear();
  }
  if (!is_outermost) return true;
  outermost = nullptr;
  for (const auto& tell : tells) tell();
  return true;
}

void ShardRunner::StartWhatCan(Afterwards& later) {
  while (const auto start = dispatch_.Next(SteadyNow())) {
    const auto task = unfinished_.find(start->task);
    if (task != unfinished_.end()) Start(task->second, start->place, later);
  }
}

// ---- from outside -----------------------------------------------------------

void ShardRunner::Lost(int place, uint64_t life, const absl::Status& why) {
  On([&](Afterwards& later) { Lose(place, life, why, later); });
}

void ShardRunner::Run(const std::vector<ShardedTaskPtr>& tasks) {
  is_users_thread = true;
  On([&](Afterwards& later) {
    for (const ShardedTaskPtr& task : tasks) {
      ++task->execution->unfinished;
      for (const ShardedValuePtr& value : task->takes) {
        ++value->uses;
        task->execution->takes.push_back(value);
        task->steps = std::max(task->steps, value->steps() + 1);
      }
    }
    for (const ShardedTaskPtr& task : tasks) {
      task->number = next_number_++;
      Want(task, later);
    }
  });
  is_users_thread = false;
}

Future<Literal> ShardRunner::Fetch(const ShardedValuePtr& value,
                                   const runtime::CallOptions& call) {
  auto promise = std::make_shared<Promise<Literal>>();
  auto task = std::make_shared<ShardedTask>();
  task->takes = {value};
  task->call = call;
  task->give = [promise](const absl::StatusOr<Literal>& result) {
    promise->Set(result);
  };
  const bool open = On([&](Afterwards& later) {
    task->number = next_number_++;
    Want(task, later);
  });
  if (!open) promise->Set(FailedPrecondition("the client is gone"));
  return OrExpired(promise->future(), runtime::AttemptToken(call));
}

void ShardRunner::Hold(const ShardedValuePtr& value) {
  MutexLock lock(&mu_);
  ++value->holders;
}

void ShardRunner::LetGo(const ShardedValuePtr& value) {
  On([&](Afterwards& later) {
    --value->holders;
    Trim(*value, later);
  });
}

ArgumentLayout ShardRunner::LayoutOf(const ShardedValue& value) const {
  MutexLock lock(&mu_);
  if (std::holds_alternative<DatasetPart>(value.source)) {
    return {.at = ArgumentLayout::At::kEverywhere};
  }
  if (value.given.empty()) return {};
  ArgumentLayout layout{.at = ArgumentLayout::At::kPieces};
  for (const ShardedValue::Given& one : value.given) {
    layout.pieces.push_back(one.box);
  }
  return layout;
}

std::string ShardRunner::WhereIs(const ShardedValue& value) const {
  MutexLock lock(&mu_);
  return value.execution == nullptr ? ""
                                    : absl::StrJoin(value.execution->ran, ", ");
}

ShardedStats ShardRunner::stats() const {
  const MovedBytes moved = mover_.moved();
  MutexLock lock(&mu_);
  ShardedStats stats = stats_;
  stats.fetched_bytes = moved.fetched;
  stats.sent_bytes = moved.sent;
  return stats;
}

// ---- what is asked for ------------------------------------------------------

void ShardRunner::Want(const ShardedTaskPtr& task, Afterwards& later) {
  if (task->state != State::kIdle && task->state != State::kDone) return;
  if (task->state == State::kDone) ++stats_.tasks_again;
  task->state = State::kWaiting;
  task->failures = 0;
  task->unfit.clear();
  for (const ShardedValuePtr& value : task->takes) ++value->uses;
  unfinished_[task->number] = task;
  Check(task, later);
}

absl::Status ShardRunner::FindMissing(
    const ShardedTask& task, std::vector<ShardedTaskPtr>* missing) const {
  for (size_t i = 0; i < task.takes.size(); ++i) {
    const ShardedValue& value = *task.takes[i];
    const Box box = task.BoxOf(i);
    const auto* status = std::get_if<absl::Status>(&value.source);
    if (status == nullptr || mover_.FindCopy(value, box) != nullptr) continue;
    for (const int g : CoverOf(value.given, box)) {
      const ShardedValue::Given& given = value.given[g];
      if (mover_.FindCopy(value, given.box) != nullptr) continue;
      if (!status->ok()) return *status;
      if (given.by->state == State::kFailed) return given.by->error;
      missing->push_back(given.by);
    }
  }
  return absl::OkStatus();
}

void ShardRunner::Check(const ShardedTaskPtr& task, Afterwards& later) {
  if (task->state != State::kWaiting && task->state != State::kReady) return;
  dispatch_.Remove(task->number);
  task->state = State::kWaiting;
  std::vector<ShardedTaskPtr> missing;
  if (absl::Status lost = FindMissing(*task, &missing); !lost.ok()) {
    return Fail(task, lost, later);
  }
  if (missing.empty()) return MakeReady(task, later);
  for (const ShardedTaskPtr& other : missing) {
    other->waiters[task->number] = task;
  }
  for (const ShardedTaskPtr& other : missing) Want(other, later);
}

void ShardRunner::MakeReady(const ShardedTaskPtr& task, Afterwards& later) {
  if (task->comes_here()) return Start(task, kHere, later);
  if (!HasPlace(*task)) {
    const bool full = absl::IsResourceExhausted(task->error);
    const absl::Status gone = Unavailable("no place is left");
    return Fail(task, full ? task->error : gone, later);
  }
  ReadyTask ready{.number = task->number,
                  .home = task->home,
                  .work = task->work,
                  .bytes_there = mover_.BytesThere(*task),
                  .unfit = task->unfit};
  // A task that belongs to a place goes where most of its bytes are.
  if (task->home != kHere) {
    const std::vector<int64_t>& bytes = ready.bytes_there;
    const auto most = std::max_element(bytes.begin(), bytes.end());
    ready.home = std::max(task->home, kHere);
    if (*most > (ready.home == kHere ? 0 : bytes[ready.home])) {
      ready.home = static_cast<int>(most - bytes.begin());
    }
  }
  task->state = State::kReady;
  dispatch_.Add(std::move(ready));
}

// ---- one attempt ------------------------------------------------------------

void ShardRunner::Start(const ShardedTaskPtr& task, int place,
                        Afterwards& later) {
  task->state = State::kStarted;
  task->place = place;
  task->life = place == kHere ? 0 : places_[place]->life();
  const int attempt = ++task->attempt;
  std::vector<Future<Argument>> takes;
  for (size_t i = 0; i < task->takes.size(); ++i) {
    takes.push_back(
        mover_.Bring(task->takes[i], task->BoxOf(i), place, later));
  }
  later.calls.push_back([this, task, attempt, place, takes] {
    AllOf(takes).OnReady([this, self = shared_from_this(), task, attempt,
                          place](
                             const absl::StatusOr<std::vector<Argument>>& all) {
      if (!all.ok()) {
        On([&](Afterwards& then) {
          OnTakesFailed(task, attempt, all.status(), then);
        });
      } else if (place == kHere) {
        On([&](Afterwards& then) {
          if (task->attempt != attempt) return;
          then.tells.push_back(std::bind(std::exchange(task->give, nullptr),
                                         std::get<Literal>((*all)[0])));
          End(task, State::kDone, then);
        });
      } else {
        const Gate::Pass pass = gate_->Enter();
        if (!pass) return;
        // It may wait for room here, where a caller of Execute is; meanwhile
        // this thread may be told of what other tasks wait for.
        if (is_users_thread &&
            task->program->IsAt(*places_[place], *task->what->module)) {
          is_users_thread = false;
          Queue(task, attempt, *places_[place], *all);
          is_users_thread = true;
          return;
        }
        places_[place]->Soon([this, task, attempt, place, takes = *all] {
          Queue(task, attempt, *places_[place], takes);
        });
      }
    });
  });
}

void ShardRunner::Queue(const ShardedTaskPtr& task, int attempt,
                        ShardPlace& place, const std::vector<Argument>& takes) {
  runtime::CallOptions call;
  {
    MutexLock lock(&mu_);
    if (task->attempt != attempt) return;
    call = task->call;
  }
  std::vector<Argument> arguments = takes;
  for (const int64_t offset : task->what->offsets) {
    arguments.emplace_back(Literal::Scalar<int64_t>(offset));
  }
  const CancelToken attempt_ends = runtime::AttemptToken(call);
  auto results = task->program->Run(place, task->what->module, arguments, call);
  if (!results.ok()) {
    On([&](Afterwards& later) {
      OnPlaceFailed(task, attempt, results.status(), later);
    });
    return;
  }
  // The smallest, in case its client fetches it to know.
  const BufferPtr smallest = *std::min_element(
      results->begin(), results->end(),
      [](const BufferPtr& a, const BufferPtr& b) {
        return a->shape().byte_size() < b->shape().byte_size();
      });
  On([&](Afterwards& later) { OnQueued(task, attempt, *results, later); });
  OrExpired(smallest->Ready(call), attempt_ends)
      .OnReady([this, self = shared_from_this(), task,
                attempt](const absl::StatusOr<bool>& ready) {
        On([&](Afterwards& later) {
          if (ready.ok()) {
            OnDone(task, attempt, later);
          } else {
            OnPlaceFailed(task, attempt, ready.status(), later);
          }
        });
      });
}

void ShardRunner::OnQueued(const ShardedTaskPtr& task, int attempt,
                           const std::vector<BufferPtr>& results,
                           Afterwards& later) {
  if (task->attempt != attempt) return;
  task->state = State::kQueued;
  task->execution->ran.insert(results[0]->ran_on().where);
  for (size_t k = 0; k < results.size(); ++k) {
    const ShardedValuePtr value = task->gives[k].lock();
    if (value == nullptr || !value->needed()) continue;
    value->copies.push_back({task->what->gives[k].box, task->place, task->life,
                             Future<Argument>(Argument(results[k]))});
  }
  TellWaiters(*task, later);
}

void ShardRunner::OnDone(const ShardedTaskPtr& task, int attempt,
                         Afterwards& later) {
  if (task->attempt != attempt) return;
  ++stats_.tasks;
  dispatch_.Done(task->number, task->place, SteadyNow());
  task->call = {};
  task->was_done = true;
  End(task, State::kDone, later);
  ForgetChain(*task);
}

void ShardRunner::OnTakesFailed(const ShardedTaskPtr& task, int attempt,
                                const absl::Status& why, Afterwards& later) {
  if (task->attempt != attempt) return;
  if (task->place != kHere) dispatch_.Dropped(task->number, task->place);
  const absl::Status expired = task->call.cancel.Check();
  if (!expired.ok()) return Fail(task, expired, later);
  // When the tasks that give what it takes have ended, it is known which of
  // them failed first, by position.
  if (task->takes_unfinished() || absl::IsUnavailable(why)) {
    Again(task, why, later);
  } else if (!IsUnfit(why) || task->comes_here()) {
    Fail(task, task->FirstCause(why), later);
  } else {
    OnUnfit(task, why, later);
  }
}

int ShardRunner::MostFailures(const ShardedTask& task) const {
  return kMostFailures + static_cast<int>(task.takes.size() * places_.size());
}

bool ShardRunner::HasPlace(const ShardedTask& task) const {
  for (size_t p = 0; p < places_.size(); ++p) {
    const bool fit = task.unfit.empty() || !task.unfit[p];
    if (fit && dispatch_.is_open(static_cast<int>(p))) return true;
  }
  return false;
}

void ShardRunner::OnPlaceFailed(const ShardedTaskPtr& task, int attempt,
                                const absl::Status& why, Afterwards& later) {
  if (task->attempt != attempt) return;
  dispatch_.Dropped(task->number, task->place);
  const absl::Status expired = task->call.cancel.Check();
  if (!expired.ok()) return Fail(task, expired, later);
  const bool late =
      absl::IsDeadlineExceeded(why) &&
      task->call.attempt_timeout != absl::InfiniteDuration();
  if (absl::IsUnavailable(why) || late) {
    const absl::Status gone = Unavailable(why.message());
    Lose(task->place, task->life, gone, later);
    // Unless that was known before: then it began again with the others.
    if (task->attempt == attempt) Again(task, gone, later);
    return;
  }
  if (absl::IsNotFound(why) && Mover::LackTaken(*task, later)) {
    return Again(task, why, later);
  }
  if (!IsUnfit(why)) return Fail(task, task->FirstCause(why), later);
  if (task->takes_unfinished()) return Again(task, why, later);
  OnUnfit(task, why, later);
}

void ShardRunner::OnUnfit(const ShardedTaskPtr& task, const absl::Status& why,
                          Afterwards& later) {
  task->unfit.resize(places_.size());
  task->unfit[task->place] = true;
  task->error = why;
  if (std::count(task->unfit.begin(), task->unfit.end(), false) > 0) {
    return Again(task, why, later);
  }
  const std::string& name = places_[task->place]->name();
  Fail(task, absl::StrContains(why.message(), name) ? why : Annotate(why, name),
       later);
}

void ShardRunner::Again(const ShardedTaskPtr& task, const absl::Status& why,
                        Afterwards& later) {
  if (++task->failures > MostFailures(*task)) return Fail(task, why, later);
  Mover::DropGiven(*task, later);
  ++task->attempt;
  task->state = State::kWaiting;
  // A value that it takes may come from a task that has failed too, which is
  // not known yet.
  bool waits = false;
  for (const ShardedTaskPtr& maker : task->Makers()) {
    if (maker->state != State::kQueued) continue;
    maker->waiters[task->number] = task;
    waits = true;
  }
  if (!waits) Check(task, later);
}

void ShardRunner::End(const ShardedTaskPtr& task, State state,
                      Afterwards& later) {
  task->state = state;
  unfinished_.erase(task->number);
  if (!task->counted && task->execution != nullptr) {
    task->counted = true;
    if (--task->execution->unfinished == 0) Release(*task->execution, later);
  }
  for (const ShardedValuePtr& value : task->takes) {
    --value->uses;
    Trim(*value, later);
  }
  TellWaiters(*task, later);
}

void ShardRunner::Release(ShardedExecution& execution, Afterwards& later) {
  const auto takes = std::move(execution.takes);
  execution.takes.clear();
  for (const ShardedValuePtr& value : takes) {
    --value->uses;
    Trim(*value, later);
  }
}

void ShardRunner::Fail(const ShardedTaskPtr& task, const absl::Status& why,
                       Afterwards& later) {
  if (task->ended()) return;  // with one of its makers
  dispatch_.Remove(task->number);
  ++task->attempt;
  task->error = why;
  if (task->give) {
    later.tells.push_back(std::bind(std::exchange(task->give, nullptr), why));
  }
  Mover::DropGiven(*task, later);
  if (!task->was_done || !absl::IsUnavailable(why)) {
    return End(task, State::kFailed, later);
  }
  // It was not made again now; it may be when it is asked for once more.
  const auto waiters = std::exchange(task->waiters, {});
  End(task, State::kDone, later);
  for (const auto& [number, waiter] : waiters) {
    if (const ShardedTaskPtr one = waiter.lock()) Fail(one, why, later);
  }
}

void ShardRunner::TellWaiters(ShardedTask& task, Afterwards& later) {
  const auto waiters = std::exchange(task.waiters, {});
  for (const auto& [number, waiter] : waiters) {
    if (const ShardedTaskPtr one = waiter.lock()) Check(one, later);
  }
}

void ShardRunner::Trim(ShardedValue& value, Afterwards& later) {
  const bool needed = value.needed();
  if (needed && value.uses > 0) return;
  const auto not_needed = [needed](const ShardedValue::Copy& copy) {
    return !needed || copy.place == kHere;
  };
  Mover::Drop(value, not_needed, later);
}

// ---- places that go and come ------------------------------------------------

void ShardRunner::Lose(int place, uint64_t life, const absl::Status& why,
                       Afterwards& later) {
  if (places_[place]->life() != life || Breaker::IsOpen(life)) return;
  places_[place]->Lose(life, why);
  ++stats_.places_left;
  dispatch_.SetOpen(place, false);
  later.calls.push_back([this, place] {
    places_[place]->WhenBack([this, place, weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      On([&](Afterwards&) {  // it may be gone once more
        dispatch_.SetOpen(place, places_[place]->open());
      });
    });
  });
  std::vector<ShardedTaskPtr> waiting;
  const auto lost = [&](const auto& copy) { return copy.place == place; };
  for (const auto& [number, task] : unfinished_) {
    for (const auto& value : task->takes) Mover::Drop(*value, lost, later);
    if (task->place == place &&
        (task->state == State::kStarted || task->state == State::kQueued)) {
      ++task->failures;
      ++task->attempt;
      task->state = State::kWaiting;
    }
    if (task->state == State::kWaiting || task->state == State::kReady) {
      waiting.push_back(task);
    }
  }
  for (const ShardedTaskPtr& task : waiting) {
    if (task->failures > MostFailures(*task)) {
      Fail(task, why, later);
    } else if (dispatch_.any_open() || task->comes_here()) {
      Check(task, later);
    } else {
      Fail(task,
           Annotate(why, "no place is left, the last to go was " +
                             places_[place]->name()),
           later);
    }
  }
}

void ShardRunner::ForgetChain(const ShardedTask& task) {
  if (task.steps < policy_.max_steps) return;
  for (const auto& weak : task.gives) {
    const ShardedValuePtr value = weak.lock();
    if (value == nullptr || value->host() != nullptr ||
        value->shape.byte_size() <= policy_.checkpoint_bytes) {
      continue;
    }
    const bool done = std::all_of(
        value->given.begin(), value->given.end(), [](const auto& one) {
          return one.by == nullptr || one.by->state == State::kDone;
        });
    if (!done) continue;
    value->source =
        DataLoss("what at most ", policy_.max_steps,
                 " executions led to is made again; Freeze keeps values");
    for (ShardedValue::Given& one : value->given) one.by = nullptr;
  }
}

void ShardRunner::Checkpoint(const ShardedValuePtr& value) {
  if (value->shape.byte_size() > policy_.checkpoint_bytes) return;
  Hold(value);
  Fetch(value, {}).OnReady([this, self = shared_from_this(),
                            value](const absl::StatusOr<Literal>& fetched) {
    std::vector<ShardedTaskPtr> chain;  // goes outside the lock
    On([&](Afterwards& later) {
      --value->holders;
      Trim(*value, later);
      if (!fetched.ok()) return;
      value->source = *fetched;
      for (ShardedValue::Given& one : value->given) {
        chain.push_back(std::move(one.by));
        one.by = nullptr;
      }
    });
  });
}

}  // namespace hawser
