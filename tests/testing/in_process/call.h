// InProcessCall: one call beside the session stream, as the network sees it.
#ifndef HAWSER_TESTS_TESTING_IN_PROCESS_CALL_H_
#define HAWSER_TESTS_TESTING_IN_PROCESS_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/attempt.h"
#include "tests/testing/in_process/faults.h"
#include "tests/testing/in_process/server.h"
#include "tests/testing/in_process/wire.h"

namespace hawser {

// Frames of bulk streams are small here, so that there is much to cut.
inline constexpr size_t kCallFrameBytes = 24 << 10;

// Not thread-safe.
class InProcessCall {
 public:
  InProcessCall(CallKind kind, InProcessServer* server,
                std::shared_ptr<FaultPlan> plan, const std::string& address,
                const runtime::CallOptions& options)
      : kind_(kind),
        server_(server),
        plan_(std::move(plan)),
        address_(address),
        cancel_(runtime::AttemptToken(options)),
        faults_(plan_->NextCall(kind)) {}

  // Reaches the server. Errors: the token's, kUnavailable.
  absl::Status Begin();
  ServerCore& core() { return *core_; }
  // For what may go on after the call: the process waits for it at its end.
  std::shared_ptr<ServerCore> shared_core() const { return core_; }
  void Release() { core_ = nullptr; }
  const CancelToken& cancel() const { return cancel_; }

  // The message as it arrives over there, or here.
  absl::Status Send(const google::protobuf::Message& message,
                    google::protobuf::Message* arrived);
  absl::Status Receive(const google::protobuf::Message& message,
                       google::protobuf::Message* arrived);
  // Before the answer of something that has been done. Errors: kUnavailable,
  // it is lost.
  absl::Status Answer();
  // Changes what a put brings over, if it is to be.
  void Corrupt(std::string* data);

  // What the server still holds of a call that broke goes when it hears of it.
  template <typename T>
  void Abandon(std::shared_ptr<T> held) {
    server_->loop(1)->PostAt(absl::Now() + faults_.server_hears,
                             [held = std::move(held), core = core_]() mutable {
                               held.reset();
                               core.reset();
                             });
  }

 private:
  absl::Status Cross(const google::protobuf::Message& message, int64_t* bytes,
                     int64_t cut_after, google::protobuf::Message* arrived);
  absl::Status Broken();

  const CallKind kind_;
  InProcessServer* const server_;
  const std::shared_ptr<FaultPlan> plan_;
  const std::string address_;
  const CancelToken cancel_;
  const CallFaults faults_;
  std::shared_ptr<ServerCore> core_;
  int64_t sent_ = 0;
  int64_t received_ = 0;
  int64_t data_ = 0;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_IN_PROCESS_CALL_H_
