// Host: a whole server in a process: listener, services, stores, housekeeping.
#ifndef HAWSER_SERVER_HOST_H_
#define HAWSER_SERVER_HOST_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/memory_account.h"
#include "core/runtime/client.h"
#include "server/access/access.h"
#include "server/access/connections/acceptor.h"
#include "server/access/connections/connection_guard.h"
#include "server/datasets/dataset_store.h"
#include "server/service/execution/executor.h"

namespace hawser::server {

struct HostOptions {
  std::string listen = "127.0.0.1:7070";
  // Listen beyond loopback also without client certificates.
  bool insecure = false;
  AccessOptions access;
  AcceptorOptions acceptor;
  ConnectionLimits connections;
  // The most the process is to take; 0: no limit. Three quarters of it are
  // `account`'s, to which all memory that clients cause is charged.
  int64_t memory = 0;
  std::shared_ptr<MemoryAccount> account;
  // Makes the device give back memory that it keeps for values to come.
  std::function<void()> let_go = [] {};
  // Threads that serve connections; 0: by the number of cores.
  int rpc_threads = 0;
  ExecutorOptions executor;
  DatasetStoreOptions datasets;
  // Streams and queued writes have so long to end at a stop.
  absl::Duration grace = absl::Milliseconds(1500);
};

// Serves from Start until Stop (or death), which ends sessions, closes streams
// and returns within the grace. gRPC health (per service and overall) and
// reflection come along; they show nothing of a tenant and ask for no token.
class Host {
 public:
  // Errors: kInvalidArgument, kNotFound and kFailedPrecondition in plain words:
  // address, credentials, --insecure, data_dir, device.
  static absl::StatusOr<std::unique_ptr<Host>> Start(
      std::shared_ptr<runtime::Client> device, HostOptions options);
  virtual ~Host() = default;

  virtual const std::string& address() const = 0;
  virtual Executor& executor() = 0;
  virtual DatasetStore& datasets() = 0;
  // The memory that clients cause; null: nothing is charged.
  virtual const MemoryAccount* account() const = 0;
  // Reads credentials again if their files have changed, without waiting for
  // the look of every second.
  virtual void Reload() = 0;
  virtual void Stop() = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_HOST_H_
