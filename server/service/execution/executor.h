// Executor: what every session and every stateless call of a server shares.
#ifndef HAWSER_SERVER_SERVICE_EXECUTION_EXECUTOR_H_
#define HAWSER_SERVER_SERVICE_EXECUTION_EXECUTOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/base/memory_account.h"
#include "core/base/mutex.h"
#include "core/base/threads/thread_pool.h"
#include "core/runtime/client.h"
#include "proto/executor.pb.h"
#include "server/datasets/dataset_store.h"
#include "server/datasets/storage/chunk_memory.h"
#include "server/service/execution/device_arrays.h"
#include "server/service/execution/running_calls.h"
#include "server/service/queue/device_queue.h"
#include "server/session/executable_cache.h"
#include "server/session/session_table.h"

namespace hawser::server {

struct ExecutorOptions {
  SessionTableOptions sessions;
  size_t executables = 1024;                       // kept beyond pinned ones
  int64_t device_arrays_bytes = int64_t{4} << 30;  // kept beyond used ones
  int workers = 4;
  // Long executions that run at a time; 0: by the device.
  int running = 0;
  // Executions of all sessions and calls that wait for their turn.
  size_t waiting = 4096;
  // Clients are of several tenants: one may have a quarter of the sessions, the
  // waiting executions and so on.
  bool several_tenants = false;
  // The time of the device that one execution may have; zero: 30 minutes while
  // sessions of several tenants are open, else no limit.
  absl::Duration run_limit;
  // All memory that clients cause is charged here; null: to nothing.
  std::shared_ptr<MemoryAccount> memory;
  std::string version = "0.1";
};

// Results up to this size ride in the answer to their Execute, all together
// up to the other: 128 such answers, a client's window, are half of what a
// session keeps unacknowledged. Larger fetches take Download.
inline constexpr int64_t kInlineResultBytes = 4 << 10;
inline constexpr int64_t kInlineResultsBytes = 256 << 10;
inline constexpr int64_t kInlineFetchBytes = 64 << 10;
// A Call answers in one message.
inline constexpr int64_t kCallResultBytes = 16 << 20;

// Parts are thread-safe; the struct itself does not change.
struct Executor {
  // `datasets` outlives it. Errors: the device's.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(
      std::shared_ptr<runtime::Client> device, DatasetStore* datasets,
      ExecutorOptions options);
  ~Executor();

  // The executable of a fingerprint: known to the tenant, or else of `module`,
  // which is then verified and compiled here, which blocks.
  // Errors: kNotFound (unknown and no module), kInvalidArgument (the
  // fingerprint is another module's), the decoder's and the device's.
  using ExecutablePtr = std::shared_ptr<runtime::Executable>;
  absl::StatusOr<ExecutablePtr> FindExecutable(absl::string_view tenant,
                                               const Digest& fingerprint);
  absl::StatusOr<ExecutablePtr> CompileModule(
      absl::string_view tenant, const Digest& fingerprint,
      absl::string_view module, const v1::CompileOptionsProto& options,
      const runtime::CallOptions& call);

  // Ends sessions and executions whose time is over, lets go of deleted
  // datasets; to be called every second or so.
  void Sweep();
  // Ends all sessions and closes their streams with kUnavailable.
  void Shutdown();
  // For two minutes nothing has begun, paused or ended on the device, though
  // something waits for it. It is the state at the last Sweep.
  bool stuck() const { return stuck_; }

  const std::shared_ptr<runtime::Client> device;
  DatasetStore* const datasets;
  const runtime::Capabilities capabilities;
  const std::shared_ptr<DeviceQueue> queue;  // outlived by what waits in it
  const uint64_t instance_id;
  const std::string version;
  const absl::Duration run_limit;
  const std::shared_ptr<MemoryAccount> memory;  // null: nothing is charged
  SessionTable sessions;
  ExecutableCache executables;
  ChunkMemory upload_memory;
  DeviceArrays arrays;
  RunningCalls calls;
  // They are declared after what their threads use, which is the rest and each
  // other.
  ThreadPool turns;  // one thread, where sessions with much to do take turns
  ThreadPool workers;

 private:
  Executor(std::shared_ptr<runtime::Client> device,
           runtime::Capabilities capabilities, DatasetStore* datasets,
           ExecutorOptions options);
  // Decodes and compiles, charged to the tenant for as long as what it returns
  // lives.
  absl::StatusOr<ExecutablePtr> Make(absl::string_view tenant,
                                     absl::string_view module,
                                     const runtime::CompileOptions& options,
                                     const runtime::CallOptions& call);
  // Tells the log of a long wait for the device, and whether nothing moves.
  void WatchLine();

  std::atomic<bool> stuck_{false};
  absl::Duration long_wait_said_;  // by Sweep's thread; zero: none is
  // It lets go of what can be had again under memory pressure. It is declared
  // after what it uses.
  const LetGoWhileAlive let_go_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTION_EXECUTOR_H_
