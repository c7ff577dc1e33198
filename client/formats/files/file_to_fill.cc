#include "client/formats/files/file_to_fill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "client/formats/files/file_bytes.h"
#include "client/formats/files/quoted.h"
#include "core/base/status.h"

namespace hawser {

absl::StatusOr<FileToFill> FileToFill::Create(const std::string& path,
                                              int64_t size) {
  FileToFill file;
  HAWSER_ASSIGN_OR_RETURN(const Destination to, Destination::Of(path));
  file.path_ = to.path;
  if (!to.replaces) {
    file.to_write_.resize(static_cast<size_t>(size));
    file.data_ = file.to_write_.data();
    file.size_ = file.to_write_.size();
    return file;
  }
  file.unfinished_ = UnfinishedPath(to.path);
  file.fd_ = ::open(file.unfinished_.c_str(),
                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.fd_ < 0) return file.Error();
  if (size == 0) return file;
  // The file gets its room now, since a full disk would end the process with
  // SIGBUS later.
  errno = ::posix_fallocate(file.fd_, 0, size);
  if (errno != 0) return file.Error();
  file.size_ = static_cast<size_t>(size);
  void* const p = ::mmap(nullptr, file.size_, PROT_READ | PROT_WRITE,
                         MAP_SHARED, file.fd_, 0);
  if (p == MAP_FAILED) return file.Error();
  file.data_ = static_cast<char*>(p);
  return file;
}

FileToFill::FileToFill(FileToFill&& other) { *this = std::move(other); }
FileToFill& FileToFill::operator=(FileToFill&& other) {
  path_.swap(other.path_);
  unfinished_.swap(other.unfinished_);
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  to_write_.swap(other.to_write_);
  return *this;
}

FileToFill::~FileToFill() {
  Unmap();
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(unfinished_.c_str());
}

absl::Status FileToFill::Keep() {
  if (fd_ < 0) return WriteTo(path_, {bytes()});
  Unmap();
  // Some file systems report a full disk only here.
  absl::Status status =
      ::close(std::exchange(fd_, -1)) == 0 ? absl::OkStatus() : Error();
  if (status.ok() && ::rename(unfinished_.c_str(), path_.c_str()) != 0) {
    status = Error();
  }
  if (!status.ok()) ::unlink(unfinished_.c_str());
  return status;
}

absl::Status FileToFill::Error() const {
  return absl::ErrnoToStatus(errno, path_);
}

void FileToFill::Unmap() {
  if (data_ != nullptr && to_write_.empty()) ::munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

absl::Status WriteFilled(const std::string& path, LayOut lay_out,
                         absl::Span<const NamedArray> arrays) {
  std::vector<ArrayToFill> shapes;
  for (const NamedArray& array : arrays) {
    if (!array.value.valid()) {
      return InvalidArgument(path, ": array ", Quoted(array.name),
                             " has no value");
    }
    shapes.push_back({array.name, array.value.shape()});
  }
  HAWSER_ASSIGN_OR_RETURN(ArraysToFill filled, lay_out(path, shapes));
  for (size_t i = 0; i < arrays.size(); ++i) {
    const absl::Span<const char> bytes = arrays[i].value.bytes();
    std::copy(bytes.begin(), bytes.end(), filled.elements[i].begin());
  }
  return filled.Keep();
}

}  // namespace hawser
