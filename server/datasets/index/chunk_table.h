// ChunkTable: every chunk and array of a store, once for all tenants.
#ifndef HAWSER_SERVER_DATASETS_INDEX_CHUNK_TABLE_H_
#define HAWSER_SERVER_DATASETS_INDEX_CHUNK_TABLE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/digest.h"
#include "core/runtime/dataset.h"
#include "server/datasets/index/stored_array.h"

namespace hawser::server {

// A chunk is in the table from its first use until Collect takes it out. Each
// without a reference is in `forgotten_`; some there have references again.
// `evictable_` holds the chunks that are `placed`: in memory and on disk, the
// least recently used first. Guarded by the store's lock.
class ChunkTable {
 public:
  using Chunks = absl::flat_hash_map<Digest, std::shared_ptr<Chunk>>;

  const Chunks& chunks() const { return chunks_; }
  // Returns how often Of and ArrayOf were called.
  int64_t lookups() const { return lookups_; }

  // Returns the chunk of this digest; if there is none, it is made, of this
  // size.
  std::shared_ptr<Chunk> Of(const Digest& digest, int64_t size);
  // Returns the array of these chunks, all of which are in the table.
  std::shared_ptr<const StoredArray> ArrayOf(const ArrayManifest& manifest);
  // Drops what is known of arrays that are no longer alive: of one, of all.
  void DropArray(const Digest& id);
  void DropArrays();

  // A tenant knows the chunk no longer.
  void Release(const std::vector<std::shared_ptr<Chunk>>& chunks);
  // Takes out the chunks that no tenant knows and no array in use holds.
  std::vector<std::shared_ptr<Chunk>> Collect();

  // Marks a chunk that is in memory and on disk as the last to leave memory.
  void Touch(Chunk& chunk);
  // The chunk is on disk no longer, or leaves the table.
  void Unplace(Chunk& chunk);
  // Takes out the placed chunk that was not used for longest, so that its bytes
  // may go. Null: there is none.
  Chunk* TakeOldest();

 private:
  Chunks chunks_;
  absl::flat_hash_set<Digest> forgotten_;
  absl::flat_hash_map<Digest, std::weak_ptr<const StoredArray>> arrays_;
  std::list<Chunk*> evictable_;
  int64_t lookups_ = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_INDEX_CHUNK_TABLE_H_
