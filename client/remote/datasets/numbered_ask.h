// AskNumbered: a request whose answer takes as long as the server's disk does.
#ifndef HAWSER_CLIENT_REMOTE_DATASETS_NUMBERED_ASK_H_
#define HAWSER_CLIENT_REMOTE_DATASETS_NUMBERED_ASK_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/remote/link/watched.h"
#include "client/remote/session/remote_link.h"
#include "core/base/mutex.h"
#include "core/base/random.h"
#include "core/base/threads/cancel.h"
#include "core/wire/dataset_verbs.h"

namespace hawser {

// Ends a call by its token when the server is silent, or says that it does not
// work on this number.
class NumberedAsk final : public Watched {
 public:
  explicit NumberedAsk(const CancelToken& cancel)
      : Watched(cancel), ends_(cancel.Until(absl::InfiniteFuture())) {}

  uint64_t number() const override { return number_; }
  // The call ends by this token: the caller's, or Stop.
  const CancelToken& ends() const { return ends_; }
  void Stop(const absl::Status& why) override {
    {
      MutexLock lock(&mu_);
      if (why_.ok()) why_ = why;
    }
    ends_.Cancel();
  }
  // Returns why it was stopped, if so; else `status`.
  absl::Status Why(const absl::Status& status) {
    MutexLock lock(&mu_);
    return status.ok() || why_.ok() ? status : why_;
  }

 private:
  const uint64_t number_ = RandomNumber();
  const CancelToken ends_;
  Mutex mu_;
  absl::Status why_ ABSL_GUARDED_BY(mu_);
};

// Asks, and waits while the server answers pings and works on it. An older
// server does not say that it does, and is given up as a silent one.
template <typename Method>
absl::StatusOr<typename Method::Reply> AskNumbered(
    RemoteLink* link, typename Method::Request request,
    const CancelToken& cancel) {
  const auto ask = std::make_shared<NumberedAsk>(cancel);
  request.set_number(ask->number());
  typename Method::Reply reply;
  link->WatchSilence(ask);
  HAWSER_RETURN_IF_ERROR(ask->Why(link->transport()->AskPatiently(
      Method::kMethod, request, &reply, ask->ends())));
  return reply;
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_DATASETS_NUMBERED_ASK_H_
