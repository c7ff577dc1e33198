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

// Maps the names of a tenant to the datasets that they stand for.
using DatasetTags = absl::btree_map<std::string, Digest>;
using DatasetPins = absl::flat_hash_map<Digest, absl::Time>;

// A tag or a pin that is asked for.
struct NameChange {
  DatasetTag tag;
  // Set: the change is a pin of this dataset, and `tag` means nothing.
  std::shared_ptr<StoredDataset> pinned = nullptr;
  absl::Time until = absl::InfinitePast();
  // Told, without a lock, what came of it.
  std::function<void(const absl::Status&)> done = nullptr;
  // OK if it can be made after those before it.
  absl::Status decided = absl::OkStatus();
};

// Memory that a dataset of such a manifest takes, and a tag of this name,
// without chunks (measured: tests/server/service/held).
int64_t IndexBytes(const DatasetManifest& manifest);
int64_t IndexBytes(const std::string& tag);

// `info.tags` of each dataset are the tags that name it, sorted; a tag may
// outlive its dataset. Tags and pins that are found here outlive the process if
// there is a disk: a change waits in `changes` and `deciding` until it does.
// Guarded by the store's lock.
struct TenantDatasets {
  // Finds a dataset by its token or a tag. Errors: kInvalidArgument for what is
  // neither, kNotFound.
  absl::StatusOr<std::shared_ptr<StoredDataset>> Find(
      absl::string_view token) const;
  // A page of at most 1000.
  DatasetPage List(const DatasetQuery& query) const;
  int64_t pinned_bytes(absl::Time now) const;

  // Checks that a change can be made when `names` are the tags. Errors: as
  // DatasetStore::Tag and Pin.
  absl::Status Check(const NameChange& change, const DatasetTags& names) const;
  // Makes one for which Check was OK. Errors: kNotFound, a dataset to be pinned
  // has been deleted since.
  absl::Status Make(const NameChange& change);
  // Says of each in `deciding` whether it can be made after those before it,
  // and what tags and pins are then. Returns whether any can.
  bool Decide(absl::Time now, DatasetTags* names, DatasetPins* pins);
  // The tags that name this dataset, sorted.
  std::vector<std::string> TagsOf(const Digest& id) const;

  absl::flat_hash_map<Digest, std::shared_ptr<StoredDataset>> by_id;
  // Memory for what is known of datasets, their arrays, tags and pins.
  int64_t index_bytes() const { return manifest_bytes + tag_bytes; }

  // A dataset of `by_id` is being removed, is so no longer.
  void NoteRemoving(const StoredDataset& dataset, bool begins);

  int64_t removing = 0;  // of `by_id`, those that are being removed
  // IndexBytes of all datasets that are not Unnamed yet, and of those that are
  // being removed; IndexBytes of all tags.
  int64_t manifest_bytes = 0;
  int64_t removing_bytes = 0;
  int64_t tag_bytes = 0;
  DatasetTags tags;
  bool names_saved = false;  // tags and pins have a file
  // The file may hold what was refused, or be damaged: it is to be written.
  bool names_stale = false;
  absl::Time names_tried = absl::InfinitePast();
  bool saving = false;               // a write is queued or under way
  std::vector<NameChange> changes;   // wait for the write after it
  std::vector<NameChange> deciding;  // are in the write that has begun
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_INDEX_TENANT_DATASETS_H_
