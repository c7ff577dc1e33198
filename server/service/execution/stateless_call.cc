#include "server/service/execution/stateless_call.h"

#include <utility>

#include "core/base/status.h"
#include "core/wire/codec.h"
#include "server/rpc/inline_time.h"

namespace hawser::server {
namespace {

// The stateless calls of a tenant; sessions have other numbers.
constexpr uint64_t kCallsFlow = 0;

}  // namespace

StatelessCall::StatelessCall(Executor& executor, absl::string_view tenant,
                             v1::CallRequest* request,
                             const CancelToken& cancel, Done done)
    : executor_(executor),
      tenant_(tenant),
      request_(request),
      number_(request->number()),
      done_([&executor, tenant = std::string(tenant), number = number_,
             done = std::move(done)](absl::StatusOr<v1::CallReply> reply) {
        executor.calls.End(tenant, number);
        done(std::move(reply));
      }) {
  executor.calls.Begin(tenant, number_);
  options_.cancel = cancel;
  if (executor.memory != nullptr) {
    options_.memory = executor.memory->Tenant(tenant)->Part("calls");
  }
}

void StatelessCall::Start(Executor& executor, absl::string_view tenant,
                          v1::CallRequest* request, const CancelToken& cancel,
                          Done done) {
  auto self = std::make_shared<StatelessCall>(executor, tenant, request, cancel,
                                              std::move(done));
  if (executor.memory != nullptr) {
    auto charge = self->options_.memory->Take(
        MemoryUse::kRequest, static_cast<int64_t>(request->SpaceUsedLong()));
    if (!charge.ok()) return self->done_(charge.status());
    self->request_charge_ = *std::move(charge);
  }
  const auto fingerprint = Digest::FromBytes(request->fingerprint());
  if (!fingerprint.ok()) {
    return self->done_(Annotate(fingerprint.status(), "fingerprint"));
  }
  auto known = executor.FindExecutable(tenant, *fingerprint);
  if (known.ok() || request->module().empty()) {
    self->Resolve(std::move(known));
  } else {
    self->Compile(*fingerprint);
  }
}

void StatelessCall::Compile(const Digest& fingerprint) {
  executor_.workers.Schedule([self = shared_from_this(), fingerprint] {
    self->Resolve(self->executor_.CompileModule(
        self->tenant_, fingerprint, self->request_->module(),
        self->request_->options(), self->options_));
  });
}

void StatelessCall::Resolve(
    absl::StatusOr<Executor::ExecutablePtr> executable) {
  if (!executable.ok()) return done_(executable.status());
  executable_ = *std::move(executable);
  int64_t bytes = 0;
  for (const Shape& shape : executable_->signature().results) {
    if (shape.byte_size() > kCallResultBytes - bytes) {
      return done_(
          ResourceExhausted("the results have more than ", kCallResultBytes,
                            " bytes, the most a call answers; use a session"));
    }
    bytes += shape.byte_size();
  }
  const absl::Status status = ResolveArguments(
      {tenant_}, executor_.arrays, *request_->mutable_arguments(), &arguments_);
  if (!status.ok()) return done_(status);
  if (arguments_.waiting.empty()) return TakeTurn();
  WhenArrived(&arguments_, /*sequence=*/0,
              [self = shared_from_this()](const absl::Status& arrived) {
                arrived.ok() ? self->TakeTurn() : self->done_(arrived);
              });
}

void StatelessCall::TakeTurn() {
  if (!DeviceQueue::Lines(executable_->seconds())) {
    if (!InlineTime::Left(InlineTime::kSeveral)) {
      executor_.workers.Schedule([self = shared_from_this()] { self->Run(); });
      return;
    }
    const InlineTime::Measure measure;
    return Run();
  }
  auto self = shared_from_this();
  turn_ = executor_.queue->MakeTurn(
      {tenant_, kCallsFlow},
      {.seconds = executable_->seconds(),
       .cancel = options_.cancel,
       .run = [self] { self->Run(); },
       .give_up = [self](const absl::Status& why) { self->GiveUp(why); }});
  options_.sharing = DeviceQueue::SharingOf(executor_.queue, turn_);
  const absl::Status entered = executor_.queue->Enter(turn_);
  if (!entered.ok()) GiveUp(entered);
}

void StatelessCall::GiveUp(const absl::Status& why) {
  turn_ = nullptr;
  arguments_ = {};
  request_charge_.Reset();
  done_(why);
}

void StatelessCall::Run() {
  executable_->Call(arguments_.values, options_)
      .OnReady([self = shared_from_this()](
                   const absl::StatusOr<runtime::Called>& called) {
        self->Finish(called);
      });
}

void StatelessCall::Finish(const absl::StatusOr<runtime::Called>& called) {
  request_charge_.Reset();
  if (turn_ != nullptr) {
    executor_.queue->Leave(turn_);
    const absl::Status stopped = turn_->ended();
    if (!stopped.ok()) return done_(stopped);
  }
  if (!called.ok()) return done_(called.status());
  v1::CallReply reply;
  for (const Literal& value : called->values) {
    ToProto(value, reply.add_results());
  }
  done_(std::move(reply));
}

}  // namespace hawser::server
