// Arbitrary bytes as an IDX file, plain and gzipped, and as a file of either
// format. Memory stays in proportion to the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "client/formats/array_file.h"
#include "client/formats/idx.h"
#include "client/formats/zip/inflater.h"
#include "core/base/status.h"

namespace hawser {
namespace {

void CheckIdx(const std::string& bytes) {
  const FileBytes file = FileBytes::Of(bytes);
  const auto value = ParseIdx(file);
  const auto arrays = ParseArrays(file, "", {});
  if (!value.ok()) {
    HAWSER_CHECK(value.status().code() == absl::StatusCode::kInvalidArgument);
    HAWSER_CHECK(value.status().message().size() < 16384);
    return;
  }
  HAWSER_CHECK(arrays.ok() && (*arrays)[0].value.BitEquals(*value));
  HAWSER_CHECK(CheckBytes(value->shape(), value->bytes()).ok());
  HAWSER_CHECK(value->shape().byte_size() <= kMaxDeflateRatio * file.size);
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawser::CheckIdx(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
