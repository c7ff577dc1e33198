// The bytes of what is on disk: little-endian, bounded on the way in.
#ifndef HAWSER_SERVER_DATASETS_STORAGE_RECORD_H_
#define HAWSER_SERVER_DATASETS_STORAGE_RECORD_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/runtime/dataset.h"

namespace hawser::server {

// A chunk file is this header, padded to kChunkHeaderBytes, and the bytes. A
// chunk that no dataset on disk names belongs to the tenant who uploaded it.
struct ChunkHeader {
  Digest digest;
  int64_t bytes = 0;
  std::string tenant;
};
// A page: the bytes after it stay aligned for a later mmap or direct read.
inline constexpr int64_t kChunkHeaderBytes = 4096;
inline constexpr size_t kMaxTenantBytes = 255;

// Magic, version, fields, and the SHA-256 of all before.
std::string EncodeChunkHeader(const ChunkHeader& header);
// Errors (kDataLoss): anything that is not what Encode wrote.
absl::StatusOr<ChunkHeader> DecodeChunkHeader(absl::string_view bytes);

struct DatasetRecord {
  std::string tenant;
  DatasetManifest manifest;
};
// The tags and pins of a tenant, one file per tenant.
struct NamesRecord {
  std::string tenant;
  std::vector<std::pair<std::string, Digest>> tags;  // sorted by name
  std::vector<std::pair<Digest, absl::Time>> pins;   // until when
};
std::string EncodeNames(const NamesRecord& record);
absl::StatusOr<NamesRecord> DecodeNames(absl::string_view bytes);

std::string EncodeDataset(const DatasetRecord& record);
absl::StatusOr<DatasetRecord> DecodeDataset(absl::string_view bytes);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_STORAGE_RECORD_H_
