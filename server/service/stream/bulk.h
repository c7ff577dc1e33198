// Bulk bytes of a session's handles, on streams beside the session's own.
#ifndef HAWSER_SERVER_SERVICE_STREAM_BULK_H_
#define HAWSER_SERVER_SERVICE_STREAM_BULK_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "proto/executor.pb.h"
#include "server/service/execution/executor.h"
#include "server/session/session.h"

namespace hawser::server {

// Fills one declared handle. Dying unfinished lets another attempt begin. Not
// thread-safe.
class UploadReceiver {
 public:
  // `header`: the first chunk, whose data is not looked at. Errors:
  // kUnavailable (the session is lost, or another fills the handle),
  // kNotFound (the handle), kInvalidArgument (not declared as streamed),
  // kResourceExhausted.
  static absl::StatusOr<std::unique_ptr<UploadReceiver>> Begin(
      Executor& executor, absl::string_view tenant,
      const v1::UploadChunk& header);
  ~UploadReceiver();

  int64_t missing() const { return size_ - received_; }
  // True for a repeat: the value is there, whatever comes is dropped.
  bool filled() const { return filled_; }
  // The next bytes go here, at most missing() of them.
  char* at() { return data_.get() + received_; }
  void Advance(int64_t n) { received_ += n; }
  // Errors: kDataLoss (bytes are missing), the device's.
  absl::Status Finish();

 private:
  UploadReceiver(Executor& executor, std::shared_ptr<Session> session,
                 uint64_t handle);

  Executor& executor_;
  const std::shared_ptr<Session> session_;
  const uint64_t handle_;
  Shape shape_;
  std::shared_ptr<char> data_;  // the final place
  int64_t size_ = 0;
  int64_t received_ = 0;
  bool filled_ = false;
  bool finished_ = false;
};

// The bytes of a handle, for Download; `done` is called once, when they are
// there. Errors: kUnavailable (the session is lost), kNotFound, the first cause
// of a value that failed.
void FetchForDownload(Executor& executor, absl::string_view tenant,
                      const v1::DownloadRequest& request,
                      std::function<void(const absl::StatusOr<Literal>&)> done);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_STREAM_BULK_H_
