#include "tests/client/fallback/scripted_client.h"

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/client/cpu_client.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;
using runtime::CallOptions;

absl::Status Away() { return Unavailable("server: connection refused"); }

}  // namespace

struct ScriptedClient::State {
  // Answers a held fetch or call.
  using Held = std::function<void(const absl::Status& why)>;

  mutable Mutex mu;
  ScriptedClient* client = nullptr;
  std::shared_ptr<runtime::Client> inner ABSL_GUARDED_BY(mu);
  int life ABSL_GUARDED_BY(mu) = 0;
  bool away ABSL_GUARDED_BY(mu) = false;
  bool poison_when_away ABSL_GUARDED_BY(mu) = false;
  bool hold ABSL_GUARDED_BY(mu) = false;
  bool keeps_datasets ABSL_GUARDED_BY(mu) = false;
  int leaves_after ABSL_GUARDED_BY(mu) = -1;
  absl::Status fail_next ABSL_GUARDED_BY(mu);
  absl::Status poison_next ABSL_GUARDED_BY(mu);
  absl::Status refuse_datasets ABSL_GUARDED_BY(mu);
  std::function<void()> before_next_put ABSL_GUARDED_BY(mu);
  std::map<std::string, absl::Status> refused ABSL_GUARDED_BY(mu);
  std::set<std::string> tokens ABSL_GUARDED_BY(mu);
  std::vector<Held> held ABSL_GUARDED_BY(mu);
  Counts counts ABSL_GUARDED_BY(mu);

  absl::Status Here(int of_life) const {
    MutexLock lock(&mu);
    if (away) return Away();
    return life == of_life ? absl::OkStatus()
                           : Unavailable("server: session lost");
  }

  void Leave(bool come_back) {
    std::vector<Held> told;
    auto fresh = cpu::MakeCpuClient({.threads = 1});
    {
      MutexLock lock(&mu);
      if (!away) hold = false;
      away = !come_back;
      if (come_back) {
        ++life;
        if (!keeps_datasets) {
          inner = fresh;
          tokens.clear();
        }
        poison_next = fail_next = absl::OkStatus();
        leaves_after = -1;
      }
      told.swap(held);
    }
    for (const Held& answer : told) answer(Away());
  }

  // `future` as it looks from afar: lost when the server is, kept when told.
  template <typename T>
  Future<T> Seen(const Future<T>& future, int of_life,
                 const std::shared_ptr<State>& self) {
    auto promise = std::make_shared<Promise<T>>();
    {
      MutexLock lock(&mu);
      if (hold) {
        held.push_back([promise, future](const absl::Status& why) {
          promise->Set(why.ok() ? future.Await() : why);
        });
        return promise->future();
      }
    }
    future.OnReady([promise, of_life, self](const absl::StatusOr<T>& value) {
      const absl::Status here = self->Here(of_life);
      promise->Set(here.ok() ? value : here);
    });
    return promise->future();
  }
};

namespace {

using State = ScriptedClient::State;
using StatePtr = std::shared_ptr<State>;

class ScriptedBuffer : public runtime::Buffer {
 public:
  ScriptedBuffer(StatePtr state, int life, BufferPtr inner, Shape shape,
                 absl::Status poison)
      : state_(std::move(state)),
        life_(life),
        inner_(std::move(inner)),
        shape_(std::move(shape)),
        poison_(std::move(poison)) {}

  const Shape& shape() const override { return shape_; }
  runtime::Client* client() const override { return state_->client; }
  runtime::RanOn ran_on() const override { return {"server"}; }
  Future<bool> Ready(const CallOptions& options) override {
    if (absl::Status here = Usable(); !here.ok()) {
      return state_->Seen(Future<bool>(here), life_, state_);
    }
    return state_->Seen(inner_->Ready(options), life_, state_);
  }
  Future<Literal> Fetch(const CallOptions& options) override {
    {
      MutexLock lock(&state_->mu);
      ++state_->counts.fetches;
    }
    if (absl::Status here = Usable(); !here.ok()) {
      return state_->Seen(Future<Literal>(here), life_, state_);
    }
    return state_->Seen(inner_->Fetch(options), life_, state_);
  }

  absl::Status Usable() const {
    HAWSER_RETURN_IF_ERROR(state_->Here(life_));
    if (donated) return FailedPrecondition("the buffer was donated");
    return poison_;
  }
  const BufferPtr& inner() const { return inner_; }
  const absl::Status& poison() const { return poison_; }
  int life() const { return life_; }
  std::atomic<bool> donated{false};

 private:
  const StatePtr state_;
  const int life_;
  const BufferPtr inner_;
  const Shape shape_;
  const absl::Status poison_;
};

ScriptedBuffer* Own(const Argument& argument) {
  const auto* buffer = std::get_if<BufferPtr>(&argument);
  return buffer == nullptr ? nullptr
                           : static_cast<ScriptedBuffer*>(buffer->get());
}

class ScriptedExecutable : public runtime::Executable {
 public:
  ScriptedExecutable(StatePtr state, int life,
                     std::shared_ptr<runtime::Executable> inner)
      : state_(std::move(state)), life_(life), inner_(std::move(inner)) {}

