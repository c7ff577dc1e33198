// InProcessServer: the real handlers of a server in this process, reached over
// links that fail as told. No gRPC, so tsan sees all of it.
#ifndef HAWSER_TESTS_TESTING_IN_PROCESS_SERVER_H_
#define HAWSER_TESTS_TESTING_IN_PROCESS_SERVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/remote/link/transport.h"
#include "core/base/mutex.h"
#include "kernels/cpu/client/cpu_client.h"
#include "server/datasets/dataset_store.h"
#include "server/service/datasets_handler.h"
#include "server/service/execution/executor.h"
#include "tests/testing/in_process/event_loop.h"
#include "tests/testing/in_process/faults.h"

namespace hawser {

struct InProcessOptions {
  std::string address = "in-process:1";
  cpu::CpuClientOptions device = {.threads = 1};
  server::ExecutorOptions executor;  // its clock is replaced
  server::DatasetStoreOptions datasets;
};

// What dies with a server's process, beside its device.
struct ServerCore {
  std::shared_ptr<cpu::CpuClient> device;
  std::unique_ptr<server::DatasetStore> store;
  std::unique_ptr<server::Executor> executor;
  std::unique_ptr<server::DatasetsHandler> datasets;
};

class InProcessStream;

// Thread-safe, but for Kill, Stop, Start and the destructor, which must not
// run at once (see EndAccidents). Outlives its transports: its end waits for
// those that still have calls under way. Starts when made.
class InProcessServer {
 public:
  explicit InProcessServer(InProcessOptions options = {});
  ~InProcessServer();

  // Every transport is a machine of its own. Null: nothing goes wrong.
  std::unique_ptr<Transport> NewTransport(
      std::shared_ptr<FaultPlan> plan = nullptr);

  // ---- faults of the server's own
  void CutStreams();  // every stream breaks; sessions stay
  // Whether new streams and calls are refused.
  void Refuse(bool refuse);
  void Kill();   // streams break without a word, then all is refused
  void Stop();   // an orderly stop, then all is refused
  void Start();  // another process; what is in data_dir is there again
  // Time goes on by more than a lease: who is not attached loses its session.
  void EndLeases();
  // Calls `task` once on a thread of its own when so many messages have come
  // in on session streams, counted from now.
  void AfterMessages(int n, std::function<void()> task);
  // Returns once none of these tasks is running, nor will any more.
  void EndAccidents();

  // ---- what is left
  int64_t sessions();
  struct Remains {
    int64_t sessions = 0;
    int64_t buffers = 0;       // of the device
    int64_t upload_bytes = 0;  // of uploads, and of datasets beyond chunks
    friend bool operator==(const Remains&, const Remains&) = default;
  };
  // Of a running server. Ends all leases first.
  Remains remains();
  // Buffers and bytes that earlier processes left on their devices.
  int64_t leaked() const { return leaked_; }
  // Calls `look` with the running server's parts, if it runs.
  void WithCore(const std::function<void(ServerCore&)>& look);

  // ---- for the links
  const std::string& address() const { return options_.address; }
  // The running process for one call or stream, which it outlives; null when
  // it refuses.
  std::shared_ptr<ServerCore> Enter(
      const std::shared_ptr<InProcessStream>& stream = nullptr);
  // The server's end waits for them.
  void TransportBegins();
  void TransportEnds();
  // Two threads, as gRPC's would take turns.
  EventLoop* loop(int i) { return &loops_[i % 2]; }
  void CountMessage();

 private:
  void End(const std::function<void(ServerCore&)>& last_words);

  const InProcessOptions options_;
  std::atomic<int64_t> clock_ahead_us_{0};
  std::atomic<int64_t> leaked_{0};
  Mutex mu_;
  CondVar changed_;
  bool refuse_ ABSL_GUARDED_BY(mu_) = false;
  int users_ ABSL_GUARDED_BY(mu_) = 0;
  int transports_ ABSL_GUARDED_BY(mu_) = 0;
  int messages_ ABSL_GUARDED_BY(mu_) = 0;
  std::unique_ptr<ServerCore> core_ ABSL_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<InProcessStream>> streams_ ABSL_GUARDED_BY(mu_);
  std::multimap<int, std::function<void()>> after_ ABSL_GUARDED_BY(mu_);
  EventLoop loops_[2];
  EventLoop accidents_;  // where AfterMessages runs
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_IN_PROCESS_SERVER_H_
