// TenantDatasets: the datasets of one tenant, by id and by tag.
#ifndef HAWSER_SERVER_DATASETS_INDEX_TENANT_DATASETS_H_
#define HAWSER_SERVER_DATASETS_INDEX_TENANT_DATASETS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/runtime/dataset.h"
#include "server/datasets/index/stored_array.h"

namespace hawser::server {

// Told whether what a tenant names has been written.
using NamesSaved = std::function<void(const absl::Status&)>;

// `info.tags` of each dataset are the tags that name it, sorted; a tag may
// outlive its dataset. Guarded by the store's lock.
struct TenantDatasets {
  // By its token or a tag. Errors: kInvalidArgument for what is neither,
  // kNotFound.
  absl::StatusOr<std::shared_ptr<StoredDataset>> Find(
      absl::string_view token) const;
  // A page of at most 1000.
  DatasetPage List(const DatasetQuery& query) const;
  int64_t pinned_bytes(absl::Time now) const;

  // Errors: as DatasetStore::Tag; then nothing has changed.
  absl::Status SetTag(const DatasetTag& tag);
  // The tags that name this dataset, sorted.
  std::vector<std::string> TagsOf(const Digest& id) const;

  absl::flat_hash_map<Digest, std::shared_ptr<StoredDataset>> by_id;
  absl::btree_map<std::string, Digest> tags;
  bool names_saved = false;  // tags and pins have a file
  // Wait for the write that is queued and has not begun.
  std::vector<NamesSaved> saving;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_INDEX_TENANT_DATASETS_H_
