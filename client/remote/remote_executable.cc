#include "client/remote/remote_executable.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/remote/link/watched.h"
#include "client/remote/remote_buffer.h"
#include "client/remote/value.h"
#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "core/runtime/attempt.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

// One Execute under way. Holds nothing of its results but their Outcome, so
// that a result without a holder is given back at once.
class Execution final : public Request {
 public:
  Execution(std::string address, std::shared_ptr<const RemoteProgram> program,
            std::shared_ptr<Outcome> outcome)
      : address_(std::move(address)),
        program_(std::move(program)),
        outcome_(std::move(outcome)) {}

  void OnReply(const absl::Status& status, v1::ServerMessage* reply) override {
    if (!status.ok()) return outcome_->Settle(status);
    const auto& shapes = program_->signature().results;
    Outcome::Values values(shapes.size());
    for (const v1::InlineResult& result : reply->execute().results()) {
      if (result.index() >= shapes.size()) continue;
      const Shape& shape = shapes[result.index()];
      // Left out: too large to come along.
      if (result.data().empty() && shape.byte_size() > 0) continue;
      auto value = Literal::FromBytes(shape, result.data());
      if (!value.ok()) {
        return outcome_->Settle(
            BrokenProtocol(address_, "result ", result.index(), " of an ",
                           "execution: ", value.status().message()));
      }
      values[result.index()] = *std::move(value);
    }
    outcome_->Settle(absl::OkStatus(), std::move(values));
  }

 private:
  const std::string address_;
  const std::shared_ptr<const RemoteProgram> program_;
  const std::shared_ptr<Outcome> outcome_;
};

// The answer to a stateless call, checked against what was compiled.
absl::StatusOr<std::vector<Literal>> ResultsOf(const std::string& address,
                                               const Signature& signature,
                                               v1::CallReply reply) {
  std::vector<Literal> results;
  for (v1::LiteralProto& proto : *reply.mutable_results()) {
    absl::StatusOr<Literal> value = FromProto(std::move(proto));
    if (!value.ok()) {
      return BrokenProtocol(address, "result ", results.size(),
                            " of a call: ", value.status().message());
    }
    results.push_back(*std::move(value));
  }
  if (results.size() != signature.results.size()) {
    return BrokenProtocol(address, "a call was answered with ", results.size(),
                          " results, not ", signature.results.size());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].shape() == signature.results[i]) continue;
    return BrokenProtocol(address, "result ", i, " of a call is ",
                          results[i].shape().ToString(), ", not ",
                          signature.results[i].ToString());
  }
  return results;
}

// One Call: once by fingerprint, then with the body if that was not known.
class StatelessCall final : public Watched,
                            public std::enable_shared_from_this<StatelessCall> {
 public:
  StatelessCall(const RemoteLink& link, std::shared_ptr<RemoteProgram> program,
                v1::CallRequest request, const CancelToken& cancel)
      : Watched(cancel),
        transport_(link.transport()),
        ran_on_(link.ran_on()),
        program_(std::move(program)),
        request_(std::move(request)),
        bytes_(static_cast<int64_t>(request_.ByteSizeLong())),
        flight_("wire", "call"),
        future_(promise_.future()) {}

  const Future<runtime::Called>& future() const { return future_; }
  void Stop(const absl::Status& why) override { promise_.Set(why); }
  uint64_t number() const override { return request_.number(); }
  int64_t sent_bytes() const override { return bytes_; }

  void Send(bool with_body) {
    if (with_body) {
      request_.set_module(program_->bytes().data(), program_->bytes().size());
    }
    transport_->Call(request_, {.cancel = cancel()})
        .OnReady([self = shared_from_this(),
                  with_body](const absl::StatusOr<v1::CallReply>& reply) {
          CallbackScope scope;
          self->OnReply(reply, with_body);
        });
  }

 private:
  void OnReply(const absl::StatusOr<v1::CallReply>& reply, bool with_body) {
    if (absl::IsNotFound(reply.status()) && !with_body && !future_.ready()) {
      return Send(/*with_body=*/true);
    }
    flight_.Land();
    if (!reply.ok()) {
      promise_.Set(reply.status());
    } else {
      auto values =
          ResultsOf(transport_->address(), program_->signature(), *reply);
      if (!values.ok()) {
        promise_.Set(values.status());
      } else {
        promise_.Set(runtime::Called{*std::move(values), ran_on_});
      }
    }
  }

  const std::shared_ptr<Transport> transport_;
  const runtime::RanOn ran_on_;
  const std::shared_ptr<RemoteProgram> program_;
  v1::CallRequest request_;
  const int64_t bytes_;
  TraceFlight flight_;
  Promise<runtime::Called> promise_;
  const Future<runtime::Called> future_;
};

}  // namespace

RemoteExecutable::RemoteExecutable(std::shared_ptr<RemoteLink> link,
                                   std::shared_ptr<RemoteProgram> program)
    : link_(std::move(link)), program_(std::move(program)) {}

absl::Status RemoteExecutable::Check(
    absl::Span<const Argument> arguments) const {
  HAWSER_RETURN_IF_ERROR(
      runtime::CheckArguments(program_->signature(), arguments));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferPtr>(&arguments[i]);
    if (buffer == nullptr || (*buffer)->client() == link_->client()) {
      continue;
    }
    return FailedPrecondition("argument ", i, " lives on ",
                              (*buffer)->client()->name(), ", not on ",
                              link_->name());
  }
  return absl::OkStatus();
}

