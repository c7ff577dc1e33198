// Disk: the files of a store and the thread that writes them.
#ifndef HAWSER_SERVER_DATASETS_STORAGE_DISK_H_
#define HAWSER_SERVER_DATASETS_STORAGE_DISK_H_

#include <cstdint>
#include <memory>

#include "server/datasets/storage/chunk_files.h"
#include "server/datasets/storage/disk_writer.h"

namespace hawser::server {

// Both null: there is no disk, memory only. Both are set before other threads
// use them and never change afterwards.
struct Disk {
  bool exists() const { return files != nullptr; }
  // True if nothing is to be written.
  bool idle() const { return writer == nullptr || writer->idle(); }
  int64_t bad_files() const { return exists() ? files->bad_files() : 0; }

  std::unique_ptr<ChunkFiles> files;
  std::unique_ptr<DiskWriter> writer;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_STORAGE_DISK_H_
