// The part of DatasetStore that knows chunks: who refers to them, what leaves
// memory, how they come in and are read back.
#include <algorithm>
#include <cstring>
#include <iterator>
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

void DatasetStore::EndUpload(Tenant& tenant, uint64_t upload) {
  for (const Digest& digest : tenant.EndUpload(upload)) Forget(tenant, digest);
}

void DatasetStore::Forget(Tenant& tenant, const Digest& digest) {
  const auto at = tenant.chunks.find(digest);
  Chunk& chunk = *at->second.chunk;
  tenant.bytes -= chunk.size;
  tenant.unnamed -= chunk.size;
  tenant.chunks.erase(at);
  if (--chunk.references == 0) forgotten_.insert(digest);
}

void DatasetStore::Collect() {
  for (auto it = forgotten_.begin(); it != forgotten_.end();) {
    const auto at = it++;  // erase keeps the others
    const auto chunk = chunks_.find(*at);
    if (chunk->second->references > 0) {  // uploaded again
      forgotten_.erase(at);
      continue;
    }
    // In use by an array that somebody still reads. Nobody else can get at it,
    // so this only ever goes down.
    if (chunk->second.use_count() > 1) continue;
    if (chunk->second->on_disk || chunk->second->writing) {
      // Behind a write that is queued, before that of the same chunk put
      // again; else at once, since others were let in for the room it leaves.
      const int64_t bytes = chunk->second->size;
      removing_bytes_ += bytes;
      writer_->Add({.write =
                        [this, digest = *at] {
                          files_->RemoveChunk(digest);
                          return absl::OkStatus();
                        },
                    .done =
                        [this, bytes](const absl::Status&) {
                          MutexLock lock(&mu_);
                          removing_bytes_ -= bytes;
                          disk_bytes_ -= bytes;
                        },
                    .removes = true},
                   /*first=*/!chunk->second->writing);
    }
    if (chunk->second->placed) evictable_.erase(chunk->second->place);
    chunks_.erase(chunk);
    forgotten_.erase(at);
  }
}

void DatasetStore::Touch(Chunk& chunk) {
  if (chunk.placed) {
    evictable_.splice(evictable_.end(), evictable_, chunk.place);
  } else if (chunk.on_disk && chunk.data != nullptr) {
    chunk.place = evictable_.insert(evictable_.end(), &chunk);
    chunk.placed = true;
  }
}

void DatasetStore::MakeRoom(int64_t bytes) {
  MutexLock lock(&mu_);
  // What was in use when it was deleted.
  if (memory_.resident() > options_.memory_bytes - bytes) Collect();
  while (memory_.resident() > options_.memory_bytes - bytes &&
         !evictable_.empty()) {
    Chunk* chunk = evictable_.front();
    evictable_.pop_front();
    chunk->placed = false;
    // Frees memory unless an array in use holds it; then the next one may.
    chunk->data = nullptr;
  }
}

void DatasetStore::LetGo(int64_t bytes) {
  std::vector<std::shared_ptr<const char>> gone;  // dies after the lock
  MutexLock lock(&mu_);
  while (bytes > 0 && !evictable_.empty()) {
    Chunk* chunk = evictable_.front();
    evictable_.pop_front();
    chunk->placed = false;
    bytes -= chunk->size;
    gone.push_back(std::move(chunk->data));
    chunk->data = nullptr;
  }
}

absl::StatusOr<std::unique_ptr<ChunkReceiver>> DatasetStore::Reserve(
    const ChunkClaim& claim) {
  const int64_t bytes = claim.size;
  bool evicted;
  {
    MutexLock lock(&mu_);
    const int64_t before = evicted_datasets_;
    tenants_[claim.tenant].Hear(claim.upload, UploadEnd());
    HAWSER_RETURN_IF_ERROR(Admit(claim.tenant, bytes));
    evicted = evicted_datasets_ > before;
  }
  if (evicted && let_go_) let_go_();
  if (memory_.resident() > options_.memory_bytes - bytes) MakeRoom(bytes);
  if (memory_.resident() > options_.memory_bytes - bytes) {
    MutexLock lock(&mu_);
    const std::string disk =
        last_write_error_.ok()
            ? (files_ == nullptr
                   ? absl::StrCat("there is no disk to move them to; what "
                                  "stays are ",
                                  kWhatStays)
                   : "they are in use or not on disk yet")
            : absl::StrCat("the last write failed: ",
                           last_write_error_.message());
    return ResourceExhausted("the datasets' memory limit of ",
                             options_.memory_bytes, " bytes: ", chunks_.size(),
                             " chunks and the arrays in use hold ",
                             memory_.resident(), " bytes, and ", disk);
  }
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<char> data, memory_.Allocate(bytes));
  return std::unique_ptr<ChunkReceiver>(
      new ChunkReceiver(this, claim, std::move(data)));
}

void DatasetStore::BeginChunk(absl::string_view tenant, uint64_t upload,
                              const Digest& digest, uint64_t bytes,
                              ReceiverReady ready) {
  if (bytes == 0 || bytes > kChunkBytes) {
    ready(InvalidArgument("chunk ", digest.ToHex(), " claims ", bytes,
                          " bytes, a chunk has 1 to ", kChunkBytes));
    return;
  }
  ChunkClaim claim{std::string(tenant), upload, digest,
                   static_cast<int64_t>(bytes)};
  auto receiver = Reserve(claim);
  if (!absl::IsResourceExhausted(receiver.status()) || writer_idle()) {
    ready(std::move(receiver));
    return;
  }
  {
    MutexLock lock(&mu_);
    waiting_.push_back({std::move(claim), std::move(ready)});
  }
  // The writer may have ended its last batch in between.
  if (writer_idle()) ServeWaitingUploads();
}

