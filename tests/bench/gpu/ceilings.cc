#include "tests/bench/gpu/ceilings.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/base/values/shape.h"
#include "kernels/gpu/gpu_buffer.h"
#include "tests/bench/gpu/workload_run.h"

namespace hawser::bench {
namespace {

using gpu::DeviceAddress;

constexpr int kGroups = 7;
constexpr double kGroupSeconds = 0.03;
constexpr double kMaxRepeats = 100;

// A stream, two events, and memory that goes with them.
class Bench {
 public:
  static absl::StatusOr<std::unique_ptr<Bench>> Make(gpu::Device* device) {
    std::unique_ptr<Bench> bench(new Bench(device));
    HAWSER_ASSIGN_OR_RETURN(bench->stream_, device->CreateStream(0));
    HAWSER_ASSIGN_OR_RETURN(bench->first_, device->CreateEvent());
    HAWSER_ASSIGN_OR_RETURN(bench->last_, device->CreateEvent());
    return bench;
  }
  ~Bench() {
    for (const DeviceAddress memory : memory_) {
      device_->Free(stream_, memory).IgnoreError();
    }
    if (last_) device_->DestroyEvent(last_).IgnoreError();
    if (first_) device_->DestroyEvent(first_).IgnoreError();
    if (stream_) device_->DestroyStream(stream_).IgnoreError();
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  gpu::Stream stream() const { return stream_; }

  absl::StatusOr<DeviceAddress> Allocate(int64_t bytes) {
    HAWSER_ASSIGN_OR_RETURN(const DeviceAddress memory,
                            device_->Allocate(stream_, bytes));
    memory_.push_back(memory);
    return memory;
  }

  // Seconds of the device for one `work`, of `repeats`.
  absl::StatusOr<double> Time(const std::function<absl::Status()>& work,
                              int repeats) {
    HAWSER_RETURN_IF_ERROR(device_->RecordEvent(stream_, first_));
    for (int k = 0; k < repeats; ++k) HAWSER_RETURN_IF_ERROR(work());
    HAWSER_RETURN_IF_ERROR(device_->RecordEvent(stream_, last_));
    HAWSER_RETURN_IF_ERROR(device_->AwaitEvent(last_));
    HAWSER_ASSIGN_OR_RETURN(const double seconds,
                            device_->SecondsBetween(first_, last_));
    return seconds / repeats;
  }

  absl::StatusOr<absl::Duration> Median(
      const std::function<absl::Status()>& work) {
    HAWSER_RETURN_IF_ERROR(Time(work, 1));
    HAWSER_ASSIGN_OR_RETURN(const double warm, Time(work, 2));
    const int repeats = static_cast<int>(
        std::clamp(kGroupSeconds / std::max(warm, 1e-9), 1.0, kMaxRepeats));
    std::vector<double> times;
    for (int g = 0; g < kGroups; ++g) {
      HAWSER_ASSIGN_OR_RETURN(const double seconds, Time(work, repeats));
      times.push_back(seconds);
    }
    std::nth_element(times.begin(), times.begin() + kGroups / 2, times.end());
    return absl::Seconds(times[kGroups / 2]);
  }

 private:
  explicit Bench(gpu::Device* device) : device_(device) {}

  gpu::Device* const device_;
  gpu::Stream stream_;
  gpu::Event first_, last_;
  std::vector<DeviceAddress> memory_;
};

// A library's plan, destroyed with this.
class Plan {
 public:
  Plan(gpu::Device* device, gpu::CallPlan plan)
      : device_(device), plan_(plan) {}
  ~Plan() { device_->DestroyCall(plan_).IgnoreError(); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  gpu::CallPlan get() const { return plan_; }

 private:
  gpu::Device* const device_;
  const gpu::CallPlan plan_;
};

// Random elements, there.
absl::StatusOr<gpu::DeviceValue> RandomMatrix(gpu::GpuClient* client,
                                              const Shape& shape,
                                              uint32_t seed) {
  HAWSER_ASSIGN_OR_RETURN(const runtime::BufferPtr made,
                          MakeRandom({shape}, seed, client));
  return static_cast<gpu::GpuBuffer&>(*made).value().Await();
}

}  // namespace

absl::StatusOr<absl::Duration> TimeCopy(gpu::Device* device, int64_t bytes) {
  HAWSER_ASSIGN_OR_RETURN(const auto bench, Bench::Make(device));
  HAWSER_ASSIGN_OR_RETURN(const DeviceAddress from, bench->Allocate(bytes));
  HAWSER_ASSIGN_OR_RETURN(const DeviceAddress to, bench->Allocate(bytes));
  HAWSER_RETURN_IF_ERROR(device->Fill(bench->stream(), from, 0x5a, bytes));
  return bench->Median(
      [&] { return device->CopyOnDevice(bench->stream(), to, from, bytes); });
}

absl::StatusOr<absl::Duration> TimeProduct(gpu::Device* device,
                                           gpu::GpuClient* client, DType dtype,
                                           int64_t size,
                                           gpu::GemmPrecision precision) {
  const Shape shape = Shape::Of(dtype, {size, size});
  HAWSER_ASSIGN_OR_RETURN(const gpu::DeviceValue a,
                          RandomMatrix(client, shape, 1));
  HAWSER_ASSIGN_OR_RETURN(const gpu::DeviceValue b,
                          RandomMatrix(client, shape, 2));
  const gpu::MatrixLayout matrix = {.dtype = dtype};
  HAWSER_ASSIGN_OR_RETURN(const gpu::CallPlan planned,
                          device->PlanCall(gpu::GemmSpec{.m = size,
                                            .n = size,
                                            .k = size,
                                            .a = matrix,
                                            .b = matrix,
                                            .d = matrix,
                                            .precision = precision}));
  const Plan plan(device, planned);
  HAWSER_ASSIGN_OR_RETURN(const auto bench, Bench::Make(device));
  gpu::CallOperands operands = {
      .operands = {a.memory->address(), b.memory->address()}};
  HAWSER_ASSIGN_OR_RETURN(operands.results.emplace_back(),
                          bench->Allocate(shape.byte_size()));
  HAWSER_ASSIGN_OR_RETURN(operands.workspace,
                          bench->Allocate(device->WorkspaceBytes(plan.get())));
  return bench->Median(
      [&] { return device->RunCall(bench->stream(), plan.get(), operands); });
}

}  // namespace hawser::bench
