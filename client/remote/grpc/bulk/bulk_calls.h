// The four bulk methods of a hawserd, each one stream on one connection.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_BULK_BULK_CALLS_H_
#define HAWSER_CLIENT_REMOTE_GRPC_BULK_BULK_CALLS_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/remote/grpc/bulk/bulk_stream.h"
#include "client/remote/link/transport.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"
#include "google/protobuf/message_lite.h"
#include "proto/datasets.pb.h"
#include "proto/executor.pb.h"

namespace hawser {

// Cuts bytes into frames: the first with a header, the others without. The
// bytes are those of `owner`, which is held as long as gRPC holds a frame.
class FrameCutter {
 public:
  // kCopied: what is in a frame is what the bytes were when it was cut.
  enum class Data { kShared, kCopied };

  FrameCutter(const google::protobuf::MessageLite& header, int data_field,
              absl::Span<const char> bytes, const Literal& owner,
              Data data = Data::kShared)
      : header_(header.SerializeAsString()),
        data_field_(data_field),
        data_(data),
        left_(bytes),
        owner_(std::make_shared<const Literal>(owner)) {}

  // Fills the next frame, one without data if there are no bytes. Returns how
  // many bytes are in it.
  size_t Next(grpc::ByteBuffer* frame);
  bool done() const { return left_.empty(); }

 private:
  std::string header_;  // of the next frame
  const int data_field_;
  const Data data_;
  absl::Span<const char> left_;
  const std::shared_ptr<const Literal> owner_;
};

// These do what the methods of Transport of the same name do, whose contracts
// hold.
absl::Status BulkUpload(const BulkConnection& connection,
                        const v1::UploadChunk& header, const Literal& value,
                        const runtime::CallOptions& options);
absl::Status BulkDownload(const BulkConnection& connection,
                          const v1::DownloadRequest& request,
                          absl::Span<char> into,
                          const runtime::CallOptions& options);
absl::Status BulkPut(const BulkConnection& connection, uint64_t upload,
                     absl::Span<const ChunkToPut> chunks,
                     const runtime::CallOptions& options);
absl::Status BulkGet(const BulkConnection& connection,
                     const v1::GetRequest& request,
                     const std::function<absl::StatusOr<absl::Span<char>>(
                         const v1::ShapeProto&)>& on_shape,
                     const runtime::CallOptions& options);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_BULK_BULK_CALLS_H_
