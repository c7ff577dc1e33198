// Bench: a device, a stream, and values in its memory, for tests.
#ifndef HAWSER_TESTS_KERNELS_EMU_BENCH_H_
#define HAWSER_TESTS_KERNELS_EMU_BENCH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "kernels/emu/emu_device.h"

namespace hawser::testing {

// Values in device memory, and how a kernel may access them.
template <typename T>
struct OnDevice {
  gpu::DeviceAddress address;
  int64_t size = 0;

  gpu::KernelArgument As(gpu::Access access) const {
    return gpu::KernelArgument::Range(
        address, size * static_cast<int64_t>(sizeof(T)), access);
  }
  gpu::KernelArgument Read() const { return As(gpu::Access::kRead); }
  gpu::KernelArgument Write() const { return As(gpu::Access::kWrite); }
  gpu::KernelArgument Update() const { return As(gpu::Access::kUpdate); }
};

class Bench {
 public:
  explicit Bench(emu::EmuOptions options = {.every_schedule = true})
      : Bench(emu::MakeEmuDevice(options)) {}
  // On a device of any kind.
  explicit Bench(std::unique_ptr<gpu::Device> device)
      : device_(std::move(device)), stream_(*device_->CreateStream(0)) {}

  gpu::Device& device() { return *device_; }
  gpu::Stream stream() const { return stream_; }

  // Copies `values` to the device and waits.
  template <typename T>
  OnDevice<T> Put(const std::vector<T>& values) {
    OnDevice<T> to = Make<T>(static_cast<int64_t>(values.size()));
    Keep(device_->CopyToDevice(stream_, to.address, values.data(),
                               to.size * sizeof(T)));
    Keep(device_->AwaitStream(stream_));
    return to;
  }
  // Memory for `size` values, which are not initialized.
  template <typename T>
  OnDevice<T> Make(int64_t size) {
    auto address = device_->Allocate(stream_, size * sizeof(T));
    Keep(address.status());
    return {address.ok() ? *address : gpu::DeviceAddress(), size};
  }
  template <typename T>
  std::vector<T> Get(const OnDevice<T>& from) {
    std::vector<T> values(from.size);
    Keep(device_->CopyToHost(stream_, values.data(), from.address,
                             from.size * sizeof(T)));
    Keep(device_->AwaitStream(stream_));
    return values;
  }

  // A kernel of `text`, which is compiled once.
  gpu::Kernel Kernel(const std::string& text, const std::string& name) {
    gpu::KernelModule& module = modules_[text];
    if (!module) {
      auto binary = device_->Compile("test.cu", text, {});
      Keep(binary.status());
      if (!binary.ok()) return {};
      auto loaded = device_->LoadModule(binary->bytes);
      Keep(loaded.status());
      if (!loaded.ok()) return {};
      module = *loaded;
    }
    auto kernel = device_->FindKernel(module, name);
    Keep(kernel.status());
    return kernel.ok() ? *kernel : gpu::Kernel();
  }
  void Launch(gpu::Kernel kernel, const gpu::LaunchShape& shape,
              std::vector<gpu::KernelArgument> arguments) {
    Keep(device_->Launch(stream_, kernel, shape, arguments));
  }

  // The first error so far.
  absl::Status status() {
    Keep(device_->AwaitStream(stream_));
    return status_;
  }

 private:
  void Keep(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }

  std::unique_ptr<gpu::Device> device_;
  gpu::Stream stream_;
  std::map<std::string, gpu::KernelModule> modules_;
  absl::Status status_;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_KERNELS_EMU_BENCH_H_
