// How values travel between an Engine's device and this machine.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/status.h"
#include "kernels/gpu/engine.h"

namespace hawser::gpu {
namespace {

// A chunk of pinned memory for a scope.
class TakenChunk {
 public:
  TakenChunk(PinnedPool* pool, char* memory) : pool_(pool), memory_(memory) {}
  ~TakenChunk() { pool_->Return(memory_, std::move(busy)); }
  TakenChunk(const TakenChunk&) = delete;
  TakenChunk& operator=(const TakenChunk&) = delete;
  char* memory() const { return memory_; }

  EventPtr busy;  // until when it is used after the scope

 private:
  PinnedPool* const pool_;
  char* const memory_;
};

// Reads `bytes` at `from` by halves of a chunk: one is on its way while the
// other is copied out.
class ChunkReader {
 public:
  ChunkReader(Device* device, Lane* lane, DeviceAddress from, int64_t bytes,
              const TakenChunk& chunk, int64_t half)
      : device_(device),
        lane_(lane),
        from_(from),
        bytes_(bytes),
        chunk_(chunk),
        half_(half) {}

  absl::Status Read(char* to) {
    HAWSER_RETURN_IF_ERROR(Queue(0));
    for (int64_t at = 0; at < bytes_; at += half_) {
      if (at + half_ < bytes_) HAWSER_RETURN_IF_ERROR(Queue(at + half_));
      HAWSER_RETURN_IF_ERROR(device_->AwaitEvent(events_[Side(at)]->event()));
      std::memcpy(to + at, Half(at), Size(at));
    }
    return absl::OkStatus();
  }

 private:
  int Side(int64_t at) const { return at / half_ % 2; }
  char* Half(int64_t at) const { return chunk_.memory() + Side(at) * half_; }
  int64_t Size(int64_t at) const { return std::min(half_, bytes_ - at); }
  absl::Status Queue(int64_t at) {
    HAWSER_RETURN_IF_ERROR(
        device_->CopyToHost(lane_->stream(), Half(at), from_ + at, Size(at)));
    HAWSER_ASSIGN_OR_RETURN(events_[Side(at)], lane_->Record());
    return absl::OkStatus();
  }

  Device* const device_;
  Lane* const lane_;
  const DeviceAddress from_;
  const int64_t bytes_;
  const TakenChunk& chunk_;
  const int64_t half_;
  EventPtr events_[2];
};

}  // namespace

// The event behind what `lane` has queued. Where there is none, that is done
// when this returns.
absl::Status Engine::RecordUse(Lane* lane, EventPtr* event) {
  absl::StatusOr<EventPtr> recorded = lane->Record();
  if (recorded.ok()) {
    *event = *std::move(recorded);
    return absl::OkStatus();
  }
  device_->AwaitStream(lane->stream()).IgnoreError();
  return recorded.status();
}

absl::StatusOr<Literal> Engine::FetchOn(Lane* lane, DeviceAddress from,
                                        const Shape& shape) {
  HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::Allocate(shape));
  const int64_t bytes = shape.byte_size();
  PinnedPool& pool =
      bytes <= small_chunks_.chunk_bytes() / 2 ? small_chunks_ : large_chunks_;
  HAWSER_ASSIGN_OR_RETURN(char* const memory, pool.Take());
  const TakenChunk chunk(&pool, memory);
  ChunkReader reader(device_.get(), lane, from, bytes, chunk,
                     pool.chunk_bytes() / 2);
  const absl::Status read = bytes == 0
                                ? device_->AwaitStream(lane->stream())
                                : reader.Read(value.mutable_bytes().data());
  if (!read.ok()) {
    // Nothing may still write to the chunk.
    device_->AwaitStream(lane->stream()).IgnoreError();
    return read;
  }
  return value;
}