void DatasetStore::ServeWaitingUploads() {
  do {
    std::deque<WaitingUpload> waiting, still;
    {
      MutexLock lock(&mu_);
      waiting.swap(waiting_);
    }
    // What does not fit holds up its own tenant's alone.
    absl::flat_hash_set<std::string> full;
    for (WaitingUpload& next : waiting) {
      if (!full.contains(next.claim.tenant)) {
        auto receiver = Reserve(next.claim);
        if (!absl::IsResourceExhausted(receiver.status()) || writer_idle()) {
          next.ready(std::move(receiver));
          continue;
        }
        full.insert(next.claim.tenant);
      }
      still.push_back(std::move(next));
    }
    if (still.empty()) return;
    MutexLock lock(&mu_);
    waiting_.insert(waiting_.begin(), std::make_move_iterator(still.begin()),
                    std::make_move_iterator(still.end()));
  } while (writer_idle());  // else its last call may have missed these
}

absl::Status DatasetStore::Receive(const ChunkClaim& claim,
                                   std::shared_ptr<const char> data) {
  MutexLock lock(&mu_);
  Tenant& tenant = tenants_[claim.tenant];
  // Again, since others came meanwhile.
  if (!tenant.chunks.contains(claim.digest)) {
    HAWSER_RETURN_IF_ERROR(AdmitToTenant(claim.tenant, claim.size));
  }
  HAWSER_RETURN_IF_ERROR(
      tenant.AdmitHolds(tenant.Holds(claim.upload, claim.digest) ? 0 : 1,
                        options_.tenant_upload_chunks));
  const std::shared_ptr<Chunk> chunk = ChunkOf(claim.digest, claim.size);
  if (chunk->size != claim.size) {
    return DataLoss("chunk ", claim.digest.ToHex(), " had ", chunk->size,
                    " bytes before and has ", claim.size, " now");
  }
  received_bytes_ += claim.size;
  tenant.Hold(claim.upload, chunk, UploadEnd());
  const bool sound = chunk->data != nullptr || chunk->verified;
  if (!chunk->lost() && sound) {  // the copy just received goes
    Touch(*chunk);
    return absl::OkStatus();
  }
  // It takes the place of a file of which only the header was looked at.
  if (chunk->on_disk) TakeOffDisk(*chunk);
  chunk->data = std::move(data);
  WriteChunk(claim.tenant, chunk);
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
  if (absl::IsDataLoss(read.status())) FileIsBad(*chunk);
  HAWSER_RETURN_IF_ERROR(read);
  chunk->verified = true;
  if (chunk->data == nullptr) chunk->data = *std::move(read);
  Touch(*chunk);
  return ChunkBytes{chunk->data, chunk->size};
}

absl::StatusOr<ChunkBytes> DatasetStore::LoadChunk(const StoredArray& array,
                                                   size_t index) {
  return BytesOf(array.chunks[index]);
}

absl::StatusOr<Literal> DatasetStore::CopyRows(const StoredArray& array,
                                               const RowBytes& part) {
  const int64_t bytes = part.end - part.begin;
  MakeRoom(bytes);
  if (memory_.resident() > options_.memory_bytes - bytes) {
    return ResourceExhausted("the datasets' memory limit of ",
                             options_.memory_bytes, " bytes: rows of ", bytes,
                             " bytes do not fit beside ", memory_.resident(),
                             " bytes in use or not on disk yet");
  }
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<char> rows, memory_.Allocate(bytes));
  for (int64_t at = part.begin; at < part.end;) {
    const int64_t index = at / kChunkBytes;
    const int64_t from = at - index * kChunkBytes;
    HAWSER_ASSIGN_OR_RETURN(const ChunkBytes chunk,
                            LoadChunk(array, static_cast<size_t>(index)));
    const int64_t n = std::min(chunk.size - from, part.end - at);
    std::memcpy(rows.get() + (at - part.begin), chunk.data.get() + from,
                static_cast<size_t>(n));
    at += n;
  }
  return Literal::Adopt(part.shape, std::move(rows));
}

absl::StatusOr<Literal> DatasetStore::LoadRows(const StoredArray& array,
                                               const RowRange& rows) {
  HAWSER_ASSIGN_OR_RETURN(const RowBytes part, FindRows(array.shape, rows));
  if (part.begin == part.end) return Literal::Allocate(part.shape);
  {
    MutexLock lock(&array.assembling);
    if (auto whole = array.whole.lock()) {
      const char* at = whole.get() + part.begin;
      return Literal::Adopt(part.shape, {std::move(whole), at});
    }
  }
  // A few rows would keep all of their chunk in memory.
  const int64_t first = part.begin / kChunkBytes;
  if (first != (part.end - 1) / kChunkBytes ||
      part.end - part.begin < kChunkBytes / 2) {
    return CopyRows(array, part);
  }
  HAWSER_ASSIGN_OR_RETURN(ChunkBytes chunk,
                          LoadChunk(array, static_cast<size_t>(first)));
  const char* at = chunk.data.get() + (part.begin - first * kChunkBytes);
  return Literal::Adopt(part.shape, {std::move(chunk.data), at});
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
