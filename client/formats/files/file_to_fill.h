// Files that are written through a mapping.
#ifndef HAWSER_CLIENT_FORMATS_FILES_FILE_TO_FILL_H_
#define HAWSER_CLIENT_FORMATS_FILES_FILE_TO_FILL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/formats/files/named_array.h"
#include "core/base/values/shape.h"

namespace hawser {

// A mapped file that has all its room on disk and, until Keep, another name;
// where the path is a device, pipe or socket, memory that Keep writes to it.
// Moving it leaves its bytes where they are.
class FileToFill {
 public:
  // Errors: those of the file system, a full disk among them, naming the path.
  static absl::StatusOr<FileToFill> Create(const std::string& path,
                                           int64_t size);
  FileToFill(FileToFill&& other);
  FileToFill& operator=(FileToFill&& other);
  ~FileToFill();  // removes a file that was not kept

  // The bytes of the file, zeros at first.
  absl::Span<char> bytes() const { return {data_, size_}; }
  // Gives the file its name: readers see the old file or the whole new one.
  // Errors: those of the file system, naming the path.
  absl::Status Keep();

 private:
  FileToFill() = default;
  absl::Status Error() const;  // of errno
  void Unmap();

  std::string path_, unfinished_;
  int fd_ = -1;  // open from Create to Keep
  char* data_ = nullptr;
  size_t size_ = 0;
  std::vector<char> to_write_;  // the bytes, where no file is replaced
};

// A file of arrays that has everything but their elements.
struct ArraysToFill {
  FileToFill file;
  // The memory in which the elements of each array belong, row-major, in the
  // order in which the caller named the arrays.
  std::vector<absl::Span<char>> elements;
  // Computes what the format stores about the elements, once all are there.
  std::function<void()> seal = {};

  // Seals the file and gives it its name. Errors: those of FileToFill::Keep.
  absl::Status Keep() {
    if (seal != nullptr) seal();
    return file.Keep();
  }
};

// Name and shape of an array of such a file.
struct ArrayToFill {
  std::string name;
  Shape shape;
};

// Lays out a file of arrays in some format.
using LayOut = absl::StatusOr<ArraysToFill> (*)(
    const std::string& path, absl::Span<const ArrayToFill> arrays);
// Writes the arrays to a file that `lay_out` makes. Errors: those of `lay_out`
// and of the file system; kInvalidArgument for an array without a value. All
// name the path.
absl::Status WriteFilled(const std::string& path, LayOut lay_out,
                         absl::Span<const NamedArray> arrays);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_FILE_TO_FILL_H_
