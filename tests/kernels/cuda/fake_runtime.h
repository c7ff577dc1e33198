// A CUDA runtime without a GPU, linked in place of the real one: one device
// whose memory is the host's, whose streams do everything at once and whose
// kernels do nothing. Shows what the device makes of the runtime's answers.
#ifndef HAWSER_TESTS_KERNELS_CUDA_FAKE_RUNTIME_H_
#define HAWSER_TESTS_KERNELS_CUDA_FAKE_RUNTIME_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hawser::testing {

struct FakeLaunch {
  std::string kernel;
  dim3 grid, block;
  size_t shared_bytes = 0;
  std::vector<uint64_t> arguments;  // their first bytes
};

// One for the process; its tests run one after the other.
struct FakeRuntime {
  int devices = 1;
  size_t total_bytes = size_t{1} << 30;
  // Of every kernel: bytes of each parameter.
  std::vector<size_t> parameters = {8, 4};
  // What the next call of a function returns; then it is well again.
  std::map<std::string, cudaError_t> next;
  // What everything returns from now on.
  cudaError_t lost = cudaSuccess;
  // Nothing gets done any more: a thread that asks is told so.
  bool hangs = false;
  // What call number `fail_at` returns; and, when it is the end of the device,
  // all that come after.
  int64_t calls = 0, fail_at = 0;
  cudaError_t fail_with = cudaSuccess;
  bool fails_for_ever = false;

  // What the device did.
  std::vector<FakeLaunch> launches;
  std::map<std::string, int> shared_limits;  // by kernel
  int trims = 0;
  // Of each kind of object, those that are not destroyed.
  std::map<std::string, int> live;
  size_t live_bytes = 0;

  static FakeRuntime& Get();
  static void Reset() { Get() = FakeRuntime(); }
  int LiveObjects() const;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_KERNELS_CUDA_FAKE_RUNTIME_H_
