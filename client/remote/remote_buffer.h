// RemoteBuffer: a value a RemoteClient can name.
#ifndef HAWSER_CLIENT_REMOTE_REMOTE_BUFFER_H_
#define HAWSER_CLIENT_REMOTE_REMOTE_BUFFER_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/remote/session/remote_link.h"
#include "client/remote/session/session.h"
#include "client/remote/value.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"
#include "proto/executor.pb.h"

namespace hawser {

// Every Buffer whose client() is a RemoteClient is one of these.
class RemoteBuffer : public runtime::Buffer {
 public:
  RemoteBuffer(std::shared_ptr<RemoteLink> link, Shape shape);
  const Shape& shape() const final { return shape_; }
  runtime::Client* client() const final;

  // Writes how `session` knows this value. Errors: kUnavailable when it was
  // lost with its session, kFailedPrecondition after a donation.
  virtual absl::Status ToArgument(const RemoteSession& session,
                                  v1::ArgumentProto* argument) = 0;
  // The next use is an error.
  virtual void MarkDonated() = 0;
  // True if a fetch of it is under way, which still needs the value.
  virtual bool being_fetched() const { return false; }
  // Writes it as a Call, which has no session, knows it. Errors:
  // kFailedPrecondition.
  virtual absl::Status ToStatelessArgument(v1::ArgumentProto* argument) = 0;

 protected:
  const std::shared_ptr<RemoteLink> link_;
  const Shape shape_;
};

// A result or an upload, in the session that made it.
class HandleBuffer final : public RemoteBuffer {
 public:
  HandleBuffer(std::shared_ptr<RemoteLink> link, Shape shape,
               std::shared_ptr<Handle> handle, std::shared_ptr<Outcome> outcome,
               int index);

  Future<Literal> Fetch(const runtime::CallOptions& call) override;
  // Completes with the answer to the request that makes it; the value stays
  // over there.
  Future<bool> Ready(const runtime::CallOptions& call) override;
  runtime::RanOn ran_on() const override;
  absl::Status ToArgument(const RemoteSession& session,
                          v1::ArgumentProto* argument) override;
  void MarkDonated() override { donated_.store(true); }
  bool being_fetched() const override { return handle_->being_fetched(); }
  absl::Status ToStatelessArgument(v1::ArgumentProto* argument) override;

 private:
  const std::shared_ptr<Handle> handle_;
  const std::shared_ptr<Outcome> outcome_;
  const int index_;
  std::atomic<bool> donated_{false};
};

// An array of a dataset, or rows of one: a name good in every session.
class DatasetBuffer final : public RemoteBuffer {
 public:
  DatasetBuffer(std::shared_ptr<RemoteLink> link, Shape shape,
                DatasetPart part);

  Future<Literal> Fetch(const runtime::CallOptions& call) override;
  runtime::RanOn ran_on() const override;
  absl::Status ToArgument(const RemoteSession& session,
                          v1::ArgumentProto* argument) override;
  void MarkDonated() override {}  // a dataset's array is not given away
  absl::Status ToStatelessArgument(v1::ArgumentProto* argument) override;

 private:
  const DatasetPart part_;
};

// Begins to send a value, as the next of `session`, in which it is named.
absl::StatusOr<runtime::BufferPtr> UploadIn(
    const std::shared_ptr<RemoteLink>& link,
    const std::shared_ptr<RemoteSession>& session, const Literal& value,
    const runtime::CallOptions& call);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_REMOTE_BUFFER_H_
