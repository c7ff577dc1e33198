// Transfers: the few threads that stream large values.
#ifndef HAWSER_CLIENT_REMOTE_LINK_TRANSFERS_H_
#define HAWSER_CLIENT_REMOTE_LINK_TRANSFERS_H_

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/client.h"

namespace hawser {

// One value on its way, in either direction.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // False once no caller waits for it: then it is not started, or cancelled.
  virtual bool Wanted() const = 0;
  // One attempt. Blocks; ends soon after `cancel` says so.
  virtual absl::Status Run(const CancelToken& cancel) = 0;
  // True if it is to be tried again after kUnavailable, some time later.
  virtual bool MayRetry() const = 0;
  // True if it belongs to a session, which a server that was restarted does not
  // know.
  virtual bool InSession() const = 0;
  // Called once, after the last attempt. Must not block.
  virtual void Done(const absl::Status& status) = 0;
};

// First in, first out, `threads` at a time. A transfer is tried again for as
// long as `patience` after it first failed. Thread-safe.
class Transfers {
 public:
  Transfers(int threads, absl::Duration patience);
  ~Transfers();  // cancels what runs, fails what waits, joins

  void Add(std::shared_ptr<Transfer> transfer);
  // Cancels what is not wanted any more.
  void DropUnwanted();

 private:
  struct Running {
    std::shared_ptr<Transfer> transfer;
    CancelToken cancel;
  };
  void Run(Running* slot);
  absl::Status Attempt(const std::shared_ptr<Transfer>& transfer,
                       const CancelToken& cancel);

  const absl::Duration patience_;
  Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<std::shared_ptr<Transfer>> waiting_ ABSL_GUARDED_BY(mu_);
  std::vector<Running> running_ ABSL_GUARDED_BY(mu_);  // one per thread
  std::vector<std::thread> threads_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_LINK_TRANSFERS_H_
