#include "server/datasets/storage/chunk_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "server/datasets/storage/file_io.h"

namespace hawser::server {
namespace {

// Folders called as one file that stay for a look.
constexpr int kMostAside = 100;

// Two tenants may hold the same dataset, and a tenant's name may hold
// anything: the file is called by token and a part of the name's digest.
std::string TenantName(const std::string& tenant) {
  return Sha256(tenant).ToHex().substr(0, 16);
}

std::string DatasetName(const DatasetRecord& record) {
  return absl::StrCat(TokenOf(record.manifest), "-", TenantName(record.tenant));
}

// Files a crash left half-written go; files renamed aside stay for a look.
absl::StatusOr<std::vector<std::string>> WholeFiles(const std::string& folder) {
  HAWSER_ASSIGN_OR_RETURN(std::vector<std::string> names, ListFolder(folder));
  std::vector<std::string> whole;
  for (std::string& name : names) {
    if (absl::EndsWith(name, ".tmp")) {
      unlink(absl::StrCat(folder, "/", name).c_str());
    } else if (!absl::StrContains(name, ".bad")) {
      whole.push_back(std::move(name));
    }
  }
  return whole;
}

}  // namespace

ChunkFiles::ChunkFiles(const std::string& folder)
    : folder_(folder),
      chunks_(folder + "/chunks"),
      datasets_(folder + "/datasets"),
      names_(folder + "/names") {}

ChunkFiles::~ChunkFiles() {
  if (lock_fd_ >= 0) close(lock_fd_);
}

absl::StatusOr<std::unique_ptr<ChunkFiles>> ChunkFiles::Open(
    const std::string& folder) {
  std::unique_ptr<ChunkFiles> files(new ChunkFiles(folder));
  for (const std::string* path :
       {&files->folder_, &files->chunks_, &files->datasets_, &files->names_}) {
    const absl::Status made = MakeFolder(*path);
    if (!made.ok()) return absl::FailedPreconditionError(made.message());
  }
  // The folders themselves outlive a crash too, and so does what a process
  // before this one renamed and had no time to flush.
  absl::Status synced = SyncFolder(folder);
  if (synced.ok()) synced = files->SyncFolders();
  if (!synced.ok()) return absl::FailedPreconditionError(synced.message());
  const std::string lock = folder + "/lock";
  files->lock_fd_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (files->lock_fd_ < 0) {
    return absl::FailedPreconditionError(
        FileError("cannot open", lock, errno).message());
  }
  if (flock(files->lock_fd_, LOCK_EX | LOCK_NB) != 0) {
    return FailedPrecondition("another server uses ", folder);
  }
  return files;
}

std::string ChunkFiles::DatasetPath(const DatasetRecord& record) const {
  return absl::StrCat(datasets_, "/", DatasetName(record));
}

std::string ChunkFiles::NamesPath(const std::string& tenant) const {
  return absl::StrCat(names_, "/", TenantName(tenant));
}

std::string ChunkFiles::ChunkPath(const Digest& digest) const {
  return absl::StrCat(chunks_, "/", digest.ToHex());
}

bool ChunkFiles::MoveAside(const std::string& path) {
  // A folder takes no other's place, nor another its.
  int tries = 1;
  std::string aside = path + ".bad";
  while (rename(path.c_str(), aside.c_str()) != 0 &&
         unlink(path.c_str()) != 0) {
    // If two threads have read it, the second finds nothing to rename.
    if (errno == ENOENT || ++tries > kMostAside) return false;
    aside = absl::StrCat(path, ".bad", tries);
  }
  return true;
}

void ChunkFiles::SetAside(const std::string& path, const absl::Status& why) {
  if (!MoveAside(path)) return;
  ++bad_files_;
  HAWSER_LOG(kWarning) << path << " is set aside: " << why.message();
}

absl::Status ChunkFiles::PassOver(const std::string& path,
                                  const absl::Status& why) {
  if (IsOfProcess(why)) return why;
  if (!absl::IsInternal(why)) {
    SetAside(path, why);
    return absl::OkStatus();
  }
  ++bad_files_;
  unread_.insert(path);
  HAWSER_LOG(kWarning) << path << " counts as missing: " << why.message()
                       << "; the file stays, for a start that can read it";
  return absl::OkStatus();
}

void ChunkFiles::CountMissing(const std::string& path) {
  ++bad_files_;
  HAWSER_LOG(kWarning) << path << " is missing";
}

absl::StatusOr<ChunkHeader> ChunkFiles::Examine(const std::string& name) {
  const std::string path = absl::StrCat(chunks_, "/", name);
  HAWSER_ASSIGN_OR_RETURN(const auto file, OpenToRead(path));
  std::string head(kChunkHeaderBytes, '\0');
  HAWSER_RETURN_IF_ERROR(
      ReadExactly(file->get(), 0, absl::MakeSpan(head), path));
  HAWSER_ASSIGN_OR_RETURN(ChunkHeader header, DecodeChunkHeader(head));
  if (header.digest.ToHex() != name) {
    return DataLoss("it holds chunk ", header.digest.ToHex());
  }
  struct stat info;
  if (fstat(file->get(), &info) != 0) {
    return FileError("cannot read", path, errno);
  }
  if (info.st_size != kChunkHeaderBytes + header.bytes) {
    return DataLoss("it has ", info.st_size, " bytes, the header says ",
                    kChunkHeaderBytes + header.bytes);
  }
  return header;
}

absl::StatusOr<ChunkFiles::Contents> ChunkFiles::Scan() {
  Contents contents;
  HAWSER_ASSIGN_OR_RETURN(std::vector<std::string> chunks, WholeFiles(chunks_));
  for (const std::string& name : chunks) {
    absl::StatusOr<ChunkHeader> header = Examine(name);
    if (header.ok()) {
      contents.chunks.push_back(*std::move(header));
      continue;
    }
    HAWSER_RETURN_IF_ERROR(
        PassOver(absl::StrCat(chunks_, "/", name), header.status()));
  }
  HAWSER_RETURN_IF_ERROR(ReadRecords(
      datasets_,
      [&](const std::string& name, absl::string_view bytes) -> absl::Status {
        HAWSER_ASSIGN_OR_RETURN(DatasetRecord record, DecodeDataset(bytes));
        if (DatasetName(record) != name) {
          return DataLoss("it holds ", TokenOf(record.manifest));
        }
        struct stat info = {};
        // One whose time cannot be read is taken for one that was just used.
        const absl::Time used = stat(DatasetPath(record).c_str(), &info) == 0
                                    ? absl::TimeFromTimespec(info.st_mtim)
                                    : absl::InfiniteFuture();
        contents.datasets.push_back({std::move(record), used});
        return absl::OkStatus();
      }));
  contents.datasets_unread = std::any_of(
      unread_.begin(), unread_.end(),
      [&](const auto& path) { return absl::StartsWith(path, datasets_); });
  HAWSER_RETURN_IF_ERROR(ReadRecords(
      names_,
      [&](const std::string& name, absl::string_view bytes) -> absl::Status {
        HAWSER_ASSIGN_OR_RETURN(NamesRecord record, DecodeNames(bytes));
        if (TenantName(record.tenant) != name) {
          return DataLoss("it is another tenant's");
        }
        contents.names.push_back(std::move(record));
        return absl::OkStatus();
      }));
  return contents;
}

absl::Status ChunkFiles::ReadRecords(
    const std::string& folder,
    absl::FunctionRef<absl::Status(const std::string&, absl::string_view)>
        read) {
  HAWSER_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          WholeFiles(folder));
  for (const std::string& name : names) {
    const std::string path = absl::StrCat(folder, "/", name);
    const absl::StatusOr<std::string> bytes = ReadFile(path);
    const absl::Status status =
        bytes.ok() ? read(name, *bytes) : bytes.status();
    if (!status.ok()) HAWSER_RETURN_IF_ERROR(PassOver(path, status));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<NewFile>> ChunkFiles::WriteChunk(
    const ChunkHeader& header, absl::Span<const char> bytes) {
  return NewFile::Write(ChunkPath(header.digest),
                        {EncodeChunkHeader(header), bytes});
}

absl::Status ChunkFiles::WriteDataset(const DatasetRecord& record) {
  return WriteFile(DatasetPath(record), {EncodeDataset(record)});
}

absl::Status ChunkFiles::RemoveDataset(const DatasetRecord& record) {
  const std::string path = DatasetPath(record);
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return FileError("cannot remove", path, errno);
}

absl::Status ChunkFiles::WriteNames(const NamesRecord& record) {
  if (unread_.erase(NamesPath(record.tenant)) > 0) {
    MoveAside(NamesPath(record.tenant));
  }
  return WriteFile(NamesPath(record.tenant), {EncodeNames(record)});
}

void ChunkFiles::MarkUsed(const DatasetRecord& record, absl::Time time) {
  const timespec at = absl::ToTimespec(time);
  const timespec times[] = {at, at};
  utimensat(AT_FDCWD, DatasetPath(record).c_str(), times, 0);
}

absl::Status ChunkFiles::SyncFolders() {
  HAWSER_RETURN_IF_ERROR(SyncFolder(chunks_));
  HAWSER_RETURN_IF_ERROR(SyncFolder(datasets_));
  return SyncFolder(names_);
}

absl::StatusOr<int64_t> ChunkFiles::FreeBytes() const {
  struct statvfs info;
  if (statvfs(chunks_.c_str(), &info) != 0) {
    return FileError("cannot ask for the space left in", chunks_, errno);
  }
  return static_cast<int64_t>(info.f_bavail) *
         static_cast<int64_t>(info.f_frsize);
}

absl::StatusOr<std::shared_ptr<char>> ChunkFiles::ReadChunk(
    const Digest& digest, int64_t bytes, ChunkMemory* memory) {
  const std::string path = ChunkPath(digest);
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<char> data, memory->Allocate(bytes));
  absl::Span<char> span(data.get(), static_cast<size_t>(bytes));
  absl::Status status;
  {
    const auto file = OpenToRead(path);
    status = file.ok()
                 ? ReadExactly((*file)->get(), kChunkHeaderBytes, span, path)
                 : file.status();
  }
  if (status.ok() && Sha256(span) != digest) {
    status = DataLoss("its bytes do not match their digest");
  }
  if (status.ok()) return data;
  // No file handles or a sick disk say nothing about the file.
  if (absl::IsInternal(status)) return status;
  if (absl::IsDataLoss(status)) SetAside(path, status);
  return DataLoss("chunk ", digest.ToHex(),
                  " is damaged on disk: ", status.message());
}

void ChunkFiles::RemoveChunk(const Digest& digest) {
  unlink(ChunkPath(digest).c_str());
}

void ChunkFiles::NoteMissing(const Digest& digest) {
  const std::string path = ChunkPath(digest);
  for (const std::string& found : {path, path + ".bad"}) {
    if (access(found.c_str(), F_OK) == 0) return;
  }
  CountMissing(path);
}

absl::Status ChunkFiles::VerifyHeader(const Digest& digest) {
  const absl::Status status = Examine(digest.ToHex()).status();
  if (absl::IsDataLoss(status)) SetAside(ChunkPath(digest), status);
  return status;
}

absl::Status ChunkFiles::VerifyRecord(
    const std::string& path,
    absl::FunctionRef<absl::Status(absl::string_view)> check) {
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  const absl::Status status = bytes.ok() ? check(*bytes) : bytes.status();
  // The same holds as for chunks: a lack of file handles says nothing about the
  // file.
  if (status.ok() || absl::IsInternal(status)) return status;
  absl::IsNotFound(status) ? CountMissing(path) : SetAside(path, status);
  return absl::DataLossError(status.message());
}

absl::Status ChunkFiles::VerifyDataset(const DatasetRecord& record) {
  return VerifyRecord(DatasetPath(record), [&](absl::string_view bytes) {
    return bytes == EncodeDataset(record)
               ? absl::OkStatus()
               : DataLoss("it is not the record of ", TokenOf(record.manifest));
  });
}

absl::Status ChunkFiles::VerifyNames(const std::string& tenant) {
  return VerifyRecord(
      NamesPath(tenant), [&](absl::string_view bytes) -> absl::Status {
        HAWSER_ASSIGN_OR_RETURN(const NamesRecord record, DecodeNames(bytes));
        return record.tenant == tenant ? absl::OkStatus()
                                       : DataLoss("it is another tenant's");
      });
}

}  // namespace hawser::server
