#include "server/service/execution/execution.h"

#include "absl/container/flat_hash_set.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "server/rpc/inline_time.h"
#include "server/service/execution/answers.h"

namespace hawser::server {
namespace {

constexpr int64_t kSmallLiterals = 4 << 10;

// Handles that go with this request, checked.
absl::StatusOr<std::vector<uint64_t>> DonatedHandles(
    const v1::ExecuteRequest& request) {
  std::vector<uint64_t> handles;
  absl::flat_hash_set<uint32_t> seen;
  for (uint32_t index : request.donated()) {
    if (index >= static_cast<uint32_t>(request.arguments_size())) {
      return InvalidArgument("donated argument ", index, " of ",
                             request.arguments_size());
    }
    if (!request.arguments(index).has_handle()) {
      return InvalidArgument("donated argument ", index, " is no handle");
    }
    if (!seen.insert(index).second) {
      return InvalidArgument("argument ", index, " is donated twice");
    }
    handles.push_back(request.arguments(index).handle());
  }
  return handles;
}

}  // namespace

void Execution::Start(Executor& executor, std::shared_ptr<Session> session,
                      const Ticket& ticket, const GivenBack& given_back,
                      v1::ExecuteRequest& request) {
  auto self = std::make_shared<Execution>(std::move(session), ticket,
                                          request.first_result());
  absl::Status status = self->FindExecutable(request.executable());
  // The number of results of an unknown executable is unknown; the first handle
  // tells what happened.
  ResultHandles& results = self->handles_;
  results.set_count(status.ok() ? self->executable_->signature().results.size()
                                : 1);
  const absl::Status names =
      self->session_->handles().CheckNames(results.first(), results.count());
  if (!names.ok()) return Answer(*self->session_, ticket, names);
  self->results_ride_ = self->AnyKept(given_back);
  if (status.ok()) status = self->Prepare(executor, request);
  if (!status.ok()) {
    self->Settle(status);
  } else if (!self->arguments_.waiting.empty() || self->queue_ != nullptr) {
    self->AwaitArguments();
  } else if (InlineTime::Left(self->session_->id())) {
    self->RunHere();
  } else {
    // Other requests wait for this thread.
    self->NameResults();
    executor.workers.Schedule([self] { self->Run(); });
  }
}

bool Execution::AnyKept(const GivenBack& given_back) const {
  for (size_t i = 0; i < handles_.count(); ++i) {
    if (!given_back.contains(handles_.first() + i)) return true;
  }
  return false;
}

absl::Status Execution::FindExecutable(uint64_t name) {
  auto executable = session_->executables().Find(name);
  if (!executable.has_value()) {
    return InSequence(
        ticket_.sequence,
        NotFound("executable ", name, " is not known in this session"));
  }
  HAWSER_ASSIGN_OR_RETURN(executable_, *std::move(executable));
  return absl::OkStatus();
}

absl::Status Execution::Prepare(Executor& executor,
                                v1::ExecuteRequest& request) {
  absl::StatusOr<std::vector<uint64_t>> donated = DonatedHandles(request);
  if (!donated.ok()) return InSequence(ticket_.sequence, donated.status());
  if (DeviceQueue::Lines(executable_->seconds())) queue_ = executor.queue;
  options_.donated.assign(request.donated().begin(), request.donated().end());
  options_.call.memory = session_->memory();
  options_.call.cancel = session_->cancel().Until(
      request.timeout_us() > 0
          ? SteadyNow() + absl::Microseconds(request.timeout_us())
          : absl::InfiniteFuture());
  handles_.set_wanted(std::make_shared<const Wanted>(options_.call.cancel));
  const ArgumentScope scope{session_->tenant(), &session_->handles(),
                            ticket_.sequence};
  absl::Status status = ChargeLiterals(request);
  if (status.ok()) {
    status = ResolveArguments(scope, executor.arrays,
                              *request.mutable_arguments(), &arguments_);
  }
  // Theirs is then the last reference, and the engine may reuse the memory.
  session_->handles().Release(*donated);
  HAWSER_RETURN_IF_ERROR(status);
  return InSequence(ticket_.sequence, session_->handles().CheckRoom(
                                          executable_->signature().results));
}

absl::Status Execution::ChargeLiterals(const v1::ExecuteRequest& request) {
  if (session_->memory() == nullptr) return absl::OkStatus();
  int64_t bytes = 0;
  for (const v1::ArgumentProto& argument : request.arguments()) {
    if (!argument.has_literal()) continue;
    bytes += static_cast<int64_t>(argument.literal().data().size());
  }
  // The state of a session is charged with room for small ones.
  if (bytes < kSmallLiterals) return absl::OkStatus();
  auto charge = session_->memory()->Take(MemoryUse::kRequest, bytes);
  if (!charge.ok()) return InSequence(ticket_.sequence, charge.status());
  arguments_charge_ = *std::move(charge);
  return absl::OkStatus();
}

void Execution::NameResults() {
  handles_.Declare(executable_->signature().results);
}

void Execution::AwaitArguments() {
  NameResults();
  WhenArrived(&arguments_, ticket_.sequence,
              [self = shared_from_this()](const absl::Status& arrived) {
                arrived.ok() ? self->TakeTurn() : self->Settle(arrived);
              });
}

void Execution::TakeTurn() {
  if (queue_ == nullptr) return Run();
  auto self = shared_from_this();
  turn_ = queue_->MakeTurn(
      {session_->tenant(), session_->id()},
      {.seconds = executable_->seconds(),
       .cancel = options_.call.cancel,
       .run = [self] { self->Run(); },
       .give_up = [self](const absl::Status& why) { self->GiveUp(why); }});
  options_.call.sharing = DeviceQueue::SharingOf(queue_, turn_);
  const absl::Status entered = queue_->Enter(turn_);
  if (!entered.ok()) GiveUp(entered);
}

void Execution::GiveTurn() {
  if (turn_ == nullptr) return;
  queue_->Leave(turn_);
  // The queue's reason for an end is more exact than the token's.
  stopped_ = turn_->ended();
}

void Execution::GiveUp(const absl::Status& why) {
  turn_ = nullptr;
  arguments_ = {};
  arguments_charge_.Reset();
  Settle(InSequence(ticket_.sequence, why));
}

void Execution::RunHere() {
  const InlineTime::Measure measure;
  Run();
}

void Execution::Run() {
  auto buffers = executable_->Execute(arguments_.values, options_);
  arguments_.values.clear();
  arguments_.waiting.clear();
  if (buffers.ok() && buffers->size() != handles_.count()) {
    buffers = Internal("the device gave ", buffers->size(), " results for ",
                       handles_.count());
  }
  if (!buffers.ok()) {
    arguments_charge_.Reset();
    GiveTurn();
    return Fail(buffers.status());
  }
  Collect(*std::move(buffers));
}

void Execution::Collect(std::vector<runtime::BufferPtr> buffers) {
  results_.resize(buffers.size());
  left_ = buffers.size() + 1;
  int64_t room = kInlineResultsBytes;
  // They end when the execution does, at the latest by its own token.
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t bytes = buffers[i]->shape().byte_size();
    if (results_ride_ && bytes <= kInlineResultBytes && bytes <= room) {
      room -= bytes;
      buffers[i]->Fetch({}).OnReady(
          [self = shared_from_this(), i](const absl::StatusOr<Literal>& value) {
            self->Got(i, value.status(), value.ok() ? &*value : nullptr);
          });
    } else {
      buffers[i]->Ready({}).OnReady(
          [self = shared_from_this(), i](const absl::StatusOr<bool>& ready) {
            self->Got(i, ready.status(), nullptr);
          });
    }
  }
  Give(std::move(buffers));
  if (--left_ == 0) Finish();
}

