#include "client/sharded/shard_runner.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_join.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/threads/all_of.h"
#include "core/base/threads/or_expired.h"
#include "core/runtime/attempt.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

std::vector<std::shared_ptr<ShardPlace>> PlacesOf(
    std::vector<std::shared_ptr<runtime::Client>> clients,
    const ShardedPolicy& policy) {
  std::vector<std::shared_ptr<ShardPlace>> places;
  for (auto& client : clients) {
    places.push_back(std::make_shared<ShardPlace>(std::move(client), policy));
  }
  return places;
}

}  // namespace

ShardRunner::ShardRunner(std::vector<std::shared_ptr<runtime::Client>> clients,
                         const ShardedPolicy& policy)
    : policy_(policy),
      places_(PlacesOf(std::move(clients), policy)),
      mover_(&places_, gate_,
             {.locked =
                  [this](absl::FunctionRef<void(Afterwards&)> event) {
                    On([&](TaskMachine&, Afterwards& later) { event(later); });
                  },
              .lost = std::bind_front(&ShardRunner::Lost, this),
              .owner = [this] { return shared_from_this(); }}),
      machine_(&policy_, &places_, &mover_) {}

void ShardRunner::Close() {
  gate_->Close();
  places_.clear();  // after what their threads do
  const auto unfinished = [this] {
    MutexLock lock(&mu_);
    return machine_.TakeUnfinished();
  }();
  for (const ShardedTaskPtr& task : unfinished) {
    if (task->give) task->give(Cancelled("the client is gone"));
    if (task->execution != nullptr) task->execution->takes.clear();
  }
}

bool ShardRunner::On(Event event, Waiting waiting) {
  Afterwards later;
  {
    const Gate::Pass pass = gate_->Enter();
    if (!pass) return false;
    MutexLock lock(&mu_);
    event(machine_, later);
    machine_.StartWhatCan(later);
  }
  Do(later, waiting);
  return true;
}

std::vector<std::shared_ptr<ShardPlace>> ShardRunner::places() const {
  const Gate::Pass pass = gate_->Enter();
  return pass ? places_ : std::vector<std::shared_ptr<ShardPlace>>();
}

// ---- what is due without the lock -------------------------------------------

void ShardRunner::Do(Afterwards& later, Waiting waiting) {
  for (const auto& move : later.moves) move();
  later.moves.clear();
  for (StartedTask& started : std::exchange(later.starts, {})) {
    const auto takes = AllOf(std::exchange(started.takes, {}));
    if (takes.ready()) {
      OnTaken(started, takes.Await(), waiting);
      continue;
    }
    takes.OnReady([self = shared_from_this(),
                   started](const absl::StatusOr<std::vector<Argument>>& all) {
      self->OnTaken(started, all, Waiting::kNo);
    });
  }
  for (const int place : later.lost_places) AwaitReturn(place);
  later.garbage.clear();
  for (Gift& gift : later.gifts) gift.give(gift.value);
}

void ShardRunner::AwaitReturn(int place) {
  const auto back = [&]() -> Future<bool> {
    const Gate::Pass pass = gate_->Enter();
    return pass ? places_[place]->Back() : Future<bool>(false);
  }();
  back.OnReady(
      [place, weak = weak_from_this()](const absl::StatusOr<bool>& is) {
        const auto self = weak.lock();
        if (self == nullptr || !is.ok() || !*is) return;
        self->On([place](TaskMachine& machine, Afterwards&) {
          machine.OnBack(place);
        });
      });
}

void ShardRunner::OnTaken(const StartedTask& started,
                          const absl::StatusOr<std::vector<Argument>>& takes,
                          Waiting waiting) {
  const ShardedTaskPtr& task = started.task;
  const int attempt = started.attempt;
  if (!takes.ok()) {
    On([&](TaskMachine& machine, Afterwards& later) {
      machine.OnFailed(task, attempt, /*at_place=*/false, takes.status(),
                       later);
    });
    return;
  }
  if (started.place == kHere) {
    On([&](TaskMachine& machine, Afterwards& later) {
      machine.OnArrived(task, attempt, std::get<Literal>((*takes)[0]), later);
    });
    return;
  }
  std::shared_ptr<ShardPlace> place;  // kept where no pass is held
  {
    const Gate::Pass pass = gate_->Enter();
    if (!pass) return;
    ShardPlace* const at = places_[started.place].get();
    const bool now = waiting == Waiting::kMay &&
                     task->program->IsAt(*at, *task->what->module);
    if (!now) {
      at->Soon([self = shared_from_this(), at, task, attempt, takes = *takes] {
        self->Queue(task, attempt, *at, takes);
      });
      return;
    }
    place = places_[started.place];
  }
  Queue(task, attempt, *place, *takes);
}

