// The settings of a DatasetStore by an operator, and its figures to look at.
#ifndef HAWSER_SERVER_DATASETS_STORE_OPTIONS_H_
#define HAWSER_SERVER_DATASETS_STORE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/memory_account.h"

namespace hawser::server {

struct DatasetStoreOptions {
  std::string data_dir;  // empty: memory only
  // The memory for chunks and assembled arrays. Chunks that are safe on disk
  // leave memory first; when none can, uploads fail with kResourceExhausted.
  int64_t memory_bytes = int64_t{8} << 30;
  // All of it is charged to this account, as the server's own; null: to
  // nothing.
  std::shared_ptr<MemoryAccount> memory;
  // The part of them that is taken and touched before the first upload.
  int64_t prepared_bytes = 0;
  // The time after which an upload that does not end with a Commit is dropped,
  // from when it was last heard of.
  absl::Duration upload_ttl = absl::Minutes(10);
  // Chunks that a tenant's uploads may hold together, each as often as it is
  // held: 4 TiB of one upload, some 64 MiB of memory.
  int64_t tenant_upload_chunks = int64_t{1} << 20;
  // From its last use on, a dataset is not evicted for so long.
  absl::Duration lease = absl::Minutes(10);
  // The bytes of chunks on disk; 0: no limit.
  int64_t disk_bytes = 0;
  // The bytes that the file system must have left when a chunk comes.
  int64_t disk_reserve = 0;
  // The bytes of each tenant's chunks and datasets; 0: no limit. Names, shapes
  // and digests of so many may take 4 KiB each, and a quarter of the account at
  // most.
  int64_t tenant_bytes = 0;
  int64_t tenant_datasets = 100'000;
  // The rate at which files are read back and verified; 0: nothing.
  int64_t scrub_bytes_per_second = 0;
  std::function<absl::Time()> now = SteadyNow;
};

struct DatasetStoreStatistics {
  int64_t chunks = 0;
  int64_t datasets = 0;
  int64_t resident_bytes = 0;
  int64_t disk_bytes = 0;
  int64_t bad_files = 0;  // on disk: damaged or missing, since the start
  int64_t evicted_datasets = 0;
  int64_t evicted_bytes = 0;
  int64_t verified_bytes = 0;  // by the scrubber
  int64_t received_bytes = 0;  // verified, since the start
  // The number of times that an index that tenants share was looked into, which
  // takes bytes or references of one's own: asking for others' leaves it as it
  // is.
  int64_t shared_lookups = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_STORE_OPTIONS_H_
