#include "server/datasets/uploads.h"

#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::server {

ChunkReceiver::ChunkReceiver(Uploads* uploads, ChunkClaim claim,
                             std::shared_ptr<char> data, MemoryCharge index)
    : uploads_(uploads),
      claim_(std::move(claim)),
      data_(std::move(data)),
      index_(std::move(index)) {}

void ChunkReceiver::Advance(int64_t n) {
  HAWSER_CHECK(n >= 0 && n <= missing());
  // While the bytes are still in the cache.
  hasher_.Bytes({at(), static_cast<size_t>(n)});
  received_ += n;
}

absl::Status ChunkReceiver::Finish() {
  if (missing() > 0) {
    return DataLoss("chunk ", digest().ToHex(), " ends ", missing(),
                    " bytes too early");
  }
  const Digest actual = hasher_.Finish();
  if (actual != digest()) {
    return DataLoss("chunk ", digest().ToHex(),
                    " does not match its bytes, whose digest is ",
                    actual.ToHex());
  }
  return uploads_->Receive(claim_, std::move(data_));
}

absl::Status Uploads::NoMemory() {
  MutexLock lock(&state_.mu);
  const absl::Status& last_write = durability_->use().last_write;
  std::string why = "they are in use or not on disk yet";
  if (!last_write.ok()) {
    why = absl::StrCat("the last write failed: ", last_write.message());
  } else if (!state_.disk.exists()) {
    why = absl::StrCat("there is no disk to move them to; what stays are ",
                       kWhatStays);
  }
  return ResourceExhausted("the datasets' memory limit of ",
                           state_.options.memory_bytes,
                           " bytes: ", state_.catalog.table.chunks().size(),
                           " chunks and the arrays in use hold ",
                           state_.memory.resident(), " bytes, and ", why);
}

absl::StatusOr<std::unique_ptr<ChunkReceiver>> Uploads::Reserve(
    const ChunkClaim& claim) {
  bool evicted;
  {
    MutexLock lock(&state_.mu);
    const int64_t before = state_.counts.evicted_datasets;
    state_.catalog.Of(claim.tenant)
        .chunks.Hear(claim.upload, state_.UploadEnd());
    HAWSER_RETURN_IF_ERROR(retention_->Admit(claim.tenant, claim.size));
    evicted = state_.counts.evicted_datasets > before;
  }
  if (evicted && let_go_) let_go_();
  const auto over = [&] {
    return state_.memory.resident() > state_.options.memory_bytes - claim.size;
  };
  if (over()) {
    MutexLock lock(&state_.mu);
    retention_->MakeRoom(claim.size);
  }
  if (over()) return NoMemory();
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<char> data,
                          state_.memory.Allocate(claim.size));
  HAWSER_ASSIGN_OR_RETURN(
      MemoryCharge index,
      state_.Reserve(claim.tenant, TenantChunks::kChunkIndexBytes));
  return std::make_unique<ChunkReceiver>(this, claim, std::move(data),
                                         std::move(index));
}

void Uploads::Begin(ChunkClaim claim, ReceiverReady ready) {
  auto receiver = Reserve(claim);
  if (!absl::IsResourceExhausted(receiver.status()) || state_.disk.idle()) {
    ready(std::move(receiver));
    return;
  }
  {
    MutexLock lock(&state_.mu);
    waiting_.push_back({std::move(claim), std::move(ready)});
  }
  // The writer may have ended its last batch in between.
  if (state_.disk.idle()) ServeWaiting();
}

void Uploads::ServeWaiting() {
  do {
    std::deque<Waiting> waiting, still;
    {
      MutexLock lock(&state_.mu);
      waiting.swap(waiting_);
    }
    // A chunk that does not fit holds up its own tenant's alone.
    absl::flat_hash_set<std::string> full;
    for (Waiting& next : waiting) {
      if (!full.contains(next.claim.tenant)) {
        auto receiver = Reserve(next.claim);
        if (!absl::IsResourceExhausted(receiver.status()) ||
            state_.disk.idle()) {
          next.ready(std::move(receiver));
          continue;
        }
        full.insert(next.claim.tenant);
      }
      still.push_back(std::move(next));
    }
    if (still.empty()) return;
    MutexLock lock(&state_.mu);
    waiting_.insert(waiting_.begin(), std::make_move_iterator(still.begin()),
                    std::make_move_iterator(still.end()));
  } while (state_.disk.idle());  // else its last call may have missed these
}

void Uploads::Stop() {
  std::deque<Waiting> waiting;
  {
    MutexLock lock(&state_.mu);
    waiting.swap(waiting_);
  }
  for (Waiting& upload : waiting) {
    upload.ready(Unavailable("the server is stopping"));
  }
}

absl::Status Uploads::Receive(const ChunkClaim& claim,
                              std::shared_ptr<const char> data) {
  MutexLock lock(&state_.mu);
  Catalog::Tenant& entry = state_.catalog.Of(claim.tenant);
  TenantChunks& own = entry.chunks;
  // Again, since others came meanwhile.
  if (!own.Knows(claim.digest)) {
    HAWSER_RETURN_IF_ERROR(retention_->AdmitToTenant(claim.tenant, claim.size));
  }
  HAWSER_RETURN_IF_ERROR(
      own.AdmitHolds(own.Holds(claim.upload, claim.digest) ? 0 : 1,
                     state_.options.tenant_upload_chunks));
  ChunkTable& table = state_.catalog.table;
  const std::shared_ptr<Chunk> chunk = table.Of(claim.digest, claim.size);
  if (chunk->size != claim.size) {
    return DataLoss("chunk ", claim.digest.ToHex(), " had ", chunk->size,
                    " bytes before and has ", claim.size, " now");
  }
  state_.counts.received_bytes += claim.size;
  own.Hold(claim.upload, chunk, state_.UploadEnd());
  entry.Charge();
  const bool sound = chunk->data != nullptr || chunk->verified;
  if (!chunk->lost() && sound) {  // the copy just received goes
    table.Touch(*chunk);
    return absl::OkStatus();
  }
  // It takes the place of a file of which only the header was looked at.
  if (chunk->on_disk) durability_->TakeOffDisk(*chunk);
  chunk->data = std::move(data);
  durability_->WriteChunk(claim.tenant, chunk);
  return absl::OkStatus();
}

}  // namespace hawser::server
