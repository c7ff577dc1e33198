// A whole server in this process, reached over a real loopback connection.
#ifndef HAWSER_TESTS_TESTING_PROCESSES_LOOPBACK_H_
#define HAWSER_TESTS_TESTING_PROCESSES_LOOPBACK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/remote/link/credentials.h"
#include "client/remote/link/options.h"
#include "core/runtime/client.h"
#include "kernels/cpu/client/cpu_client.h"
#include "server/host.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {

struct LoopbackOptions {
  cpu::CpuClientOptions device;
  server::AccessOptions access;  // none: plaintext, for all
  Credentials credentials;       // of clients that bring none of their own
  server::ExecutorOptions executor;
  server::DatasetStoreOptions datasets;  // data_dir is replaced, see below
  // Datasets on disk, in a folder of this server's own that goes with it.
  bool data_dir = false;
};

// A server with a CpuClient as its device, on a free port of 127.0.0.1. Not
// thread-safe; clients may outlive it.
class LoopbackServer {
 public:
  static absl::StatusOr<std::unique_ptr<LoopbackServer>> Start(
      LoopbackOptions options = {});
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  // "127.0.0.1:port"; Restart keeps it.
  const std::string& address() const { return address_; }
  // What Connect's clients show unless they are told otherwise.
  const Credentials& credentials() const { return options_.credentials; }
  // A client with a connection and a session of its own; each call makes one.
  std::shared_ptr<runtime::Client> Connect(RemoteOptions options = {}) const;

  bool alive() const { return host_ != nullptr; }
  // What kill -9 looks like from outside: every connection breaks without a
  // word and the port is closed.
  void Kill();
  // An orderly stop, as on SIGTERM.
  void Stop();
  // A new server at the same address, with the same data_dir.
  absl::Status Restart();

  // While alive.
  server::Host& host() { return *host_; }
  cpu::CpuClient& device() { return *device_; }
  // Sessions that are open or within their lease.
  int64_t sessions();

 private:
  explicit LoopbackServer(LoopbackOptions options);

  LoopbackOptions options_;
  std::optional<TemporaryFolder> folder_;  // of its datasets
  std::string address_ = "127.0.0.1:0";
  std::shared_ptr<cpu::CpuClient> device_;
  std::unique_ptr<server::Host> host_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_PROCESSES_LOOPBACK_H_
