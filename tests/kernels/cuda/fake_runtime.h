// A CUDA runtime without a GPU, linked in place of the real one: one device
// whose memory is the host's, whose streams do everything within the call and
// whose kernels do nothing.
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

// The state of the runtime, one for the process. Tests run one after the other.
struct FakeRuntime {
  int devices = 1;
  size_t total_bytes = size_t{1} << 30;
  // The bytes of each parameter, the same for every kernel.
  std::vector<size_t> parameters = {8, 4};
  // What the next call of a function returns; later calls succeed.
  std::map<std::string, cudaError_t> next;
  // What every call returns, unless cudaSuccess.
  cudaError_t lost = cudaSuccess;
  // Work is never done: queries return cudaErrorNotReady.
  bool hangs = false;
  // Call number `fail_at` fails; when its error is fatal, so do all later
  // calls.
  int64_t calls = 0, fail_at = 0;
  cudaError_t fail_with = cudaSuccess;
  bool fails_for_ever = false;

  // The launches so far.
  std::vector<FakeLaunch> launches;
  std::map<std::string, int> shared_limits;  // by kernel
  int trims = 0;
  // How many objects of each kind are not destroyed.
  std::map<std::string, int> live;
  size_t live_bytes = 0;

  static FakeRuntime& Get();
  static void Reset() { Get() = FakeRuntime(); }
  int LiveObjects() const;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_KERNELS_CUDA_FAKE_RUNTIME_H_
