// Transport: how a RemoteClient reaches one server. gRPC in production; in
// tests an in-process one that can drop, delay and cut.
#ifndef HAWSER_CLIENT_REMOTE_TRANSPORT_H_
#define HAWSER_CLIENT_REMOTE_TRANSPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/base/future.h"
#include "core/runtime/client.h"
#include "proto/datasets.pb.h"
#include "proto/executor.pb.h"

namespace hawser {

// One open session stream. Its destructor cancels it and returns only when no
// callback is running any more.
class SessionStream {
 public:
  virtual ~SessionStream() = default;
  // Queues a message; never blocks. Messages sent after the stream broke are
  // dropped: on_closed has said or will say so.
  virtual void Send(v1::ClientMessage message) = 0;
};

struct SessionCallbacks {
  // In the order of arrival, one at a time, never inside Send.
  std::function<void(v1::ServerMessage message)> on_message;
  // Once, after the last on_message.
  std::function<void(absl::Status why)> on_closed;
};

struct ChunkToPut {
  Digest digest;
  absl::Span<const char> bytes;
};

// Thread-safe. Everything that blocks ends by the deadline of its CallOptions
// and reports the server's own Status; a lost link is kUnavailable.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string address() const = 0;

  virtual std::unique_ptr<SessionStream> OpenSession(
      SessionCallbacks callbacks) = 0;
  virtual Future<v1::CallReply> Call(v1::CallRequest request,
                                     const runtime::CallOptions& options) = 0;

  // Blocking; called on the client's own bulk threads.
  virtual absl::Status Upload(const v1::UploadChunk& header,
                              absl::Span<const char> bytes,
                              const runtime::CallOptions& options) = 0;
  virtual absl::Status Download(const v1::DownloadRequest& request,
                                absl::Span<char> into,
                                const runtime::CallOptions& options) = 0;

  // Blocking.
  virtual absl::StatusOr<v1::FindMissingReply> FindMissing(
      const v1::FindMissingRequest& request,
      const runtime::CallOptions& options) = 0;
  virtual absl::Status PutChunks(absl::Span<const ChunkToPut> chunks,
                                 const runtime::CallOptions& options) = 0;
  virtual absl::StatusOr<v1::DatasetInfoProto> Commit(
      const v1::CommitRequest& request,
      const runtime::CallOptions& options) = 0;
  virtual absl::StatusOr<v1::DatasetInfoProto> Stat(
      const v1::StatRequest& request, const runtime::CallOptions& options) = 0;
  // Calls `on_shape` once, which returns where the bytes go.
  virtual absl::Status Get(
      const v1::GetRequest& request,
      std::function<absl::StatusOr<absl::Span<char>>(const v1::ShapeProto&)>
          on_shape,
      const runtime::CallOptions& options) = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_TRANSPORT_H_
