// The values a device and the engine exchange: handles, facts, launches.
#ifndef HAWSER_KERNELS_GPU_DEVICE_DEVICE_TYPES_H_
#define HAWSER_KERNELS_GPU_DEVICE_DEVICE_TYPES_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace hawser::gpu {

// Device memory, as a number: nothing on the host may follow it. Arithmetic is
// in bytes. The default is no memory.
struct DeviceAddress {
  uint64_t value = 0;

  explicit operator bool() const { return value != 0; }
  friend DeviceAddress operator+(DeviceAddress a, int64_t bytes) {
    return {a.value + static_cast<uint64_t>(bytes)};
  }
  bool operator==(const DeviceAddress&) const = default;
};

// Names a thing that a device made and alone can read. The default names
// nothing. The caller that made a handle destroys it, once, on the device that
// made it.
template <typename Tag>
struct Handle {
  uint64_t value = 0;

  explicit operator bool() const { return value != 0; }
  bool operator==(const Handle&) const = default;
};
using Stream = Handle<struct StreamTag>;
using Event = Handle<struct EventTag>;
using KernelModule = Handle<struct KernelModuleTag>;
using Kernel = Handle<struct KernelTag>;
using Graph = Handle<struct GraphTag>;
using GraphExec = Handle<struct GraphExecTag>;
using CallPlan = Handle<struct CallPlanTag>;

// ---- what the device is ---------------------------------------------------

// Facts that do not change while the process lives.
struct DeviceFacts {
  std::string platform;  // "cuda", "emu"
  std::string name;      // "NVIDIA H200"
  std::string target;    // what kernels are compiled for: "sm_90", "host"
  std::string versions;  // of driver and libraries, for logs
  int ordinal = 0;
  int64_t memory_bytes = 0;
  int64_t cache_bytes = 0;  // L2
  int multiprocessors = 1;
  int max_threads_per_block = 1024;
  int64_t max_grid[3] = {(int64_t{1} << 31) - 1, 65535, 65535};
  int64_t shared_bytes_per_block = 48 << 10;  // without asking for more
  int64_t max_shared_bytes_per_block = 48 << 10;
  double bytes_per_second = 0;  // of device memory, by the data sheet
};

// The memory of this process on one device.
struct MemoryUse {
  int64_t live_bytes = 0;  // allocated and not yet freed
  int64_t peak_bytes = 0;  // most of live_bytes so far
  int64_t live_allocations = 0;
  int64_t reserved_bytes = 0;  // held by the pool, live or not
  int64_t free_bytes = 0;      // of the device, for every process
};

// ---- kernels --------------------------------------------------------------

struct CompileOptions {
  // No contraction of a*b+c beyond what the text asks for: the results that
  // every engine must share bit for bit (house.md, Numerics).
  bool strict = false;
};

// The compiler's figures for one kernel; -1 where it does not say.
struct KernelResources {
  std::string name;
  int registers = -1;
  int64_t spill_bytes = -1;  // stores and loads
  int64_t stack_bytes = -1;
  int64_t shared_bytes = -1;  // static
};

// Compiled kernels: bytes that may be kept on disk and loaded by a device whose
// `compiler_id` is the same.
struct KernelBinary {
  std::string bytes;
  std::vector<KernelResources> kernels;
  std::string log;  // warnings; empty as a rule
};

struct Extent3 {
  uint32_t x = 1, y = 1, z = 1;
};

// Says how a kernel uses a range of memory. `emu` holds it to that.
enum class Access : uint8_t {
  kRead,
  kWrite,   // every byte is written, once, and none is read
  kUpdate,  // some bytes are read, written or both
};

// One parameter of a kernel: a range of device memory, or a number. Addresses
// reach a kernel in no other way.
class KernelArgument {
 public:
  // `bytes` from `address` on. Ranges of one launch may overlap: an operation
  // in place gives the same range to read and to write.
  static KernelArgument Range(DeviceAddress address, int64_t bytes,
                              Access access) {
    KernelArgument a(address.value);
    a.is_range_ = true;
    a.bytes_ = bytes;
    a.access_ = access;
    return a;
  }
  // T is exactly the type that the kernel's text declares.
  template <typename T>
  static KernelArgument Scalar(T value) {
    return KernelArgument(value);
  }

  bool is_range() const { return is_range_; }
  DeviceAddress address() const {
    DeviceAddress a;
    std::memcpy(&a.value, value_.data(), sizeof(a.value));
    return a;
  }
  int64_t bytes() const { return bytes_; }
  Access access() const { return access_; }
  // The parameter's own bytes, as a launch passes them.
  const void* value() const { return value_.data(); }
  int value_bytes() const { return value_bytes_; }

  // The same range elsewhere, for a graph that is updated.
  KernelArgument At(DeviceAddress address) const {
    KernelArgument a = *this;
    std::memcpy(a.value_.data(), &address.value, sizeof(address.value));
    return a;
  }

 private:
  template <typename T>
  explicit KernelArgument(T value) : value_bytes_(sizeof(T)) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    std::memcpy(value_.data(), &value, sizeof(value));
  }

  alignas(8) std::array<char, 8> value_{};
  int value_bytes_ = 0;
  bool is_range_ = false;
  Access access_ = Access::kRead;
  int64_t bytes_ = 0;
};

struct LaunchShape {
  Extent3 grid;          // blocks
  uint32_t threads = 1;  // per block; a multiple of 32
  int64_t dynamic_shared_bytes = 0;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_DEVICE_DEVICE_TYPES_H_
