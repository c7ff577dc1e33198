// Retention: makes room for chunks and datasets that come, or says what stays
// in their way.
#ifndef HAWSER_SERVER_DATASETS_RETENTION_H_
#define HAWSER_SERVER_DATASETS_RETENTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/datasets/durability.h"
#include "server/datasets/index/catalog.h"
#include "server/datasets/store_state.h"

namespace hawser::server {

// At a limit datasets are evicted, the least recently used first, and only as
// many as make the room: of the tenant alone for its quota, of all tenants for
// disk and memory. The catalog says which may go (Evictable). Methods are
// called with the store's lock held. Errors: kResourceExhausted saying what the
// limit is and what holds it.
class Retention {
 public:
  Retention(StoreState* state, Durability* durability)
      : state_(*state), durability_(*durability) {}

  // Admits a chunk of so many bytes, as far as quota and disk go; if there is
  // no disk, makes room in memory.
  absl::Status Admit(const std::string& tenant, int64_t bytes);
  absl::Status AdmitToTenant(const std::string& tenant, int64_t bytes);
  // Admits a dataset that takes so much of the index (IndexBytes).
  absl::Status AdmitDataset(const std::string& tenant, int64_t index_bytes);

  // Lets durable chunks leave memory until datasets have room for `bytes` more.
  void MakeRoom(int64_t bytes);
  // Lets as many go as hold `bytes`; returns what they held, to die without the
  // lock.
  std::vector<std::shared_ptr<const char>> LetGo(int64_t bytes);

 private:
  int64_t MostIndexBytes() const;
  absl::Status AdmitToDisk(int64_t bytes);
  std::vector<Candidate> Evictable(const std::string* only) const;
  bool EvictOne(const Candidate& candidate, const DatasetShare& share);
  // Evicts until `bytes` are on their way out, of `only` where it is given:
  // its bytes, else those of all. Returns how many are.
  int64_t Evict(int64_t bytes, const std::string* only);

  StoreState& state_;
  Durability& durability_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_RETENTION_H_
