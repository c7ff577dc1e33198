#include "kernels/cpu/cpu_buffer.h"

namespace hawser::cpu {
namespace {

// A fetch whose caller may stop waiting before the value is there.
class PendingFetch : public Watched {
 public:
  void Expire(const absl::Status& status) override { promise.Set(status); }
  Promise<Literal> promise;
};

}  // namespace

CancelToken TokenOf(const runtime::CallOptions& call) {
  if (call.attempt_timeout == absl::InfiniteDuration()) return call.cancel;
  return call.cancel.Until(absl::Now() + call.attempt_timeout);
}

Future<Literal> CpuBuffer::Fetch(const runtime::CallOptions& options) {
  const CancelToken token = TokenOf(options);
  if (!token.can_expire() || value_.ready()) return value_;
  auto fetch = std::make_shared<PendingFetch>();
  Future<Literal> answer = fetch->promise.future();
  state_->watch.Add(token, fetch);
  value_.OnReady([fetch](const absl::StatusOr<Literal>& value) {
    fetch->promise.Set(value);
  });
  return answer;
}

}  // namespace hawser::cpu