void ShardRunner::Queue(const ShardedTaskPtr& task, int attempt,
                        const ShardPlace& place,
                        std::vector<Argument> arguments) {
  runtime::CallOptions call;
  {
    MutexLock lock(&mu_);
    if (task->attempt != attempt) return;
    call = task->call;
  }
  for (const int64_t offset : task->what->offsets) {
    arguments.emplace_back(Literal::Scalar<int64_t>(offset));
  }
  const CancelToken attempt_ends = runtime::AttemptToken(call);
  const auto results =
      task->program->Run(place, task->what->module, arguments, call);
  if (!results.ok()) {
    On([&](TaskMachine& machine, Afterwards& later) {
      machine.OnFailed(task, attempt, /*at_place=*/true, results.status(),
                       later);
    });
    return;
  }
  // The smallest, in case its client fetches it to know.
  const BufferPtr smallest = *std::min_element(
      results->begin(), results->end(),
      [](const BufferPtr& a, const BufferPtr& b) {
        return a->shape().byte_size() < b->shape().byte_size();
      });
  On([&](TaskMachine& machine, Afterwards& later) {
    machine.OnQueued(task, attempt, *results, later);
  });
  OrExpired(smallest->Ready(call), attempt_ends)
      .OnReady([self = shared_from_this(), task,
                attempt](const absl::StatusOr<bool>& ready) {
        self->On([&](TaskMachine& machine, Afterwards& later) {
          if (ready.ok()) {
            machine.OnFinished(task, attempt, later);
          } else {
            machine.OnFailed(task, attempt, /*at_place=*/true, ready.status(),
                             later);
          }
        });
      });
}

// ---- from outside -----------------------------------------------------------

void ShardRunner::Lost(int place, uint64_t life, const absl::Status& why) {
  On([&](TaskMachine& machine, Afterwards& later) {
    machine.Lose(place, life, why, later);
  });
}

bool ShardRunner::Run(const std::vector<ShardedTaskPtr>& tasks) {
  const absl::Time now = SteadyNow();
  return On(
      [&](TaskMachine& machine, Afterwards& later) {
        for (const ShardedTaskPtr& task : tasks) {
          ++task->execution->unfinished;
          task->since = now;
          for (const ShardedValuePtr& value : task->takes) {
            ++value->uses;
            task->execution->takes.push_back(value);
            task->steps = std::max(task->steps, value->steps() + 1);
            task->since = std::min(task->since, value->since());
          }
          // The next look is as much later.
          task->cut = now - task->since >= policy_.max_replay;
          if (task->cut) task->since = now;
        }
        machine.Want(tasks, later);
      },
      Waiting::kMay);
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
  const bool open = On([&](TaskMachine& machine, Afterwards& later) {
    machine.Want({task}, later);
  });
  if (!open) promise->Set(FailedPrecondition("the client is gone"));
  return OrExpired(promise->future(), runtime::AttemptToken(call));
}

void ShardRunner::Hold(const ShardedValuePtr& value) {
  MutexLock lock(&mu_);
  ++value->holders;
}

void ShardRunner::LetGo(const ShardedValuePtr& value) {
  On([&](TaskMachine&, Afterwards& later) {
    --value->holders;
    Copies::Trim(*value, later);
  });
}

ArgumentLayout ShardRunner::LayoutOf(const ShardedValue& value) const {
  MutexLock lock(&mu_);
  if (value.given.empty()) {
    if (!std::holds_alternative<DatasetPart>(value.source)) return {};
    return {.at = ArgumentLayout::At::kEverywhere};
  }
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
  const TaskMachine::Counts& counts = machine_.counts();
  return {.tasks = counts.done,
          .tasks_again = counts.again,
          .places_left = counts.places_left,
          .fetched_bytes = moved.fetched,
          .sent_bytes = moved.sent};
}

void ShardRunner::Checkpoint(const ShardedValuePtr& value) {
  if (value->shape.byte_size() > policy_.checkpoint_bytes) return;
  Hold(value);
  Fetch(value, {}).OnReady([this, self = shared_from_this(),
                            value](const absl::StatusOr<Literal>& fetched) {
    if (fetched.ok()) ComesFrom(value, *fetched);
    LetGo(value);
  });
}

void ShardRunner::Root(const ShardedValuePtr& value, const DatasetPart& frozen,
                       const Literal& here) {
  // A small one outlives its dataset, too.
  if (value->shape.byte_size() <= policy_.checkpoint_bytes) {
    ComesFrom(value, here);
  } else {
    ComesFrom(value, frozen);
  }
}

void ShardRunner::ComesFrom(const ShardedValuePtr& value,
                            ShardedValue::Source source) {
  std::vector<ShardedTaskPtr> chain;  // goes outside the lock
  On([&](TaskMachine&, Afterwards&) {
    if (value->known()) return;
    value->source = std::move(source);
    for (ShardedValue::Given& one : value->given) {
      chain.push_back(std::move(one.by));
      one.by = nullptr;
    }
  });
}

}  // namespace hawser