  const Signature& signature() const override { return inner_->signature(); }

  absl::StatusOr<std::vector<BufferPtr>> Execute(
      absl::Span<const Argument> arguments,
      const runtime::ExecuteOptions& options) override {
    HAWSER_RETURN_IF_ERROR(options.call.cancel.Check());
    absl::Status poison;
    HAWSER_RETURN_IF_ERROR(Count(&poison));
    std::vector<Argument> there;
    for (const Argument& argument : arguments) {
      const ScriptedBuffer* own = Own(argument);
      if (own != nullptr && poison.ok()) poison = own->Usable();
      if (absl::IsFailedPrecondition(poison)) return poison;
      there.push_back(own == nullptr ? argument : Argument(own->inner()));
    }
    std::vector<BufferPtr> made(signature().results.size());
    if (poison.ok()) {
      auto results =
          inner_->Execute(there, {.call = options.call, .donated = {}});
      // It may have left meanwhile.
      if (!results.ok()) HAWSER_RETURN_IF_ERROR(state_->Here(life_));
      HAWSER_ASSIGN_OR_RETURN(made, std::move(results));
    }
    for (int i : options.donated) {
      if (Own(arguments[i]) != nullptr) Own(arguments[i])->donated = true;
    }
    for (size_t i = 0; i < made.size(); ++i) {
      made[i] = std::make_shared<ScriptedBuffer>(
          state_, life_, made[i], signature().results[i], poison);
    }
    return made;
  }

  Future<runtime::Called> Call(absl::Span<const Argument> arguments,
                               const CallOptions& options) override {
    absl::Status poison;
    if (absl::Status status = Count(&poison); !status.ok()) poison = status;
    if (!poison.ok()) return Future<runtime::Called>(poison);
    std::vector<Argument> there;
    for (const Argument& argument : arguments) {
      const ScriptedBuffer* own = Own(argument);
      there.push_back(own == nullptr ? argument : Argument(own->inner()));
    }
    return state_->Seen(inner_->Call(there, options), life_, state_);
  }

 private:
  // One more execution: what the script says to it.
  absl::Status Count(absl::Status* poison) {
    bool leaves = false;
    {
      MutexLock lock(&state_->mu);
      ++state_->counts.executions;
      leaves = state_->leaves_after >= 0 && state_->leaves_after-- == 0;
      if (!state_->away && !leaves) {
        HAWSER_RETURN_IF_ERROR(
            std::exchange(state_->fail_next, absl::OkStatus()));
        *poison = std::exchange(state_->poison_next, absl::OkStatus());
      }
    }
    if (leaves) state_->Leave(/*come_back=*/false);
    const absl::Status here = state_->Here(life_);
    MutexLock lock(&state_->mu);
    if (here.ok() || !state_->poison_when_away) return here;
    *poison = here;
    return absl::OkStatus();
  }

  const StatePtr state_;
  const int life_;
  const std::shared_ptr<runtime::Executable> inner_;
};

}  // namespace

ScriptedClient::ScriptedClient() : state_(std::make_shared<State>()) {
  MutexLock lock(&state_->mu);
  state_->client = this;
  state_->inner = cpu::MakeCpuClient({.threads = 1});
}

ScriptedClient::~ScriptedClient() {
  std::vector<State::Held> abandoned;
  MutexLock lock(&state_->mu);
  abandoned.swap(state_->held);
}

void ScriptedClient::GoAway() { state_->Leave(/*come_back=*/false); }
void ScriptedClient::ComeBack() { state_->Leave(/*come_back=*/true); }

void ScriptedClient::KeepDatasets(bool keep) {
  MutexLock lock(&state_->mu);
  state_->keeps_datasets = keep;
}

void ScriptedClient::GoAwayAfter(int executions) {
  MutexLock lock(&state_->mu);
  state_->leaves_after = executions;
}

void ScriptedClient::PoisonWhenAway() {
  MutexLock lock(&state_->mu);
  state_->poison_when_away = true;
}

void ScriptedClient::FailNext(const absl::Status& why) {
  MutexLock lock(&state_->mu);
  state_->fail_next = why;
}

void ScriptedClient::PoisonNext(const absl::Status& why) {
  MutexLock lock(&state_->mu);
  state_->poison_next = why;
}

void ScriptedClient::Refuse(const std::string& module,
                            const absl::Status& why) {
  MutexLock lock(&state_->mu);
  state_->refused[module] = why;
}

void ScriptedClient::BeforeNextPut(std::function<void()> call) {
  MutexLock lock(&state_->mu);
  state_->before_next_put = std::move(call);
}