void Execution::Got(size_t result, const absl::Status& status,
                    const Literal* value) {
  results_[result].status = status;
  if (value != nullptr) results_[result].value = *value;
  if (--left_ == 0) Finish();
}

void Execution::Give(std::vector<runtime::BufferPtr> buffers) {
  bool ended = left_ == 1;
  for (size_t i = 0; ended && i < results_.size(); ++i) {
    ended = results_[i].status.ok();
  }
  handles_.Give(std::move(buffers), ended);
}

void Execution::Finish() {
  arguments_charge_.Reset();
  GiveTurn();
  for (const Result& result : results_) {
    if (!result.status.ok()) return Fail(result.status);
  }
  std::shared_ptr<v1::ServerMessage> message;
  for (size_t i = 0; i < results_.size(); ++i) {
    const Literal& value = results_[i].value;
    if (!value.valid()) continue;
    if (message == nullptr) message = NewServerMessage();
    v1::InlineResult* result = message->mutable_execute()->add_results();
    result->set_index(static_cast<uint32_t>(i));
    result->set_data(value.bytes().data(), value.bytes().size());
  }
  results_.clear();
  handles_.Succeed();
  if (message == nullptr) return Answer(*session_, ticket_, absl::OkStatus());
  Answer(*session_, ticket_, std::move(message));
}

void Execution::Fail(const absl::Status& own, size_t from) {
  if (!stopped_.ok()) return Settle(InSequence(ticket_.sequence, stopped_));
  for (size_t i = from; i < arguments_.outcomes.size(); ++i) {
    const Future<bool>& outcome = arguments_.outcomes[i];
    if (!outcome.ready()) {
      // It ends before long: its value is what this step ran on.
      outcome.OnReady([self = shared_from_this(), own, i](const auto&) {
        self->Fail(own, i);
      });
      return;
    }
    const absl::StatusOr<bool> verdict = outcome.Await();
    if (!verdict.ok()) return Settle(verdict.status());
  }
  Settle(InSequence(ticket_.sequence, own));
}

void Execution::Settle(const absl::Status& cause) {
  handles_.Fail(cause);
  Answer(*session_, ticket_, cause);
}

}  // namespace hawser::server
