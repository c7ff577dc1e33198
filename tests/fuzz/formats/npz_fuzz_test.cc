// Arbitrary bytes as an npz file. Memory stays in proportion to the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "client/formats/array_file.h"
#include "client/formats/numpy/npz.h"
#include "client/formats/zip/inflater.h"
#include "core/base/status.h"

namespace hawser {
namespace {

void CheckNpz(const std::string& bytes) {
  const FileBytes file = FileBytes::Of(bytes);
  const auto arrays = ParseNpz(file);
  if (!arrays.ok()) {
    HAWSER_CHECK(arrays.status().code() == absl::StatusCode::kInvalidArgument);
    HAWSER_CHECK(arrays.status().message().size() < 16384);
    return;
  }
  int64_t total = 0;
  for (const NamedArray& array : *arrays) {
    HAWSER_CHECK(CheckBytes(array.value.shape(), array.value.bytes()).ok());
    total += array.value.shape().byte_size();
  }
  HAWSER_CHECK(total <= kMaxDeflateRatio * file.size);
  const bool begins = file.StartsWith("PK\3\4");
  HAWSER_CHECK(!begins || ParseArrays(file, "", {}).ok());
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawser::CheckNpz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
