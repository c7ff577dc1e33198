#include "server/datasets/index/chunk_table.h"

namespace hawser::server {

std::shared_ptr<Chunk> ChunkTable::Of(const Digest& digest, int64_t size) {
  ++lookups_;
  std::shared_ptr<Chunk>& chunk = chunks_[digest];
  if (chunk == nullptr) chunk = std::make_shared<Chunk>(digest, size);
  return chunk;
}

std::shared_ptr<const StoredArray> ChunkTable::ArrayOf(
    const ArrayManifest& manifest) {
  const Digest id = ArrayId(manifest);
  ++lookups_;
  std::weak_ptr<const StoredArray>& known = arrays_[id];
  if (auto array = known.lock()) return array;
  auto array = std::make_shared<StoredArray>();
  array->id = id;
  array->shape = manifest.shape;
  for (const Digest& digest : manifest.chunks) {
    array->chunks.push_back(chunks_.at(digest));
  }
  known = array;
  return array;
}

void ChunkTable::DropArray(const Digest& id) {
  const auto known = arrays_.find(id);
  if (known != arrays_.end() && known->second.expired()) arrays_.erase(known);
}

void ChunkTable::DropArrays() {
  absl::erase_if(arrays_, [](const auto& a) { return a.second.expired(); });
}

void ChunkTable::Release(const std::vector<std::shared_ptr<Chunk>>& chunks) {
  for (const auto& chunk : chunks) {
    if (--chunk->references == 0) forgotten_.insert(chunk->digest);
  }
}

std::vector<std::shared_ptr<Chunk>> ChunkTable::Collect() {
  std::vector<std::shared_ptr<Chunk>> out;
  absl::erase_if(forgotten_, [&](const Digest& digest) {
    const auto at = chunks_.find(digest);
    if (at->second->references > 0) return true;  // uploaded again
    // In use by an array that is still read. No other use can begin, so that
    // the count only goes down.
    if (at->second.use_count() > 1) return false;
    Unplace(*at->second);
    out.push_back(std::move(at->second));
    chunks_.erase(at);
    return true;
  });
  return out;
}

void ChunkTable::Touch(Chunk& chunk) {
  if (chunk.placed) {
    evictable_.splice(evictable_.end(), evictable_, chunk.place);
  } else if (chunk.on_disk && chunk.data != nullptr) {
    chunk.place = evictable_.insert(evictable_.end(), &chunk);
    chunk.placed = true;
  }
}

void ChunkTable::Unplace(Chunk& chunk) {
  if (chunk.placed) evictable_.erase(chunk.place);
  chunk.placed = false;
}

Chunk* ChunkTable::TakeOldest() {
  if (evictable_.empty()) return nullptr;
  Chunk* const oldest = evictable_.front();
  Unplace(*oldest);
  return oldest;
}

}  // namespace hawser::server
