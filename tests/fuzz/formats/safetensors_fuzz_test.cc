// Arbitrary bytes as a safetensors file, and as the JSON in front of a good
// one. What is read comes back the same from the header that is written for it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "client/formats/safetensors.h"
#include "client/formats/safetensors_header.h"
#include "core/base/status.h"

namespace hawser {
namespace {

void CheckRefusal(const absl::Status& why) {
  HAWSER_CHECK(why.code() == absl::StatusCode::kInvalidArgument);
  HAWSER_CHECK(!why.message().empty() && why.message().size() < 16384);
}

void CheckFile(const std::string& bytes) {
  const FileBytes file = FileBytes::Of(bytes);
  const auto arrays = ParseSafetensors(file);
  if (!arrays.ok()) return CheckRefusal(arrays.status());
  int64_t total = 0;
  for (const NamedArray& array : *arrays) {
    HAWSER_CHECK(CheckBytes(array.value.shape(), array.value.bytes()).ok());
    total += array.value.shape().byte_size();
  }
  HAWSER_CHECK(total < file.size);
}

void CheckHeader(const std::string& json) {
  const auto entries = ParseSafetensorsHeader(json);
  if (!entries.ok()) return CheckRefusal(entries.status());
  const auto written = SafetensorsHeaderOf(*entries);
  if (!written.ok()) return CheckRefusal(written.status());
  const auto back = ParseSafetensorsHeader(*written);
  HAWSER_CHECK(back.ok() && back->size() == entries->size());
  // Arrays without bytes may change places.
  HAWSER_CHECK(entries->empty() || back->back().end == entries->back().end);
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  hawser::CheckFile(bytes);
  hawser::CheckHeader(bytes);
  if (size > 8) hawser::CheckHeader(bytes.substr(8));
  return 0;
}