void ScriptedClient::RefuseDatasets(const absl::Status& why) {
  MutexLock lock(&state_->mu);
  state_->refuse_datasets = why;
}

void ScriptedClient::Hold() {
  MutexLock lock(&state_->mu);
  state_->hold = true;
}

void ScriptedClient::AnswerHeld(const absl::Status& with) {
  std::vector<State::Held> held;
  {
    MutexLock lock(&state_->mu);
    state_->hold = false;
    held.swap(state_->held);
  }
  for (const State::Held& answer : held) answer(with);
}

int ScriptedClient::held() const {
  MutexLock lock(&state_->mu);
  return static_cast<int>(state_->held.size());
}

ScriptedClient::Counts ScriptedClient::counts() const {
  MutexLock lock(&state_->mu);
  return state_->counts;
}

absl::StatusOr<runtime::Capabilities> ScriptedClient::capabilities() {
  MutexLock lock(&state_->mu);
  if (state_->away) return Away();
  runtime::Capabilities capabilities;
  capabilities.platform = "scripted";
  return capabilities;
}

absl::Status ScriptedClient::Ping(const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  MutexLock lock(&state_->mu);
  ++state_->counts.pings;
  return state_->away ? Away() : absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<runtime::Executable>> ScriptedClient::Compile(
    std::shared_ptr<const Module> module,
    const runtime::CompileOptions& options, const CallOptions& call) {
  std::shared_ptr<runtime::Client> inner;
  int life = 0;
  {
    MutexLock lock(&state_->mu);
    ++state_->counts.compiles;
    if (state_->away) return Away();
    auto refused = state_->refused.find(module->name());
    if (refused != state_->refused.end()) return refused->second;
    inner = state_->inner;
    life = state_->life;
  }
  HAWSER_ASSIGN_OR_RETURN(auto compiled, inner->Compile(module, options, call));
  return std::make_shared<ScriptedExecutable>(state_, life,
                                              std::move(compiled));
}

absl::StatusOr<BufferPtr> ScriptedClient::Upload(const Literal& value,
                                                 const CallOptions& call) {
  MutexLock lock(&state_->mu);
  ++state_->counts.uploads;
  if (state_->away) return Away();
  HAWSER_ASSIGN_OR_RETURN(BufferPtr made, state_->inner->Upload(value, call));
  return std::make_shared<ScriptedBuffer>(state_, state_->life,
                                          std::move(made), value.shape(),
                                          absl::OkStatus());
}

absl::StatusOr<DatasetInfo> ScriptedClient::Put(const DatasetSource& source,
                                                const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  std::function<void()> before;
  {
    MutexLock lock(&state_->mu);
    if (!state_->away) before.swap(state_->before_next_put);
  }
  if (before) before();
  MutexLock lock(&state_->mu);
  ++state_->counts.puts;
  if (state_->away) return Away();
  HAWSER_RETURN_IF_ERROR(state_->refuse_datasets);
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info,
                          state_->inner->datasets().Put(source, call));
  info.sent_bytes = state_->tokens.insert(info.token).second ? info.bytes : 0;
  state_->counts.sent_bytes += info.sent_bytes;
  return info;
}

absl::StatusOr<BufferPtr> ScriptedClient::Open(const DatasetPart& part,
                                               const CallOptions& call) {
  MutexLock lock(&state_->mu);
  if (state_->away) return Away();
  HAWSER_ASSIGN_OR_RETURN(BufferPtr made,
                          state_->inner->datasets().Open(part, call));
  const Shape shape = made->shape();
  return std::make_shared<ScriptedBuffer>(state_, state_->life,
                                          std::move(made), shape,
                                          absl::OkStatus());
}

absl::StatusOr<DatasetAnswer> ScriptedClient::Answer(const DatasetVerb& verb,
                                                     const CallOptions& call) {
  MutexLock lock(&state_->mu);
  if (state_->away) return Away();
  if (const auto* order = std::get_if<DeleteDataset>(&verb)) {
    state_->counts.deleted.push_back(order->token);
    state_->tokens.erase(order->token);
  }
  return state_->inner->datasets().Answer(verb, call);
}

absl::StatusOr<DatasetInfo> ScriptedClient::Freeze(
    absl::Span<const runtime::NamedArgument> arrays, const CallOptions& call) {
  std::vector<runtime::NamedArgument> there(arrays.begin(), arrays.end());
  for (runtime::NamedArgument& array : there) {
    ScriptedBuffer* own = Own(array.value);
    if (own == nullptr) continue;
    HAWSER_RETURN_IF_ERROR(own->Usable());
    array.value = own->inner();
  }
  std::shared_ptr<runtime::Client> inner;
  {
    MutexLock lock(&state_->mu);
    if (state_->away) return Away();
    inner = state_->inner;
  }
  auto info = inner->datasets().Freeze(there, call);
  MutexLock lock(&state_->mu);
  if (info.ok()) info->durable = state_->keeps_datasets;
  return info;
}

}  // namespace hawser
