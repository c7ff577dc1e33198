#include "server/service/stream/session_requests.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/wire/codec.h"
#include "server/service/execution/answers.h"
#include "server/service/execution/execution.h"
#include "server/service/stream/freeze.h"

namespace hawser::server {
namespace {

using runtime::BufferPtr;

// ---- compile --------------------------------------------------------------

void FinishCompile(Session& session, const Ticket& ticket, uint64_t name,
                   const Digest& fingerprint,
                   absl::StatusOr<Executor::ExecutablePtr> executable) {
  absl::Status status = executable.status();
  // An error here is the first cause for every Execute of that number.
  const absl::Status named = session.executables().Set(
      name, fingerprint,
      executable.ok() ? std::move(executable)
                      : InSequence(ticket.sequence, status));
  if (status.ok()) status = named;
  if (!status.ok()) return Answer(session, ticket, status);
  auto message = NewServerMessage();
  message->mutable_compile();
  Answer(session, ticket, std::move(message));
}

// `value`, with `charge` for as long as its bytes live.
Literal Charged(Literal value, MemoryCharge charge) {
  struct Held {
    Literal value;
    MemoryCharge charge;
  };
  const Shape shape = value.shape();
  auto held = std::make_shared<Held>();
  held->value = std::move(value);
  held->charge = std::move(charge);
  const char* const bytes = held->value.bytes().data();
  return Literal::Adopt(shape,
                        std::shared_ptr<const char>(std::move(held), bytes));
}

void Compile(Executor& executor, const std::shared_ptr<Session>& session,
             const Ticket& ticket, v1::CompileRequest* request,
             std::function<void()> done) {
  const auto fingerprint = Digest::FromBytes(request->fingerprint());
  if (!fingerprint.ok()) {
    Answer(*session, ticket, Annotate(fingerprint.status(), "fingerprint"));
    return done();
  }
  if (request->module().empty()) {
    FinishCompile(*session, ticket, request->executable(), *fingerprint,
                  executor.FindExecutable(session->tenant(), *fingerprint));
    return done();
  }
  auto waiting = std::make_shared<MemoryCharge>();
  if (session->memory() != nullptr) {
    auto charge = session->memory()->Take(
        MemoryUse::kRequest, static_cast<int64_t>(request->module().size()));
    if (!charge.ok()) {
      FinishCompile(*session, ticket, request->executable(), *fingerprint,
                    charge.status());
      return done();
    }
    *waiting = *std::move(charge);
  }
  executor.workers.Schedule([&executor, session, ticket, request, waiting,
                             fingerprint = *fingerprint,
                             done = std::move(done)] {
    runtime::CallOptions call;
    call.cancel = session->cancel();
    FinishCompile(
        *session, ticket, request->executable(), fingerprint,
        executor.CompileModule(session->tenant(), fingerprint,
                               request->module(), request->options(), call));
    done();
  });
}

// ---- upload ---------------------------------------------------------------

absl::Status Upload(Executor& executor, Session& session,
                    v1::UploadRequest& request) {
  HandleTable& handles = session.handles();
  HAWSER_RETURN_IF_ERROR(handles.CheckNames(request.handle(), 1));
  HAWSER_ASSIGN_OR_RETURN(const Shape shape, FromProto(request.shape()));
  HAWSER_RETURN_IF_ERROR(handles.CheckRoom({shape}));
  if (request.streamed()) {
    if (!request.data().empty()) {
      return InvalidArgument("a streamed upload carries no data");
    }
    handles.DeclareUpload(request.handle(), shape);
    return absl::OkStatus();
  }
  v1::LiteralProto proto;
  *proto.mutable_shape() = std::move(*request.mutable_shape());
  *proto.mutable_data() = std::move(*request.mutable_data());
  HAWSER_ASSIGN_OR_RETURN(Literal value, FromProto(std::move(proto)));
  if (session.memory() != nullptr) {
    HAWSER_ASSIGN_OR_RETURN(
        MemoryCharge charge,
        session.memory()->Take(MemoryUse::kUpload, shape.byte_size()));
    value = Charged(std::move(value), std::move(charge));
  }
  runtime::CallOptions call;
  call.memory = session.memory();
  call.cancel = session.cancel();
  HAWSER_ASSIGN_OR_RETURN(BufferPtr buffer,
                          executor.device->Upload(value, call));
  handles.Insert(request.handle(), Value{.now = std::move(buffer)},
                 shape.byte_size());
  return absl::OkStatus();
}

void ApplyUpload(Executor& executor, Session& session, const Ticket& ticket,
                 v1::UploadRequest& request) {
  const uint64_t handle = request.handle();
  const bool fresh = session.handles().CheckNames(handle, 1).ok();
  const absl::Status status = Upload(executor, session, request);
  if (!status.ok() && fresh) {
    session.handles().Insert(
        handle, Value{.now = InSequence(ticket.sequence, status)}, 0);
  }
  Answer(session, ticket, status);
}

// ---- fetch ----------------------------------------------------------------

void AnswerFetch(Session& session, const Ticket& ticket, const Shape& shape,
                 const Literal* value) {
  auto message = NewServerMessage();
  v1::FetchReply* reply = message->mutable_fetch();
  *reply->mutable_shape() = ToProto(shape);
  if (value != nullptr) {
    reply->set_data(value->bytes().data(), value->bytes().size());
  } else {
    reply->set_large(true);
  }
  Answer(session, ticket, std::move(message));
}

void FetchBuffer(const std::shared_ptr<Session>& session, const Ticket& ticket,
                 const Value& value, const BufferPtr& buffer, int64_t room) {
  auto fail = [session, ticket, value](const absl::Status& own) {
    WithCause(value, own, [session, ticket](const absl::Status& cause) {
      Answer(*session, ticket, cause);
    });
  };
  if (buffer->shape().byte_size() <= room) {
    buffer->Fetch({}).OnReady(
        [session, ticket, fail](const absl::StatusOr<Literal>& literal) {
          if (!literal.ok()) return fail(literal.status());
          AnswerFetch(*session, ticket, literal->shape(), &*literal);
        });
    return;
  }
  buffer->Ready({}).OnReady([session, ticket, fail, shape = buffer->shape()](
                                const absl::StatusOr<bool>& ready) {
    if (!ready.ok()) return fail(ready.status());
    AnswerFetch(*session, ticket, shape, nullptr);
  });
}

void Fetch(const std::shared_ptr<Session>& session, const Ticket& ticket,
           const v1::FetchRequest& request) {
  const auto value = session->handles().Find(request.handle());
  if (!value.ok()) return Answer(*session, ticket, value.status());
  const int64_t room = static_cast<int64_t>(std::min<uint64_t>(
      request.max_inline_bytes(), static_cast<uint64_t>(kInlineFetchBytes)));
  WhenThere(*value, [session, ticket, room,
                     value = *value](const absl::StatusOr<BufferPtr>& buffer) {
    if (!buffer.ok()) return Answer(*session, ticket, buffer.status());
    FetchBuffer(session, ticket, value, *buffer, room);
  });
}

// ---- ping -----------------------------------------------------------------

void Ping(const Executor& executor, Session& session, const Ticket& ticket,
          const v1::PingRequest& request) {
  if (!request.report()) return Answer(session, ticket, absl::OkStatus());
  auto message = NewServerMessage();
  v1::PingReply* reply = message->mutable_ping();
  for (const uint64_t sequence : session.UnfinishedRequests()) {
    if (sequence != ticket.sequence) reply->add_unfinished(sequence);
  }
  const DeviceQueue::Line line = executor.queue->Look(session.tenant());
  reply->set_waiting(static_cast<int64_t>(line.waiting_of_tenant));
  reply->set_waiting_before(static_cast<int64_t>(line.before_tenant));
  reply->set_waited_us(absl::ToInt64Microseconds(line.oldest_of_tenant));
  for (const uint64_t call : request.calls()) {
    if (executor.calls.Has(session.tenant(), call)) {
      reply->add_unfinished_calls(call);
    }
  }
  Answer(session, ticket, std::move(message));
}

// A request of a later version is a field that this one does not know.
absl::Status RefuseUnknown(const v1::ClientMessage& message,
                           uint64_t sequence) {
  if (message.GetReflection()->GetUnknownFields(message).empty()) {
    return InvalidArgument("request ", sequence, " asks for nothing");
  }
  return Unimplemented("request ", sequence,
                       " is of no kind this server knows");
}

}  // namespace

void WhenThere(
    const Value& value,
    std::function<void(const absl::StatusOr<runtime::BufferPtr>&)> fn) {
  if (value.later.valid()) {
    value.later.OnReady(std::move(fn));
  } else {
    fn(value.now);
  }
}

void WithCause(const Value& value, const absl::Status& own,
               std::function<void(const absl::Status&)> fn) {
  if (!value.outcome.valid()) return fn(own);
  value.outcome.OnReady(
      [own, fn = std::move(fn)](const absl::StatusOr<bool>& outcome) {
        fn(outcome.ok() ? own : outcome.status());
      });
}

void ApplyRequest(Executor& executor, const std::shared_ptr<Session>& session,
                  const Ticket& ticket, const GivenBack& given_back,
                  v1::ClientMessage* message, std::function<void()> done) {
  switch (message->request_case()) {
    case v1::ClientMessage::kCompile:
      return Compile(executor, session, ticket, message->mutable_compile(),
                     std::move(done));
    case v1::ClientMessage::kExecute:
      Execution::Start(executor, session, ticket, given_back,
                       *message->mutable_execute());
      break;
    case v1::ClientMessage::kUpload:
      ApplyUpload(executor, *session, ticket, *message->mutable_upload());
      break;
    case v1::ClientMessage::kFetch:
      Fetch(session, ticket, message->fetch());
      break;
    case v1::ClientMessage::kFreeze:
      Freeze::Start(executor, session, ticket, *message->mutable_freeze());
      break;
    case v1::ClientMessage::kPing:
      Ping(executor, *session, ticket, message->ping());
      break;
    default:
      Answer(*session, ticket, RefuseUnknown(*message, ticket.sequence));
  }
  done();
}

}  // namespace hawser::server
