// Arbitrary bytes behind the letters of an image: it is read, as many bytes as
// its sizes say, or refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include "client/formats/array_file.h"
#include "client/formats/files/file_bytes.h"
#include "core/base/status.h"

namespace hawser {
namespace {

void CheckPnm(const std::string& bytes) {
  for (const char* letters : {"P5", "P6"}) {
    const auto arrays =
        ParseArrays(FileBytes::Of(letters + bytes), "image", {});
    if (!arrays.ok()) {
      HAWSER_CHECK(arrays.status().code() ==
                   absl::StatusCode::kInvalidArgument);
      continue;
    }
    HAWSER_CHECK(arrays->size() == 1);
    const Literal& value = (*arrays)[0].value;
    HAWSER_CHECK(CheckBytes(value.shape(), value.bytes()).ok());
    HAWSER_CHECK(value.bytes().size() <= bytes.size());
  }
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawser::CheckPnm(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
