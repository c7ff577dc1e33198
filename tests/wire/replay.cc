#include "tests/wire/replay.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/datasets.pb.h"
#include "proto/executor.pb.h"
#include "tests/testing/in_process/event_loop.h"

namespace hawser {
namespace {

using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::util::MessageDifferencer;

constexpr absl::Duration kPatience = absl::Seconds(30);

const google::protobuf::MethodDescriptor* MethodOf(absl::string_view method) {
  const auto* service =
      v1::StatRequest::descriptor()->file()->FindServiceByName("Datasets");
  HAWSER_CHECK(service != nullptr);
  return service->FindMethodByName(std::string(method));
}

std::unique_ptr<Message> New(const google::protobuf::Descriptor* type) {
  return std::unique_ptr<Message>(
      MessageFactory::generated_factory()->GetPrototype(type)->New());
}

// An empty request and reply of a method; null: there is no such method.
struct Empty {
  std::unique_ptr<Message> request, reply;
};
Empty EmptyOf(absl::string_view method) {
  if (method == kOnSession) {
    return {New(v1::ClientMessage::descriptor()),
            New(v1::ServerMessage::descriptor())};
  }
  if (method == kCallMethod) {
    return {New(v1::CallRequest::descriptor()),
            New(v1::CallReply::descriptor())};
  }
  const auto* found = MethodOf(method);
  if (found == nullptr) return {};
  return {New(found->input_type()), New(found->output_type())};
}

// Answers on the session by sequence. Thread-safe.
class Answers {
 public:
  void Add(const v1::ServerMessage& message) {
    MutexLock lock(&mu_);
    for (const uint64_t sequence : message.done()) {
      answers_[sequence].set_sequence(sequence);
    }
    for (const v1::ServerMessage& each : message.more()) {
      answers_[each.sequence()] = each;
    }
    if (message.more_size() == 0 && message.done_size() == 0) {
      answers_[message.sequence()] = message;
    }
    changed_.SignalAll();
  }
  absl::StatusOr<v1::ServerMessage> Await(uint64_t sequence) {
    MutexLock lock(&mu_);
    const bool answered =
        changed_.WaitUntil(&mu_, SteadyNow() + kPatience,
                           [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
                             return answers_.contains(sequence);
                           });
    if (!answered) {
      return DeadlineExceeded("request ", sequence, " is not answered");
    }
    return answers_[sequence];
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::map<uint64_t, v1::ServerMessage> answers_ ABSL_GUARDED_BY(mu_);
};

// ---- the server of a conversation

// The kind of a request on the session, or the method.
std::string KindOf(absl::string_view method, const v1::ClientMessage& message) {
  return absl::StrCat(method, message.request_case());
}

class ReplayStream;

class ReplayTransport final : public Transport {
 public:
  explicit ReplayTransport(Conversation old) {
    for (Exchange& exchange : old) {
      v1::ClientMessage message;
      if (exchange.method == kOnSession) {
        HAWSER_CHECK(message.ParseFromString(exchange.request));
      }
      answers_[KindOf(exchange.method, message)].push_back(
          std::move(exchange.reply));
    }
  }
  std::string address() const override { return "replay:1"; }

  std::unique_ptr<SessionStream> OpenSession(
      SessionCallbacks callbacks) override;
  Future<v1::CallReply> Call(v1::CallRequest,
                             const runtime::CallOptions&) override {
    v1::CallReply reply;
    const absl::Status status = Take(KindOf(kCallMethod, {}), &reply);
    return status.ok() ? Future<v1::CallReply>(reply)
                       : Future<v1::CallReply>(status);
  }
  absl::Status Ask(absl::string_view method, const Message&, Message* reply,
                   const runtime::CallOptions&) override {
    return Take(KindOf(method, {}), reply);
  }

  // The next answer to a request of `kind`. Errors: kUnimplemented.
  absl::Status Take(const std::string& kind, Message* reply) {
    MutexLock lock(&mu_);
    const auto at = answers_.find(kind);
    if (at == answers_.end() || next_[kind] == at->second.size()) {
      return Unimplemented("the old server was not asked this: ", kind);
    }
    HAWSER_CHECK(reply->ParseFromString(at->second[next_[kind]++]));
    return absl::OkStatus();
  }

  absl::Status Upload(const v1::UploadChunk&, const Literal&,
                      const runtime::CallOptions&) override {
    return Unimplemented("bulk");
  }
  absl::Status Download(const v1::DownloadRequest&, absl::Span<char>,
                        const runtime::CallOptions&) override {
    return Unimplemented("bulk");
  }
  absl::Status PutChunks(uint64_t, absl::Span<const ChunkToPut>,
                         const runtime::CallOptions&) override {
    return Unimplemented("bulk");
  }
  absl::Status Get(
      const v1::GetRequest&,
      std::function<absl::StatusOr<absl::Span<char>>(const v1::ShapeProto&)>,
      const runtime::CallOptions&) override {
    return Unimplemented("bulk");
  }

