#include "client/remote/grpc/bulk/bulk_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/remote/grpc/bulk/bulk_stream.h"
#include "core/base/process/mapped_file.h"
#include "core/base/status.h"
#include "core/runtime/attempt.h"
#include "proto/bulk_frame.h"

namespace hawser {
namespace {

// Data in one frame.
constexpr size_t kFrameBytes = 512 << 10;

absl::Status Run(const BulkConnection& connection, absl::string_view method,
                 const BulkFrames& frames,
                 const runtime::CallOptions& options) {
  return RunBulkStream(connection, absl::StrCat("/hawser.v1.", method), frames,
                       runtime::AttemptToken(options));
}

// The memory that the data of a stream fills, front to back.
class Filling {
 public:
  Filling(const BulkConnection& connection, const runtime::CallOptions& options)
      : connection_(connection), options_(options) {}

  void Place(absl::Span<char> into) {
    left_ = into;
    total_ = static_cast<int64_t>(into.size());
  }

  // Takes the data of a frame. Errors: kUnavailable, more than there is place
  // for.
  absl::Status Take(const InFrame& frame) {
    if (frame.size() > left_.size()) {
      return BrokenProtocol(connection_.address, "it sends more than ", total_,
                            " bytes: ", frame.size() - left_.size(),
                            " too many so far");
    }
    frame.CopyTo(left_.data());
    left_.remove_prefix(frame.size());
    if (options_.progress) options_.progress(total_ - left_.size(), total_);
    return absl::OkStatus();
  }

  absl::Status CheckFull() const {
    if (left_.empty()) return absl::OkStatus();
    return BrokenProtocol(connection_.address, "it sent ",
                          total_ - left_.size(), " of ", total_, " bytes");
  }

 private:
  const BulkConnection& connection_;
  const runtime::CallOptions& options_;
  absl::Span<char> left_;
  int64_t total_ = 0;
};

// Sends `request` and gives every frame, as a Frame, to `take`.
template <typename Frame>
absl::Status Receive(
    const BulkConnection& connection, absl::string_view method,
    const google::protobuf::MessageLite& request,
    const std::function<absl::Status(const Frame&, const InFrame&)>& take,
    const runtime::CallOptions& options) {
  BulkFrames frames;
  frames.next = [&](grpc::ByteBuffer* frame) {
    *frame = ToBuffer(request);
    return false;
  };
  frames.take = [&](grpc::ByteBuffer* buffer) -> absl::Status {
    Frame header;
    InFrame frame;
    if (!frame.Parse(buffer, Frame::kDataFieldNumber, &header)) {
      return BrokenProtocol(connection.address, "a frame is none");
    }
    return take(header, frame);
  };
  return Run(connection, method, frames, options);
}

}  // namespace

size_t FrameCutter::Next(grpc::ByteBuffer* frame) {
  const absl::Span<const char> data = left_.subspan(0, kFrameBytes);
  std::string header = std::exchange(header_, "");
  if (data_ == Data::kCopied) {
    const auto copy =
        std::make_shared<const std::string>(data.begin(), data.end());
    *frame = OutFrame(std::move(header), data_field_, *copy, copy);
  } else {
    *frame = OutFrame(std::move(header), data_field_, data, owner_);
  }
  left_.remove_prefix(data.size());
  return data.size();
}

absl::Status BulkUpload(const BulkConnection& connection,
                        const v1::UploadChunk& header, const Literal& value,
                        const runtime::CallOptions& options) {
  const bool may_change = IsMapped(value.bytes());
  FrameCutter cutter(
      header, v1::UploadChunk::kDataFieldNumber, value.bytes(), value,
      may_change ? FrameCutter::Data::kCopied : FrameCutter::Data::kShared);
  const int64_t total = value.shape().byte_size();
  int64_t sent = 0;
  BulkFrames frames;
  frames.next = [&](grpc::ByteBuffer* frame) -> absl::StatusOr<bool> {
    sent += cutter.Next(frame);
    // All of it was read: the last frame makes it a value.
    if (may_change && cutter.done()) {
      HAWSER_RETURN_IF_ERROR(CheckUnchanged(value.bytes()));
    }
    if (options.progress) options.progress(sent, total);
    return !cutter.done();
  };
  frames.take = [](grpc::ByteBuffer*) { return absl::OkStatus(); };
  return Run(connection, "Executor/Upload", frames, options);
}

absl::Status BulkDownload(const BulkConnection& connection,
                          const v1::DownloadRequest& request,
                          absl::Span<char> into,
                          const runtime::CallOptions& options) {
  Filling filling(connection, options);
  filling.Place(into);
  HAWSER_RETURN_IF_ERROR(Receive<v1::DownloadChunk>(
      connection, "Executor/Download", request,
      [&](const v1::DownloadChunk&, const InFrame& frame) {
        return filling.Take(frame);
      },
      options));
  return filling.CheckFull();
}

absl::Status BulkPut(const BulkConnection& connection, uint64_t upload,
                     absl::Span<const ChunkToPut> chunks,
                     const runtime::CallOptions& options) {
  if (chunks.empty()) return absl::OkStatus();
  int64_t total = 0, sent = 0;
  for (const ChunkToPut& chunk : chunks) total += chunk.bytes.size();
  std::optional<FrameCutter> cutter;
  size_t started = 0;
  BulkFrames frames;
  frames.next = [&](grpc::ByteBuffer* frame) {
    if (!cutter.has_value() || cutter->done()) {
      const ChunkToPut& chunk = chunks[started++];
      const absl::string_view digest = chunk.digest.bytes();
      v1::PutChunk header;
      header.set_upload(upload);
      header.set_digest(digest.data(), digest.size());
      header.set_chunk_bytes(chunk.bytes.size());
      cutter.emplace(header, v1::PutChunk::kDataFieldNumber, chunk.bytes,
                     chunk.owner);
    }
    sent += cutter->Next(frame);
    if (options.progress) options.progress(sent, total);
    return started < chunks.size() || !cutter->done();
  };
  v1::PutReply reply;
  frames.take = [&](grpc::ByteBuffer* frame) {
    return FromBuffer(std::move(*frame), &reply, connection.address);
  };
  HAWSER_RETURN_IF_ERROR(Run(connection, "Datasets/Put", frames, options));
  if (reply.chunks() == chunks.size()) return absl::OkStatus();
  return BrokenProtocol(connection.address, "it took ", reply.chunks(), " of ",
                        chunks.size(), " chunks");
}

absl::Status BulkGet(const BulkConnection& connection,
                     const v1::GetRequest& request,
                     const std::function<absl::StatusOr<absl::Span<char>>(
                         const v1::ShapeProto&)>& on_shape,
                     const runtime::CallOptions& options) {
  Filling filling(connection, options);
  bool placed = false;
  HAWSER_RETURN_IF_ERROR(Receive<v1::GetChunk>(
      connection, "Datasets/Get", request,
      [&](const v1::GetChunk& header, const InFrame& frame) -> absl::Status {
        if (header.has_shape()) {
          if (placed) {
            return BrokenProtocol(connection.address, "it sends two shapes");
          }
          HAWSER_ASSIGN_OR_RETURN(const absl::Span<char> into,
                                  on_shape(header.shape()));
          filling.Place(into);
          placed = true;
        }
        return filling.Take(frame);
      },
      options));
  if (!placed) return BrokenProtocol(connection.address, "it sent no shape");
  return filling.CheckFull();
}

}  // namespace hawser
