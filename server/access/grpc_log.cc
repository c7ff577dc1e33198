#include "server/access/grpc_log.h"

#include <grpc/support/log.h>

#include <cstdlib>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mutex.h"

namespace hawser::server {
namespace {

constexpr int kLines = 10;
constexpr absl::Duration kPeriod = absl::Seconds(10);

class Limit {
 public:
  // True if a line may be written now; `left_out` gets how many were not since
  // the last one that was.
  bool Allows(int* left_out) {
    const absl::Time now = SteadyNow();
    MutexLock lock(&mu_);
    if (now >= end_) {
      end_ = now + kPeriod;
      lines_ = 0;
    }
    if (++lines_ > kLines) {
      ++left_out_;
      return false;
    }
    *left_out = left_out_;
    left_out_ = 0;
    return true;
  }

 private:
  Mutex mu_;
  absl::Time end_ ABSL_GUARDED_BY(mu_);
  int lines_ ABSL_GUARDED_BY(mu_) = 0;
  int left_out_ ABSL_GUARDED_BY(mu_) = 0;
};

void WriteLimited(gpr_log_func_args* line) {
  static auto* limit = new Limit();
  int left_out = 0;
  if (!limit->Allows(&left_out)) return;
  if (left_out > 0) {
    HAWSER_LOG(kWarning) << left_out << " lines of gRPC were left out";
  }
  HAWSER_LOG(kWarning) << "gRPC: " << line->message;
}

}  // namespace

void LimitGrpcLog() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) {
    gpr_set_log_function(WriteLimited);
  }
}

}  // namespace hawser::server
