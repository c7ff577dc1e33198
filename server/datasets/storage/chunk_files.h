// ChunkFiles: chunks and datasets in a folder. A file is there whole or not at
// all (temporary file, fsync, rename, fsync of the folder); one that is not
// what its name says is renamed aside and never served.
#ifndef HAWSER_SERVER_DATASETS_STORAGE_CHUNK_FILES_H_
#define HAWSER_SERVER_DATASETS_STORAGE_CHUNK_FILES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "server/datasets/storage/chunk_memory.h"
#include "server/datasets/storage/file_io.h"
#include "server/datasets/storage/record.h"

namespace hawser::server {

// Thread-safe: distinct files may be read and written at once.
class ChunkFiles {
 public:
  // Makes the folder if need be and locks it against other processes.
  // Errors: kFailedPrecondition (in use, not writable).
  static absl::StatusOr<std::unique_ptr<ChunkFiles>> Open(
      const std::string& folder);
  ~ChunkFiles();
  ChunkFiles(const ChunkFiles&) = delete;
  ChunkFiles& operator=(const ChunkFiles&) = delete;

  struct Contents {
    struct Dataset {
      DatasetRecord record;
      absl::Time last_used;
    };
    std::vector<ChunkHeader> chunks;
    std::vector<Dataset> datasets;
    std::vector<NamesRecord> names;
    // Some file of a dataset could not be read: what it names is not known.
    bool datasets_unread = false;
  };
  // Returns what is there, by headers and sizes alone. Removes temporary files
  // left by a crash and renames bad files aside. One that the disk does not
  // give out counts as missing and stays where it is, with a warning. Errors:
  // the process may open no more files, a folder cannot be listed. Before
  // anything else is called.
  absl::StatusOr<Contents> Scan();

  // Durable only after the SyncFolders that follows, a chunk after Keep.
  // Errors: kResourceExhausted for a full disk, else kInternal naming the file.
  absl::StatusOr<std::unique_ptr<NewFile>> WriteChunk(
      const ChunkHeader& header, absl::Span<const char> bytes);
  absl::Status WriteDataset(const DatasetRecord& record);
  // It is no error if the file is not there. Errors: kInternal naming the file.
  absl::Status RemoveDataset(const DatasetRecord& record);
  absl::Status WriteNames(const NamesRecord& record);
  // Remembered by the file's own time, as far as it outlives a crash.
  void MarkUsed(const DatasetRecord& record, absl::Time time);
  absl::Status SyncFolders();

  // Reads and verifies. Errors: kDataLoss; the file has been renamed aside.
  absl::StatusOr<std::shared_ptr<char>> ReadChunk(const Digest& digest,
                                                  int64_t bytes,
                                                  ChunkMemory* memory);
  void RemoveChunk(const Digest& digest);
  // Counts a chunk that should be there and is not, unless it was set aside.
  void NoteMissing(const Digest& digest);

  // Checks that a file is as it was written: the header of a chunk, a dataset,
  // the names of a tenant. Errors: kDataLoss; the file has been renamed aside.
  absl::Status VerifyHeader(const Digest& digest);
  absl::Status VerifyDataset(const DatasetRecord& record);
  absl::Status VerifyNames(const std::string& tenant);

  // Returns the bytes that the file system has left for this user. Errors:
  // kInternal.
  absl::StatusOr<int64_t> FreeBytes() const;

  // Files that this process renamed aside or missed.
  int64_t bad_files() const { return bad_files_; }

 private:
  explicit ChunkFiles(const std::string& folder);
  std::string ChunkPath(const Digest& digest) const;
  // Renames a file so that it is not found again; false: it is gone.
  static bool MoveAside(const std::string& path);
  void SetAside(const std::string& path, const absl::Status& why);
  // Handles a file that Scan cannot use: sets it aside, or takes it for
  // missing. Errors: the process's.
  absl::Status PassOver(const std::string& path, const absl::Status& why);
  void CountMissing(const std::string& path);
  absl::Status VerifyRecord(
      const std::string& path,
      absl::FunctionRef<absl::Status(absl::string_view bytes)> check);
  absl::StatusOr<ChunkHeader> Examine(const std::string& name);
  // Calls `read(path, bytes)` for every whole file in `folder`; one that it
  // refuses is set aside.
  absl::Status ReadRecords(
      const std::string& folder,
      absl::FunctionRef<absl::Status(const std::string& name,
                                     absl::string_view bytes)>
          read);
  std::string DatasetPath(const DatasetRecord& record) const;
  std::string NamesPath(const std::string& tenant) const;

  const std::string folder_;
  const std::string chunks_;
  const std::string datasets_;
  const std::string names_;
  int lock_fd_ = -1;
  std::atomic<int64_t> bad_files_{0};
  // Passed over by Scan: they are moved aside before others take their place.
  absl::flat_hash_set<std::string> unread_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_STORAGE_CHUNK_FILES_H_
