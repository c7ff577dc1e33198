#include "server/datasets/index/stored_array.h"

#include "core/base/status.h"

namespace hawser::server {

bool StoredDataset::IsDurable() const {
  if (!on_disk) return false;
  for (const auto& array : arrays) {
    for (const auto& chunk : array->chunks) {
      if (!chunk->on_disk) return false;
    }
  }
  return true;
}

absl::Status StoredDataset::WhyNotWritten() const {
  for (const auto& array : arrays) {
    for (const auto& chunk : array->chunks) {
      if (chunk->written) continue;
      if (!chunk->write_error.ok()) return chunk->write_error;
      return DataLoss("chunk ", chunk->digest.ToHex(),
                      " was damaged; put the dataset again");
    }
  }
  return absl::OkStatus();
}

bool StoredDataset::NeedsWrite() const {
  if (writes > 0 || removing) return false;
  if (!on_disk) return true;
  for (const auto& array : arrays) {
    for (const auto& chunk : array->chunks) {
      if (!chunk->on_disk && !chunk->writing && !chunk->lost()) return true;
    }
  }
  return false;
}

DatasetInfo StoredDataset::Info() const {
  DatasetInfo out = info;
  out.durable = IsDurable();
  out.being_written = writes > 0;
  return out;
}

}  // namespace hawser::server