 private:
  Mutex mu_;
  std::map<std::string, std::vector<std::string>> answers_;  // then constant
  std::map<std::string, size_t> next_ ABSL_GUARDED_BY(mu_);
  EventLoop loop_;
};

class ReplayStream final : public SessionStream {
 public:
  ReplayStream(ReplayTransport* transport, EventLoop* loop,
               SessionCallbacks callbacks)
      : transport_(transport),
        loop_(loop),
        callbacks_(std::make_shared<SessionCallbacks>(std::move(callbacks))) {}
  ~ReplayStream() override {
    // A task behind all others: what it waits for has run.
    Promise<bool> last;
    const Future<bool> over = last.future();
    loop_->Post([&last] { last.Set(true); });
    over.Await().IgnoreError();
  }
  void Send(std::shared_ptr<const v1::ClientMessage> message) override {
    if (message->more_size() == 0) return Answer(*message);
    for (const v1::ClientMessage& each : message->more()) Answer(each);
  }
  void Finish(absl::Time) override {
    loop_->Post([callbacks = callbacks_] { callbacks->on_closed({}); });
  }

 private:
  void Answer(const v1::ClientMessage& request) {
    v1::ServerMessage reply;
    const absl::Status status =
        transport_->Take(KindOf(kOnSession, request), &reply);
    reply.set_sequence(request.sequence());
    if (!status.ok() && !request.has_ping()) {
      reply.mutable_status()->set_code(static_cast<int>(status.code()));
      reply.mutable_status()->set_message(std::string(status.message()));
    }
    loop_->Post([callbacks = callbacks_, reply]() mutable {
      callbacks->on_message(&reply);
    });
  }

  ReplayTransport* const transport_;
  EventLoop* const loop_;
  const std::shared_ptr<SessionCallbacks> callbacks_;
};

std::unique_ptr<SessionStream> ReplayTransport::OpenSession(
    SessionCallbacks callbacks) {
  return std::make_unique<ReplayStream>(this, &loop_, std::move(callbacks));
}

}  // namespace

std::unique_ptr<Transport> ReplayServer(Conversation old) {
  return std::make_unique<ReplayTransport>(std::move(old));
}

absl::StatusOr<Conversation> ReplayClient(const Conversation& old,
                                          Transport& server) {
  const auto answers = std::make_shared<Answers>();
  const auto stream = server.OpenSession(
      {.on_message = [answers](v1::ServerMessage* m) { answers->Add(*m); },
       .on_closed = [](const StreamEnd&) {}});
  const runtime::CallOptions limits{.cancel =
                                        CancelToken(SteadyNow() + kPatience)};
  Conversation now;
  for (const Exchange& exchange : old) {
    Exchange again{exchange.method, exchange.request, ""};
    const Empty empty = EmptyOf(exchange.method);
    if (empty.request == nullptr ||
        !empty.request->ParseFromString(exchange.request)) {
      return Internal(exchange.method, " or its request is not known any more");
    }
    if (exchange.method == kOnSession) {
      auto message = std::make_shared<v1::ClientMessage>();
      message->CopyFrom(*empty.request);
      const uint64_t sequence = message->sequence();
      stream->Send(std::move(message));
      HAWSER_ASSIGN_OR_RETURN(const auto answer, answers->Await(sequence));
      again.reply = answer.SerializeAsString();
    } else if (exchange.method == kCallMethod) {
      v1::CallRequest request;
      request.CopyFrom(*empty.request);
      HAWSER_ASSIGN_OR_RETURN(const auto reply,
                              server.Call(request, limits).Await());
      again.reply = reply.SerializeAsString();
    } else {
      HAWSER_RETURN_IF_ERROR(server.Ask(exchange.method, *empty.request,
                                        empty.reply.get(), limits));
      again.reply = empty.reply->SerializeAsString();
    }
    now.push_back(std::move(again));
  }
  stream->Finish(SteadyNow() + kPatience);
  return now;
}

absl::Status CheckSame(const Conversation& old, const Conversation& now) {
  HAWSER_CHECK(old.size() == now.size());
  for (size_t i = 0; i < old.size(); ++i) {
    const Empty before = EmptyOf(old[i].method), after = EmptyOf(old[i].method);
    HAWSER_CHECK(before.reply->ParseFromString(old[i].reply));
    HAWSER_CHECK(after.reply->ParseFromString(now[i].reply));
    MessageDifferencer differ;
    differ.set_scope(MessageDifferencer::PARTIAL);
    for (const char* field : {"session_id", "secret", "instance_id",
                              "lease_seconds", "capabilities"}) {
      differ.IgnoreField(v1::OpenReply::descriptor()->FindFieldByName(field));
    }
    differ.IgnoreField(
        v1::DatasetInfoProto::descriptor()->FindFieldByName("last_used_ms"));
    for (const char* field :
         {"memory_held", "memory_limit", "all_memory_held", "all_memory_limit",
          "max_datasets", "max_bytes"}) {
      differ.IgnoreField(v1::UsageReply::descriptor()->FindFieldByName(field));
    }
    std::string difference;
    differ.ReportDifferencesToString(&difference);
    if (differ.Compare(*before.reply, *after.reply)) continue;
    return Internal(old[i].method, ", exchange ", i + 1, ": ", difference);
  }
  return absl::OkStatus();
}

}  // namespace hawser