absl::Status Engine::UploadOn(Lane* lane, DeviceAddress to,
                              const Literal& value) {
  const auto bytes = value.bytes();
  const auto size = static_cast<int64_t>(bytes.size());
  PinnedPool& pool =
      size <= small_chunks_.chunk_bytes() ? small_chunks_ : large_chunks_;
  for (int64_t at = 0; at < size; at += pool.chunk_bytes()) {
    const int64_t part = std::min(pool.chunk_bytes(), size - at);
    HAWSER_ASSIGN_OR_RETURN(char* const memory, pool.Take());
    TakenChunk chunk(&pool, memory);
    std::memcpy(memory, bytes.data() + at, part);
    HAWSER_RETURN_IF_ERROR(
        device_->CopyToDevice(lane->stream(), to + at, memory, part));
    HAWSER_RETURN_IF_ERROR(RecordUse(lane, &chunk.busy));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceValue> Engine::UploadSmall(const Literal& value) {
  const LaneHold hold(uploads_.get());
  DeviceValue there{.made_on = uploads_.get()};
  HAWSER_ASSIGN_OR_RETURN(there.memory,
                          Allocate(uploads_, value.shape().byte_size()));
  HAWSER_RETURN_IF_ERROR(
      UploadOn(uploads_.get(), there.memory->address(), value));
  HAWSER_ASSIGN_OR_RETURN(there.ready, uploads_->Record());
  return there;
}

// Chunk by chunk, so that small values get in between.
absl::StatusOr<DeviceValue> Engine::UploadLarge(const Literal& value) {
  DeviceValue there{.made_on = uploads_.get()};
  const auto bytes = value.bytes();
  const auto size = static_cast<int64_t>(bytes.size());
  {
    const LaneHold hold(uploads_.get());
    HAWSER_ASSIGN_OR_RETURN(there.memory, Allocate(uploads_, size));
  }
  for (int64_t at = 0; at < size; at += large_chunks_.chunk_bytes()) {
    const int64_t part = std::min(large_chunks_.chunk_bytes(), size - at);
    HAWSER_ASSIGN_OR_RETURN(char* const memory, large_chunks_.Take());
    TakenChunk chunk(&large_chunks_, memory);
    std::memcpy(memory, bytes.data() + at, part);
    const LaneHold hold(uploads_.get());
    HAWSER_RETURN_IF_ERROR(device_->CopyToDevice(
        uploads_->stream(), there.memory->address() + at, memory, part));
    HAWSER_RETURN_IF_ERROR(RecordUse(uploads_.get(), &there.ready));
    chunk.busy = there.ready;
  }
  return there;
}

Future<DeviceValue> Engine::Upload(const Literal& value) {
  if (value.shape().byte_size() <= small_chunks_.chunk_bytes()) {
    return Future<DeviceValue>(UploadSmall(value));
  }
  auto promise = std::make_shared<Promise<DeviceValue>>();
  RunTransfer([self = shared_from_this(), value, promise] {
    promise->Set(self->UploadLarge(value));
  });
  return promise->future();
}

absl::StatusOr<Literal> Engine::FetchNow(const DeviceValue& value,
                                         const Shape& shape) {
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<Lane> lane, TakeLane());
  absl::StatusOr<Literal> fetched;
  {
    const LaneHold hold(lane.get());
    const absl::Status behind = lane->AwaitOn(value.ready);
    fetched = behind.ok() ? FetchOn(lane.get(), value.memory->address(), shape)
                          : behind;
  }
  ReturnLane(std::move(lane));
  return fetched;
}

Future<Literal> Engine::Fetch(const DeviceValue& value, const Shape& shape) {
  auto promise = std::make_shared<Promise<Literal>>();
  RunTransfer([self = shared_from_this(), value = DeviceValue(value), shape,
               promise]() mutable {
    absl::StatusOr<Literal> fetched = self->FetchNow(value, shape);
    value = {};  // whoever waits may give the memory away
    promise->Set(std::move(fetched));
  });
  return promise->future();
}

Future<bool> Engine::Ready(const DeviceValue& value) {
  auto promise = std::make_shared<Promise<bool>>();
  RunTransfer([self = shared_from_this(), ready = value.ready, promise] {
    const absl::Status passed = self->device().AwaitEvent(ready->event());
    promise->Set(passed.ok() ? absl::StatusOr<bool>(true) : passed);
  });
  return promise->future();
}

void Engine::RunTransfer(std::function<void()> task) {
  {
    MutexLock lock(&mu_);
    if (!drained_) {
      transfers_.Schedule(std::move(task));
      return;
    }
  }
  task();
}

}  // namespace hawser::gpu
