// The part of DatasetStore that knows chunks: who refers to them, what leaves
// memory, how they come in and are read back.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "server/datasets/chunk_receiver.h"
#include "server/datasets/dataset_store.h"

namespace hawser::server {

std::shared_ptr<Chunk> DatasetStore::ChunkOf(const Digest& digest,
                                             int64_t size) {
  ++shared_lookups_;
  std::shared_ptr<Chunk>& chunk = chunks_[digest];
  if (chunk == nullptr) chunk = std::make_shared<Chunk>(digest, size);
  return chunk;
}

void DatasetStore::Refer(Tenant& tenant, const std::shared_ptr<Chunk>& chunk) {
  const absl::Time expires = options_.now() + options_.upload_ttl;
  if (tenant.chunks.emplace(chunk->digest, chunk).second) {
    ++chunk->references;
    tenant.uploads.emplace(chunk->digest, expires);
    return;
  }
  auto upload = tenant.uploads.find(chunk->digest);
  if (upload != tenant.uploads.end()) upload->second = expires;
}

void DatasetStore::Forget(const std::shared_ptr<Chunk>& chunk) {
  if (--chunk->references > 0) return;
  if (chunk->placed) evictable_.erase(chunk->place);
  chunk->placed = false;
  // In the writer's order: behind a write that is queued, before that of the
  // same chunk uploaded again.
  if (chunk->on_disk || chunk->writing) {
    writer_->Add({[this, digest = chunk->digest] {
                    files_->RemoveChunk(digest);
                    return absl::OkStatus();
                  },
                  [](const absl::Status&) {}});
  }
  chunks_.erase(chunk->digest);
}

void DatasetStore::Touch(Chunk& chunk) {
  if (chunk.placed) {
    evictable_.splice(evictable_.end(), evictable_, chunk.place);
  } else if (chunk.on_disk && chunk.data != nullptr && chunk.references > 0) {
    chunk.place = evictable_.insert(evictable_.end(), &chunk);
    chunk.placed = true;
  }
}

void DatasetStore::MakeRoom(int64_t bytes) {
  MutexLock lock(&mu_);
  while (memory_.resident() > options_.memory_bytes - bytes &&
         !evictable_.empty()) {
    Chunk* chunk = evictable_.front();
    evictable_.pop_front();
    chunk->placed = false;
    // Frees memory unless an array in use holds it; then the next one may.
    chunk->data = nullptr;
  }
}

absl::StatusOr<std::unique_ptr<ChunkReceiver>> DatasetStore::Reserve(
    absl::string_view tenant, const Digest& digest, int64_t bytes) {
  if (memory_.resident() > options_.memory_bytes - bytes) MakeRoom(bytes);
  if (memory_.resident() > options_.memory_bytes - bytes) {
    MutexLock lock(&mu_);
    const std::string disk =
        last_write_error_.ok()
            ? (files_ == nullptr ? "there is no disk to move them to"
                                 : "they are in use or not on disk yet")
            : absl::StrCat("the last write failed: ",
                           last_write_error_.message());
    return ResourceExhausted("the datasets' memory limit of ",
                             options_.memory_bytes, " bytes: ", chunks_.size(),
                             " chunks and the arrays in use hold ",
                             memory_.resident(), " bytes, and ", disk);
  }
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<char> data, memory_.Allocate(bytes));
  return std::unique_ptr<ChunkReceiver>(new ChunkReceiver(
      this, std::string(tenant), digest, bytes, std::move(data)));
}

void DatasetStore::BeginChunk(absl::string_view tenant, const Digest& digest,
                              uint64_t bytes, ReceiverReady ready) {
  if (bytes == 0 || bytes > kChunkBytes) {
    ready(InvalidArgument("chunk ", digest.ToHex(), " claims ", bytes,
                          " bytes, a chunk has 1 to ", kChunkBytes));
    return;
  }
  auto receiver = Reserve(tenant, digest, static_cast<int64_t>(bytes));
  if (!absl::IsResourceExhausted(receiver.status()) || writer_idle()) {
    ready(std::move(receiver));
    return;
  }
  {
    MutexLock lock(&mu_);
    waiting_.push_back({std::string(tenant), digest,
                        static_cast<int64_t>(bytes), std::move(ready)});
  }
  // The writer may have ended its last batch in between.
  if (writer_idle()) ServeWaitingUploads();
}

