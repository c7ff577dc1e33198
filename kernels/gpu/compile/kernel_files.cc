#include "kernels/gpu/compile/kernel_files.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/process/own_folder.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::gpu {
namespace {

namespace fs = std::filesystem;

// A file: this line, a line per kernel "key name", an empty line, the number of
// bytes of the binary, their SHA-256, the binary.
constexpr absl::string_view kMagic = "hawser kernels 1";
constexpr char kSuffix[] = ".kernels";

std::string HeaderOf(const KernelBatch& batch) {
  std::string header = absl::StrCat(kMagic, "\n");
  for (const KernelKey& k : batch.kernels) {
    absl::StrAppend(&header, k.key, " ", k.name, "\n");
  }
  absl::StrAppend(&header, "\n", batch.binary.size(), "\n",
                  Sha256({batch.binary.data(), batch.binary.size()}).ToHex(),
                  "\n");
  return header;
}

absl::StatusOr<std::vector<KernelKey>> ReadKernels(std::istream& file) {
  std::string line;
  if (!std::getline(file, line) || line != kMagic) {
    return DataLoss("no kernel file");
  }
  std::vector<KernelKey> kernels;
  while (std::getline(file, line) && !line.empty()) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    kernels.push_back({parts.first, parts.second});
  }
  if (!file || kernels.empty()) return DataLoss("a header that ends early");
  return kernels;
}

absl::StatusOr<KernelBatch> ReadBatch(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound(path, " is gone");
  KernelBatch batch;
  HAWSER_ASSIGN_OR_RETURN(batch.kernels, ReadKernels(file));
  std::string size, checksum;
  int64_t bytes = 0;
  if (!std::getline(file, size) || !std::getline(file, checksum) ||
      !absl::SimpleAtoi(size, &bytes)) {
    return DataLoss("a header that ends early");
  }
  std::stringstream rest;
  rest << file.rdbuf();
  batch.binary = rest.str();
  if (static_cast<int64_t>(batch.binary.size()) != bytes) {
    return DataLoss(batch.binary.size(), " bytes of kernels, not ", bytes);
  }
  if (Sha256({batch.binary.data(), batch.binary.size()}).ToHex() != checksum) {
    return DataLoss("another checksum than its header says");
  }
  return batch;
}

absl::Status WriteWhole(const std::string& path, absl::string_view header,
                        absl::string_view binary) {
  static std::atomic<int> count{0};
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".", count++);
  std::ofstream file(temporary, std::ios::binary);
  file << header << binary;
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary, path, error);
  if (file && !error) return absl::OkStatus();
  const std::string why = error ? error.message() : std::strerror(errno);
  fs::remove(temporary, error);
  return FailedPrecondition("cannot write ", path, ": ", why);
}

}  // namespace

KernelFiles::KernelFiles(std::string folder, int64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {
  if (folder_.empty()) return;
  // Files in the folder run on the device.
  if (const absl::Status own = MakeOwnFolder(folder_); !own.ok()) {
    HAWSER_LOG(kWarning) << "kernel cache: " << own.message();
    folder_.clear();
    return;
  }
  Scan();
}

void KernelFiles::Scan() {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, File>> found;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != kSuffix) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const auto kernels = ReadKernels(stream);
    std::error_code ignored;
    File file{entry.path().string(),
              static_cast<int64_t>(entry.file_size(ignored)),
              {}};
    if (kernels.ok()) {
      for (const KernelKey& k : *kernels) file.keys.push_back(k.key);
    }
    found.emplace_back(entry.last_write_time(ignored), std::move(file));
  }
  if (error) {
    HAWSER_LOG(kWarning) << "kernel cache " << folder_ << ": "
                         << error.message();
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  MutexLock lock(&mu_);
  for (auto& [time, file] : found) {
    if (!file.keys.empty()) {
      Add(std::move(file));
      continue;
    }
    fs::remove(file.path, error);
    ++counts_.broken;
  }
  Evict();
}

void KernelFiles::Add(File file) {
  counts_.bytes += file.bytes;
  const auto at = files_.insert(files_.end(), std::move(file));
  for (const std::string& key : at->keys) by_key_[key] = at;
}

void KernelFiles::Forget(Files::iterator file) {
  counts_.bytes -= file->bytes;
  for (const std::string& key : file->keys) {
    const auto at = by_key_.find(key);
    if (at != by_key_.end() && at->second == file) by_key_.erase(at);
  }
  std::error_code ignored;
  fs::remove(file->path, ignored);
  files_.erase(file);
}

void KernelFiles::Evict() {
  while (counts_.bytes > max_bytes_ && files_.size() > 1) {
    Forget(files_.begin());
    ++counts_.evicted;
  }
}

absl::StatusOr<KernelBatch> KernelFiles::Read(const std::string& key) {
  MutexLock lock(&mu_);
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return NotFound("no file holds kernel ", key);
  const Files::iterator file = at->second;
  absl::StatusOr<KernelBatch> batch = ReadBatch(file->path);
  if (batch.ok()) {
    ++counts_.read;
    files_.splice(files_.end(), files_, file);
    std::error_code ignored;
    fs::last_write_time(file->path, fs::file_time_type::clock::now(), ignored);
    return batch;
  }
  if (absl::IsDataLoss(batch.status())) {
    ++counts_.broken;
    HAWSER_LOG(kWarning) << "kernel cache: removing " << file->path << ": "
                         << batch.status().message();
  }
  const absl::Status gone = NotFound(file->path, " is of no use");
  Forget(file);
  return gone;
}

absl::Status KernelFiles::Write(const KernelBatch& batch) {
  if (folder_.empty()) return absl::OkStatus();
  const std::string header = HeaderOf(batch);
  File file;
  Hasher name;
  for (const KernelKey& k : batch.kernels) {
    name.Text(k.key);
    file.keys.push_back(k.key);
  }
  file.path =
      absl::StrCat(folder_, "/", name.Finish().ToHex().substr(0, 32), kSuffix);
  file.bytes = static_cast<int64_t>(header.size() + batch.binary.size());
  HAWSER_RETURN_IF_ERROR(WriteWhole(file.path, header, batch.binary));
  MutexLock lock(&mu_);
  ++counts_.written;
  Add(std::move(file));
  Evict();
  return absl::OkStatus();
}

KernelFiles::Counts KernelFiles::counts() const {
  MutexLock lock(&mu_);
  return counts_;
}

}  // namespace hawser::gpu
