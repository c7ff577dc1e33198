// Transport: how a RemoteClient reaches one server. gRPC in production; in
// tests an in-process one that can drop, delay and cut.
#ifndef HAWSER_CLIENT_REMOTE_LINK_TRANSPORT_H_
#define HAWSER_CLIENT_REMOTE_LINK_TRANSPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"
#include "google/protobuf/message.h"
#include "proto/datasets.pb.h"
#include "proto/executor.pb.h"

namespace hawser {

// One open session stream. Its destructor cancels it and returns only when no
// callback is running any more, so it must not run inside one.
class SessionStream {
 public:
  virtual ~SessionStream() = default;
  // Queues a message, which must not change any more; never blocks. Messages
  // sent after the stream broke are dropped: on_closed has said or will say
  // so.
  virtual void Send(std::shared_ptr<const v1::ClientMessage> message) = 0;
  // Sends like Send, but may wait for Flush, or until `batch` messages can go
  // out as one, where batches are allowed. True: they only wait for the write
  // before, whose end may not have been looked at.
  virtual bool SendInBatch(std::shared_ptr<const v1::ClientMessage> message,
                           size_t batch) {
    Send(std::move(message));
    return false;
  }
  virtual void Flush() {}
  // The server takes several requests in one message: what queues up behind a
  // write may go out together.
  virtual void AllowBatches() {}
  // Says that nothing will be sent any more, which ends the session, and waits
  // until what was sent is gone and the server has closed, or the deadline.
  virtual void Finish(absl::Time deadline) = 0;
};

// Says how a session stream ended.
struct StreamEnd {
  absl::Status why;  // OK: the server closed it
  // The address refuses connections: the process that held the session is
  // gone.
  bool refused = false;
};

struct SessionCallbacks {
  // In the order of arrival, one at a time, never inside Send. The message may
  // be moved from.
  std::function<void(v1::ServerMessage* message)> on_message;
  // Called once, after the last on_message.
  std::function<void(const StreamEnd& end)> on_closed;
};

struct ChunkToPut {
  Digest digest;
  absl::Span<const char> bytes;  // inside `owner`
  Literal owner;
};

// An end did something that the protocol does not have: it is taken for lost,
// so that another one stands in for it.
template <typename... Args>
absl::Status BrokenProtocol(const std::string& address, const Args&... what) {
  return Unavailable(address, ": broke the protocol: ", what...);
}

// Thread-safe. Everything that blocks ends soon after the deadline, the
// attempt timeout or the cancel flag of its CallOptions, or once the other end
// has neither taken nor sent anything for RemoteOptions::silence, and reports
// the server's own Status; a lost or silent link is kUnavailable naming the
// address.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string address() const = 0;
  // True if the link itself makes sure that bytes arrive as they were sent, as
  // TLS does.
  virtual bool protects_bytes() const { return false; }

  virtual std::unique_ptr<SessionStream> OpenSession(
      SessionCallbacks callbacks) = 0;
  // Ends by the deadline and the attempt timeout; does not watch the flag.
  virtual Future<v1::CallReply> Call(v1::CallRequest request,
                                     const runtime::CallOptions& options) = 0;

  // Blocking; called on the client's own bulk threads. The bytes of `value`
  // are not copied: it may be held a while longer than the call.
  virtual absl::Status Upload(const v1::UploadChunk& header,
                              const Literal& value,
                              const runtime::CallOptions& options) = 0;
  // Errors: kUnavailable when other than into.size() bytes come.
  virtual absl::Status Download(const v1::DownloadRequest& request,
                                absl::Span<char> into,
                                const runtime::CallOptions& options) = 0;

  // One request to a method of service Datasets, "Stat" say, and its answer.
  // Blocking.
  virtual absl::Status Ask(absl::string_view method,
                           const google::protobuf::Message& request,
                           google::protobuf::Message* reply,
                           const runtime::CallOptions& options) = 0;
  // The same where the caller watches for silence and ends the call by its
  // token: it takes as long as the other end works on it.
  virtual absl::Status AskPatiently(absl::string_view method,
                                    const google::protobuf::Message& request,
                                    google::protobuf::Message* reply,
                                    const CancelToken& cancel) {
    return Ask(method, request, reply, {.cancel = cancel});
  }
  // Ask for a Method of core/wire/dataset_verbs.h.
  template <typename Method>
  absl::StatusOr<typename Method::Reply> Ask(
      const typename Method::Request& request,
      const runtime::CallOptions& options) {
    typename Method::Reply reply;
    HAWSER_RETURN_IF_ERROR(Ask(Method::kMethod, request, &reply, options));
    return reply;
  }

  // One stream; several calls at once share the link.
  virtual absl::Status PutChunks(uint64_t upload,
                                 absl::Span<const ChunkToPut> chunks,
                                 const runtime::CallOptions& options) = 0;
  // Calls `on_shape` once, which returns where the bytes go.
  virtual absl::Status Get(
      const v1::GetRequest& request,
      std::function<absl::StatusOr<absl::Span<char>>(const v1::ShapeProto&)>
          on_shape,
      const runtime::CallOptions& options) = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_LINK_TRANSPORT_H_