void DatasetStore::ServeWaitingUploads() {
  while (true) {
    WaitingUpload next;
    {
      MutexLock lock(&mu_);
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    auto receiver = Reserve(next.tenant, next.digest, next.bytes);
    if (absl::IsResourceExhausted(receiver.status()) && !writer_idle()) {
      {
        MutexLock lock(&mu_);
        waiting_.push_front(std::move(next));
      }
      if (!writer_idle()) return;  // else its last call may have missed this
      continue;
    }
    next.ready(std::move(receiver));
  }
}

absl::Status DatasetStore::Receive(const std::string& tenant,
                                   const Digest& digest, int64_t bytes,
                                   std::shared_ptr<const char> data) {
  MutexLock lock(&mu_);
  std::shared_ptr<Chunk> chunk = ChunkOf(digest, bytes);
  if (chunk->size != bytes) {
    return DataLoss("chunk ", digest.ToHex(), " had ", chunk->size,
                    " bytes before and has ", bytes, " now");
  }
  received_bytes_ += bytes;
  Refer(tenants_[tenant], chunk);
  if (!chunk->lost()) return absl::OkStatus();  // the copy just received goes
  chunk->data = std::move(data);
  WriteChunk(tenant, chunk);
  return absl::OkStatus();
}

absl::StatusOr<ChunkBytes> DatasetStore::BytesOf(
    const std::shared_ptr<Chunk>& chunk) {
  {
    MutexLock lock(&mu_);
    if (chunk->data != nullptr) {
      Touch(*chunk);
      return ChunkBytes{chunk->data, chunk->size};
    }
    if (!chunk->on_disk) {
      return DataLoss("chunk ", chunk->digest.ToHex(),
                      " was damaged; put the dataset again");
    }
  }
  MakeRoom(chunk->size);
  absl::StatusOr<std::shared_ptr<char>> read =
      files_->ReadChunk(chunk->digest, chunk->size, &memory_);
  MutexLock lock(&mu_);
  if (absl::IsDataLoss(read.status())) chunk->on_disk = false;
  HAWSER_RETURN_IF_ERROR(read);
  if (chunk->data == nullptr) chunk->data = *std::move(read);
  Touch(*chunk);
  return ChunkBytes{chunk->data, chunk->size};
}

absl::StatusOr<ChunkBytes> DatasetStore::LoadChunk(const StoredArray& array,
                                                   size_t index) {
  return BytesOf(array.chunks[index]);
}

absl::Status DatasetStore::MakeRoomToAssemble(const StoredArray& array) {
  const int64_t bytes = array.shape.byte_size();
  MakeRoom(bytes);
  MutexLock lock(&mu_);
  int64_t own = 0;  // goes as its place in the array is filled
  for (const auto& chunk : array.chunks) {
    if (chunk->data != nullptr) own += chunk->size;
  }
  const int64_t others = std::max<int64_t>(memory_.resident() - own, 0);
  if (others <= options_.memory_bytes - bytes) return absl::OkStatus();
  return ResourceExhausted("the datasets' memory limit of ",
                           options_.memory_bytes, " bytes: an array of ", bytes,
                           " bytes does not fit beside ", others,
                           " bytes in use or not on disk yet");
}

absl::StatusOr<Literal> DatasetStore::Load(const StoredArray& array) {
  MutexLock assembling(&array.assembling);
  if (auto whole = array.whole.lock()) {
    return Literal::Adopt(array.shape, std::move(whole));
  }
  if (array.chunks.empty()) return Literal::Allocate(array.shape);
  if (array.chunks.size() == 1) {
    HAWSER_ASSIGN_OR_RETURN(ChunkBytes only, BytesOf(array.chunks[0]));
    return Literal::Adopt(array.shape, std::move(only.data));
  }
  HAWSER_RETURN_IF_ERROR(MakeRoomToAssemble(array));
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<char> whole,
                          memory_.Allocate(array.shape.byte_size()));
  char* at = whole.get();
  for (const std::shared_ptr<Chunk>& chunk : array.chunks) {
    HAWSER_ASSIGN_OR_RETURN(ChunkBytes bytes, BytesOf(chunk));
    std::memcpy(at, bytes.data.get(), static_cast<size_t>(bytes.size));
    bytes.data = nullptr;
    {
      // From now on the chunk is a part of the array, so that assembling takes
      // no second copy's worth of memory.
      MutexLock lock(&mu_);
      if (chunk->data != nullptr) {
        chunk->data = std::shared_ptr<const char>(whole, at);
      }
    }
    at += chunk->size;
  }
  array.whole = whole;
  return Literal::Adopt(array.shape, std::move(whole));
}

}  // namespace hawser::server
