// The device that a server computes on: `--device`.
#ifndef HAWSER_SERVER_DEVICE_H_
#define HAWSER_SERVER_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/memory_account.h"
#include "core/runtime/client.h"

namespace hawser::server {

struct ComputeOptions {
  std::string device = "auto";  // or one of DeviceNames(); "cuda:N": that one
  int64_t device_memory = 0;    // the most a GPU's values may take; 0: all
  // A GPU counts as lost when it gets nothing done for so long while something
  // waits for it.
  absl::Duration device_patience = absl::Minutes(2);
  std::string kernel_cache;  // folder; "": kernels end with the process
  // Values in host memory are charged here; null: the engine takes up to three
  // quarters of the machine's memory.
  std::shared_ptr<MemoryAccount> memory;
};

struct ComputeDevice {
  std::shared_ptr<runtime::Client> client;
  // Both may be called while `client` lives: how many buffers exist; gives back
  // memory that is kept for values to come.
  std::function<int64_t()> live_buffers;
  std::function<void()> let_go = [] {};
};

// "auto, cuda, cuda:N, cpu, emu".
std::string DeviceNames();

// "auto": a GPU where there is one, else this machine's CPU; the log says why.
// Errors: kInvalidArgument for a name or number that is unknown, and for
// `device_memory` of what is no GPU; the engine's, where it finds no device.
absl::StatusOr<ComputeDevice> MakeComputeDevice(const ComputeOptions& options);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DEVICE_H_
