#include "kernels/gpu/engine/transfers.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {
namespace {

constexpr int kThreads = 4;
// Scalars and small vectors are copied by the caller itself.
constexpr int64_t kSmallChunk = 4 << 10;
constexpr int kSmallChunks = 1024, kSmallPerSlab = 256;
// Two halves, so that one is copied while the other is read or written.
constexpr int64_t kLargeChunk = int64_t{4} << 20;
constexpr int kLargeChunks = 16;

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
  ChunkReader(Device* device, WorkStream* work_stream, DeviceAddress from,
              int64_t bytes, const TakenChunk& chunk, int64_t half)
      : device_(device),
        work_stream_(work_stream),
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
    HAWSER_RETURN_IF_ERROR(device_->CopyToHost(work_stream_->stream(), Half(at),
                                               from_ + at, Size(at)));
    HAWSER_ASSIGN_OR_RETURN(events_[Side(at)], work_stream_->Record());
    return absl::OkStatus();
  }

  Device* const device_;
  WorkStream* const work_stream_;
  const DeviceAddress from_;
  const int64_t bytes_;
  const TakenChunk& chunk_;
  const int64_t half_;
  EventPtr events_[2];
};

}  // namespace

Transfers::Transfers(std::shared_ptr<Device> device,
                     std::shared_ptr<WorkStreams> work_streams,
                     std::shared_ptr<DeviceHeap> heap)
    : device_(std::move(device)),
      work_streams_(std::move(work_streams)),
      heap_(std::move(heap)),
      small_chunks_(device_, kSmallChunk, kSmallChunks, kSmallPerSlab),
      large_chunks_(device_, kLargeChunk, kLargeChunks, 1),
      threads_(kThreads) {}

// The event after what `stream` has queued. If there is none, that work is done
// when this returns.
absl::Status Transfers::RecordUse(WorkStream* work_stream, EventPtr* event) {
  absl::StatusOr<EventPtr> recorded = work_stream->Record();
  if (recorded.ok()) {
    *event = *std::move(recorded);
    return absl::OkStatus();
  }
  device_->AwaitStream(work_stream->stream()).IgnoreError();
  return recorded.status();
}

absl::StatusOr<Literal> Transfers::FetchOn(WorkStream* work_stream,
                                           DeviceAddress from,
                                           const Shape& shape) {
  HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::Allocate(shape));
  const int64_t bytes = shape.byte_size();
  PinnedPool& pool =
      bytes <= small_chunks_.chunk_bytes() / 2 ? small_chunks_ : large_chunks_;
  HAWSER_ASSIGN_OR_RETURN(char* const memory, pool.Take());
  const TakenChunk chunk(&pool, memory);
  ChunkReader reader(device_.get(), work_stream, from, bytes, chunk,
                     pool.chunk_bytes() / 2);
  const absl::Status read = bytes == 0
                                ? device_->AwaitStream(work_stream->stream())
                                : reader.Read(value.mutable_bytes().data());
  if (!read.ok()) {
    // Nothing may still write to the chunk.
    device_->AwaitStream(work_stream->stream()).IgnoreError();
    return read;
  }
  return value;
}

absl::Status Transfers::UploadOn(WorkStream* work_stream, DeviceAddress to,
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
        device_->CopyToDevice(work_stream->stream(), to + at, memory, part));
    HAWSER_RETURN_IF_ERROR(RecordUse(work_stream, &chunk.busy));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceValue> Transfers::UploadSmall(const Literal& value) {
  const std::shared_ptr<WorkStream>& work_stream = work_streams_->uploads();
  const LaneHold hold(work_stream.get());
  DeviceValue there{.made_on = work_stream.get()};
  HAWSER_ASSIGN_OR_RETURN(
      there.memory, heap_->Allocate(work_stream, value.shape().byte_size()));
  HAWSER_RETURN_IF_ERROR(
      UploadOn(work_stream.get(), there.memory->address(), value));
  HAWSER_ASSIGN_OR_RETURN(there.ready, work_stream->Record());
  return there;
}

// Chunk by chunk, so that small values get in between.
absl::StatusOr<DeviceValue> Transfers::UploadLarge(const Literal& value) {
  const std::shared_ptr<WorkStream>& work_stream = work_streams_->uploads();
  DeviceValue there{.made_on = work_stream.get()};
  const auto bytes = value.bytes();
  const auto size = static_cast<int64_t>(bytes.size());
  {
    const LaneHold hold(work_stream.get());
    HAWSER_ASSIGN_OR_RETURN(there.memory, heap_->Allocate(work_stream, size));
  }
  for (int64_t at = 0; at < size; at += large_chunks_.chunk_bytes()) {
    const int64_t part = std::min(large_chunks_.chunk_bytes(), size - at);
    HAWSER_ASSIGN_OR_RETURN(char* const memory, large_chunks_.Take());
    TakenChunk chunk(&large_chunks_, memory);
    std::memcpy(memory, bytes.data() + at, part);
    const LaneHold hold(work_stream.get());
    HAWSER_RETURN_IF_ERROR(device_->CopyToDevice(
        work_stream->stream(), there.memory->address() + at, memory, part));
    HAWSER_RETURN_IF_ERROR(RecordUse(work_stream.get(), &there.ready));
    chunk.busy = there.ready;
  }
  return there;
}

Future<DeviceValue> Transfers::Upload(const Literal& value) {
  if (value.shape().byte_size() <= small_chunks_.chunk_bytes()) {
    return Future<DeviceValue>(UploadSmall(value));
  }
  auto promise = std::make_shared<Promise<DeviceValue>>();
  Run([self = shared_from_this(), value, promise] {
    promise->Set(self->UploadLarge(value));
  });
  return promise->future();
}

absl::StatusOr<Literal> Transfers::FetchNow(const DeviceValue& value,
                                            const Shape& shape) {
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<WorkStream> work_stream,
                          work_streams_->Take());
  absl::StatusOr<Literal> fetched;
  {
    const LaneHold hold(work_stream.get());
    const absl::Status behind = work_stream->AwaitOn(value.ready);
    fetched = behind.ok()
                  ? FetchOn(work_stream.get(), value.memory->address(), shape)
                  : behind;
  }
  work_streams_->Return(std::move(work_stream));
  return fetched;
}

Future<Literal> Transfers::Fetch(const DeviceValue& value, const Shape& shape) {
  auto promise = std::make_shared<Promise<Literal>>();
  Run([self = shared_from_this(), value = DeviceValue(value), shape,
       promise]() mutable {
    absl::StatusOr<Literal> fetched = self->FetchNow(value, shape);
    value = {};  // the caller that waits may give the memory away
    promise->Set(std::move(fetched));
  });
  return promise->future();
}

Future<bool> Transfers::Ready(const DeviceValue& value) {
  auto promise = std::make_shared<Promise<bool>>();
  Run([self = shared_from_this(), ready = value.ready, promise] {
    const absl::Status passed = self->device_->AwaitEvent(ready->event());
    promise->Set(passed.ok() ? absl::StatusOr<bool>(true) : passed);
  });
  return promise->future();
}

void Transfers::Run(std::function<void()> task) {
  {
    MutexLock lock(&mu_);
    if (!stopped_) {
      threads_.Schedule(std::move(task));
      return;
    }
  }
  task();
}

void Transfers::Stop() {
  {
    MutexLock lock(&mu_);
    stopped_ = true;
  }
  threads_.Stop();
}

}  // namespace hawser::gpu
