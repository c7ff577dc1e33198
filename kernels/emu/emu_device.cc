#include "kernels/emu/emu_device.h"

#include <unistd.h>

#include <cstdlib>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/emu/emu_device_impl.h"

namespace hawser::emu {
namespace {

using gpu::DeviceAddress;
using gpu::Event;
using gpu::Stream;

gpu::DeviceFacts FactsOf(const EmuOptions& options) {
  gpu::DeviceFacts f;
  f.platform = "emu";
  f.name = "emulated device";
  f.target = "host";
  f.versions = absl::StrCat(options.compiler, " ", __VERSION__);
  f.memory_bytes = options.memory_bytes;
  // Facts that shape kernels are those of the GPU that is emulated.
  f.cache_bytes = int64_t{50} << 20;
  f.multiprocessors = options.multiprocessors;
  f.max_shared_bytes_per_block = 227 << 10;
  f.bytes_per_second = 1e9;
  return f;
}

EmuOptions WithDefaults(EmuOptions options) {
  if (options.folder.empty()) {
    const char* temporary = std::getenv("TEST_TMPDIR");
    if (temporary == nullptr) temporary = std::getenv("TMPDIR");
    if (temporary == nullptr) temporary = "/tmp";
    options.folder = absl::StrCat(temporary, "/hawser-emu-", getuid());
  }
  return options;
}

uint64_t Number(const void* memory) {
  return reinterpret_cast<uint64_t>(memory);
}

}  // namespace

EmuDevice::EmuDevice(const EmuOptions& options)
    : options_(WithDefaults(options)),
      facts_(FactsOf(options_)),
      compiler_(options_.folder, options_.compiler),
      memory_(options_.memory_bytes),
      timeline_(options_.seed) {}

EmuDevice::~EmuDevice() = default;

std::vector<Schedule> EmuDevice::SchedulesOf(uint64_t draw) const {
  if (options_.every_schedule) {
    return {std::begin(kSchedules), std::end(kSchedules)};
  }
  return {kSchedules[draw % std::size(kSchedules)]};
}

// ---- memory and copies ----------------------------------------------------

absl::StatusOr<DeviceAddress> EmuDevice::Allocate(Stream stream,
                                                  int64_t bytes) {
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "Allocate"));
  absl::StatusOr<DeviceAddress> address = memory_.Reserve(bytes);
  if (absl::IsResourceExhausted(address.status())) {
    HAWSER_RETURN_IF_ERROR(timeline_.Await(stream));
    address = memory_.Reserve(bytes);
  }
  HAWSER_RETURN_IF_ERROR(address);
  const DeviceAddress at = *address;
  const absl::Status queued = timeline_.Push(stream, [this, at] {
    memory_.Open(at);
    return absl::OkStatus();
  });
  if (!queued.ok()) {
    memory_.Retire(at).IgnoreError();
    memory_.Open(at);
    memory_.Release(at).IgnoreError();
    return queued;
  }
  return at;
}

absl::Status EmuDevice::Free(Stream stream, DeviceAddress address) {
  if (!address) return absl::OkStatus();
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "Free"));
  HAWSER_RETURN_IF_ERROR(memory_.Retire(address));
  return timeline_.Push(
      stream, [this, address] { return memory_.Release(address); });
}

absl::StatusOr<void*> EmuDevice::AllocatePinned(int64_t bytes) {
  return memory_.AllocatePinned(bytes);
}
absl::Status EmuDevice::FreePinned(void* memory) {
  return memory_.FreePinned(memory);
}

absl::Status EmuDevice::CopyToDevice(Stream stream, DeviceAddress to,
                                     const void* from, int64_t bytes) {
  return Add(stream,
             CopyStep{CopyKind::kToDevice, to.value, Number(from), bytes});
}
absl::Status EmuDevice::CopyToHost(Stream stream, void* to,
                                   DeviceAddress from, int64_t bytes) {
  return Add(stream,
             CopyStep{CopyKind::kToHost, Number(to), from.value, bytes});
}
absl::Status EmuDevice::CopyOnDevice(Stream stream, DeviceAddress to,
                                     DeviceAddress from, int64_t bytes) {
  return Add(stream,
             CopyStep{CopyKind::kOnDevice, to.value, from.value, bytes});
}
absl::Status EmuDevice::Fill(Stream stream, DeviceAddress to, uint8_t value,
                             int64_t bytes) {
  return Add(stream, FillStep{to, value, bytes});
}

// ---- streams and events ---------------------------------------------------

absl::StatusOr<Stream> EmuDevice::CreateStream(int priority) {
  if (priority < 0 || priority > 1) {
    return InvalidArgument("stream priority ", priority, ", not 0 or 1");
  }
  HAWSER_RETURN_IF_ERROR(Health());
  return timeline_.AddStream();
}
absl::Status EmuDevice::DestroyStream(Stream stream) {
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "DestroyStream"));
  return timeline_.RemoveStream(stream);
}
absl::StatusOr<Event> EmuDevice::CreateEvent() { return timeline_.AddEvent(); }
absl::Status EmuDevice::DestroyEvent(Event event) {
  return timeline_.RemoveEvent(event);
}
absl::Status EmuDevice::RecordEvent(Stream stream, Event event) {
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "RecordEvent"));
  return timeline_.Record(stream, event);
}
absl::Status EmuDevice::AwaitEventOn(Stream stream, Event event) {
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "AwaitEventOn"));
  return timeline_.WaitOn(stream, event);
}
absl::StatusOr<bool> EmuDevice::IsDone(Event event) {
  return timeline_.IsDone(event);
}
absl::Status EmuDevice::AwaitEvent(Event event) {
  return timeline_.Await(event);
}
absl::Status EmuDevice::AwaitStream(Stream stream) {
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "AwaitStream"));
  return timeline_.Await(stream);
}
absl::StatusOr<double> EmuDevice::SecondsBetween(Event first, Event last) {
  return timeline_.SecondsBetween(first, last);
}
absl::Status EmuDevice::Notify(Stream stream,
                               std::function<void(absl::Status)> done) {
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "Notify"));
  return timeline_.Notify(stream, std::move(done));
}

std::unique_ptr<gpu::Device> MakeEmuDevice(const EmuOptions& options) {
  return std::make_unique<EmuDevice>(options);
}

}  // namespace hawser::emu
