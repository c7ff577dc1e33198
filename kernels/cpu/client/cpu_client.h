// CpuClient: this machine's CPU behind the runtime interface.
#ifndef HAWSER_KERNELS_CPU_CLIENT_CPU_CLIENT_H_
#define HAWSER_KERNELS_CPU_CLIENT_CPU_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/types/span.h"
#include "core/ir/verifier.h"
#include "core/runtime/client.h"
#include "core/runtime/host_dataset_client.h"

namespace hawser::cpu {

struct CpuClientOptions {
  // Threads of its own; 0: it shares ThreadPool::OfProcess.
  int threads = 0;
  int64_t memory_limit = 0;  // bytes of values; 0: 3/4 of the machine's
  // Instead of that limit: what values and spare memory are charged to.
  std::shared_ptr<MemoryAccount> memory;
  ModuleLimits limits;
  // Executables of at most so many estimated element steps run in Execute
  // itself when their arguments are there: 32 Ki take about as long as the way
  // to another thread and back (10-30 us).
  double inline_cost = 1 << 15;
};

struct ClientState;

// Thread-safe. Nothing blocks but Compile, PutDataset, FreezeDataset and the
// destructor, which waits for work in progress. Buffers and executables may
// outlive the client: values can still be fetched, nothing new runs.
class CpuClient : public runtime::HostDatasetClient {
 public:
  explicit CpuClient(const CpuClientOptions& options);
  ~CpuClient() override;

  std::string name() const override { return "cpu"; }
  absl::StatusOr<runtime::Capabilities> capabilities() override;
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override;

  // For tests: buffers of this client that exist, and bytes of values it made
  // that are alive.
  int64_t live_buffers() const;
  int64_t live_bytes() const;
  // Gives back memory that is kept for values to come.
  void LetGo();

 private:
  // The value at an address where an element may begin. Rows of such an array
  // begin so too.
  absl::StatusOr<Literal> Keep(const Literal& value) override;
  runtime::BufferPtr MakeBuffer(Literal value) override;

  const CpuClientOptions options_;
  const std::shared_ptr<ClientState> state_;
};

std::shared_ptr<CpuClient> MakeCpuClient(const CpuClientOptions& options = {});

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CLIENT_CPU_CLIENT_H_
