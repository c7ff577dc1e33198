// The Transport in front of an InProcessServer.
#ifndef HAWSER_TESTS_TESTING_IN_PROCESS_TRANSPORT_H_
#define HAWSER_TESTS_TESTING_IN_PROCESS_TRANSPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "client/remote/link/transport.h"
#include "tests/testing/in_process/call.h"
#include "tests/testing/in_process/event_loop.h"
#include "tests/testing/in_process/faults.h"
#include "tests/testing/in_process/server.h"
#include "tests/testing/in_process/stream.h"

namespace hawser {

class InProcessTransport final : public Transport {
 public:
  InProcessTransport(InProcessServer* server, std::shared_ptr<FaultPlan> plan)
      : server_(server),
        plan_(std::move(plan)),
        address_(server->address()) {
    server_->TransportBegins();
  }
  ~InProcessTransport() override;

  std::string address() const override { return address_; }
  std::unique_ptr<SessionStream> OpenSession(
      SessionCallbacks callbacks) override;
  Future<v1::CallReply> Call(v1::CallRequest request,
                             const runtime::CallOptions& options) override;
  absl::Status Upload(const v1::UploadChunk& header, const Literal& value,
                      const runtime::CallOptions& options) override;
  absl::Status Download(const v1::DownloadRequest& request,
                        absl::Span<char> into,
                        const runtime::CallOptions& options) override;
  using Transport::Ask;
  absl::Status Ask(absl::string_view method,
                   const google::protobuf::Message& request,
                   google::protobuf::Message* reply,
                   const runtime::CallOptions& options) override;
  absl::Status PutChunks(uint64_t upload, absl::Span<const ChunkToPut> chunks,
                         const runtime::CallOptions& options) override;
  absl::Status Get(
      const v1::GetRequest& request,
      std::function<absl::StatusOr<absl::Span<char>>(const v1::ShapeProto&)>
          on_shape,
      const runtime::CallOptions& options) override;

 private:
  InProcessCall NewCall(CallKind kind, const runtime::CallOptions& options) {
    return InProcessCall(kind, server_, plan_, address_, options);
  }
  template <typename Method>
  absl::Status AskFor(const google::protobuf::Message& request,
                      google::protobuf::Message* reply,
                      const runtime::CallOptions& options);
  absl::Status PutChunk(InProcessCall& call, uint64_t upload,
                        const ChunkToPut& chunk,
                        const std::shared_ptr<server::PutStream>& stream);

  InProcessServer* const server_;
  const std::shared_ptr<FaultPlan> plan_;
  const std::string address_;
  const std::shared_ptr<RecentFrames> recent_ =
      std::make_shared<RecentFrames>();
  const std::shared_ptr<EventLoop> loop_ = std::make_shared<EventLoop>();
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_IN_PROCESS_TRANSPORT_H_
