#include "server/service/stateless_call.h"

#include <utility>

#include "absl/hash/hash.h"
#include "core/base/status.h"
#include "core/wire/codec.h"

namespace hawser::server {

StatelessCall::StatelessCall(Executor& executor, absl::string_view tenant,
                             v1::CallRequest* request,
                             const CancelToken& cancel, Done done)
    : executor_(executor),
      tenant_(tenant),
      request_(request),
      done_(std::move(done)) {
  options_.cancel = cancel;
}

void StatelessCall::Start(Executor& executor, absl::string_view tenant,
                          v1::CallRequest* request, const CancelToken& cancel,
                          Done done) {
  auto self = std::make_shared<StatelessCall>(executor, tenant, request, cancel,
                                              std::move(done));
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
  executor_.workers.Run([self = shared_from_this(), fingerprint] {
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
  if (!DeviceQueue::Lines(executable_->seconds())) return Run();
  const absl::Status entered =
      executor_.queue->Enter(absl::HashOf(tenant_), executable_->seconds(),
                             [self = shared_from_this()] { self->Run(); });
  if (!entered.ok()) done_(entered);
}

void StatelessCall::Run() {
  executable_->Call(arguments_.values, options_)
      .OnReady([self = shared_from_this()](
                   const absl::StatusOr<std::vector<Literal>>& results) {
        self->Finish(results);
      });
}

void StatelessCall::Finish(
    const absl::StatusOr<std::vector<Literal>>& results) {
  if (DeviceQueue::Lines(executable_->seconds())) executor_.queue->Leave();
  if (!results.ok()) return done_(results.status());
  v1::CallReply reply;
  for (const Literal& value : *results) ToProto(value, reply.add_results());
  done_(std::move(reply));
}

}  // namespace hawser::server