absl::Status RemoteExecutable::FillExecute(
    absl::Span<const Argument> arguments,
    const runtime::ExecuteOptions& options,
    const std::shared_ptr<RemoteSession>& session,
    std::vector<BufferPtr>* uploads, v1::ExecuteRequest* execute) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    v1::ArgumentProto* proto = execute->add_arguments();
    const auto* literal = std::get_if<Literal>(&arguments[i]);
    BufferPtr buffer;
    if (literal == nullptr) {
      buffer = std::get<BufferPtr>(arguments[i]);
    } else if (literal->shape().byte_size() > kMaxInlineBytes) {
      HAWSER_ASSIGN_OR_RETURN(buffer,
                              UploadIn(link_, session, *literal, options.call));
      uploads->push_back(buffer);
    } else {
      ToProto(*literal, proto->mutable_literal());
      continue;
    }
    const absl::Status status =
        static_cast<RemoteBuffer*>(buffer.get())->ToArgument(*session, proto);
    if (!status.ok()) return Annotate(status, absl::StrCat("argument ", i));
  }
  for (int donated : options.donated) {
    if (donated < 0 || donated >= static_cast<int>(arguments.size())) {
      return InvalidArgument("donated argument ", donated, " of ",
                             arguments.size());
    }
    // Only a value with a name over there can be given away, and only while no
    // fetch waits for it.
    if (!execute->arguments(donated).has_handle()) continue;
    const auto* held = std::get_if<BufferPtr>(&arguments[donated]);
    if (held != nullptr &&
        static_cast<RemoteBuffer*>(held->get())->being_fetched()) {
      continue;
    }
    execute->add_donated(donated);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BufferPtr>> RemoteExecutable::Execute(
    absl::Span<const Argument> arguments,
    const runtime::ExecuteOptions& options) {
  HAWSER_RETURN_IF_ERROR(Check(arguments));
  const CancelToken cancel = runtime::AttemptToken(options.call);
  HAWSER_RETURN_IF_ERROR(options.call.cancel.Check());
  const std::shared_ptr<RemoteSession> session = link_->Session();
  const uint64_t name = program_->NameIn(session);

  const auto& shapes = program_->signature().results;
  auto outcome = std::make_shared<Outcome>(cancel, /*results_come_along=*/true);
  auto execution =
      std::make_shared<Execution>(link_->name(), program_, outcome);
  v1::ExecuteRequest* execute = execution->message->mutable_execute();
  // Given back as soon as this is queued: the running work holds them.
  std::vector<BufferPtr> uploads;
  HAWSER_RETURN_IF_ERROR(
      FillExecute(arguments, options, session, &uploads, execute));
  const uint64_t first = session->NewHandles(static_cast<int>(shapes.size()));
  execute->set_executable(name);
  execute->set_first_result(first);
  if (cancel.deadline() != absl::InfiniteFuture()) {
    execute->set_timeout_us(std::max<int64_t>(
        absl::ToInt64Microseconds(cancel.deadline() - SteadyNow()), 1));
  }
  link_->Watch(outcome);
  HAWSER_RETURN_IF_ERROR(
      session->Submit(execution, cancel, options.call.cancel));

  for (int donated : options.donated) {
    if (const auto* buffer = std::get_if<BufferPtr>(&arguments[donated])) {
      static_cast<RemoteBuffer*>(buffer->get())->MarkDonated();
    }
  }
  std::vector<BufferPtr> results;
  results.reserve(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    results.push_back(std::make_shared<HandleBuffer>(
        link_, shapes[i], std::make_shared<Handle>(session, first + i), outcome,
        static_cast<int>(i)));
  }
  return results;
}

absl::Status RemoteExecutable::FillCall(absl::Span<const Argument> arguments,
                                        v1::CallRequest* request) const {
  const absl::string_view fingerprint = program_->fingerprint().bytes();
  request->set_fingerprint(fingerprint.data(), fingerprint.size());
  *request->mutable_options() = ToProto(program_->options());
  for (size_t i = 0; i < arguments.size(); ++i) {
    v1::ArgumentProto* proto = request->add_arguments();
    if (const auto* literal = std::get_if<Literal>(&arguments[i])) {
      ToProto(*literal, proto->mutable_literal());
      continue;
    }
    auto* buffer =
        static_cast<RemoteBuffer*>(std::get<BufferPtr>(arguments[i]).get());
    if (absl::Status status = buffer->ToStatelessArgument(proto);
        !status.ok()) {
      return Annotate(status, absl::StrCat("argument ", i));
    }
  }
  return absl::OkStatus();
}

Future<runtime::Called> RemoteExecutable::Call(
    absl::Span<const Argument> arguments, const runtime::CallOptions& call) {
  using Results = Future<runtime::Called>;
  if (absl::Status status = Check(arguments); !status.ok()) {
    return Results(status);
  }
  const CancelToken cancel = runtime::AttemptToken(call);
  if (absl::Status status = call.cancel.Check(); !status.ok()) {
    return Results(status);
  }
  v1::CallRequest request;
  if (absl::Status status = FillCall(arguments, &request); !status.ok()) {
    return Results(status);
  }
  request.set_number(RandomNumber());
  auto stateless = std::make_shared<StatelessCall>(*link_, program_,
                                                   std::move(request), cancel);
  link_->Watch(stateless);
  link_->WatchSilence(stateless);
  // The server has compiled it, unless it was started anew since.
  stateless->Send(/*with_body=*/false);
  return stateless->future();
}

}  // namespace hawser
