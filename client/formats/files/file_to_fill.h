// Files that come into being in memory.
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
#include "core/base/shape.h"

namespace hawser {

// A mapped file under another name, with all its room on disk, until Keep. May
// be moved; its bytes stay where they are.
class FileToFill {
 public:
  // Errors: what the file system says, a full disk too, naming the path.
  static absl::StatusOr<FileToFill> Create(const std::string& path,
                                           int64_t size);
  FileToFill(FileToFill&& other);
  FileToFill& operator=(FileToFill&& other);
  ~FileToFill();  // removes what was not kept

  // Zeros at first.
  absl::Span<char> bytes() const { return {data_, size_}; }
  // Gives it its name: readers see the old file or the whole new one. Errors:
  // what the file system says, naming the path.
  absl::Status Keep();

 private:
  FileToFill() = default;
  absl::Status Error() const;  // errno's
  void Unmap();

  std::string path_, unfinished_;
  int fd_ = -1;  // once created, until kept
  char* data_ = nullptr;
  size_t size_ = 0;
};

// A file of arrays with everything but their elements.
struct ArraysToFill {
  FileToFill file;
  // Where those of each array belong, row-major, in the order in which the
  // arrays were asked for.
  std::vector<absl::Span<char>> elements;
  // What the format computes of the elements, once all are there.
  std::function<void()> seal = {};

  // Ends the file and gives it its name. Errors: FileToFill::Keep's.
  absl::Status Keep() {
    if (seal != nullptr) seal();
    return file.Keep();
  }
};

// What an array of such a file is.
struct ArrayToFill {
  std::string name;
  Shape shape;
};

// How a format lays out a file of arrays.
using LayOut = absl::StatusOr<ArraysToFill> (*)(
    const std::string& path, absl::Span<const ArrayToFill> arrays);
// Writes arrays as `lay_out` says. Errors: its; kInvalidArgument for an array
// without a value; what the file system says. All name the path.
absl::Status WriteFilled(const std::string& path, LayOut lay_out,
                         absl::Span<const NamedArray> arrays);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_FILE_TO_FILL_H_
