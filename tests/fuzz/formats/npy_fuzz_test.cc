// Arbitrary bytes as an npy file. What is read comes back the same from the
// bytes NumPy would write.
#include <cstddef>
#include <cstdint>
#include <string>

#include "client/formats/numpy/npy.h"
#include "client/formats/numpy/npy_header.h"
#include "core/base/status.h"

namespace hawser {
namespace {

void CheckNpy(const std::string& bytes) {
  const auto value = ParseNpy(FileBytes::Of(bytes));
  if (!value.ok()) {
    HAWSER_CHECK(value.status().code() == absl::StatusCode::kInvalidArgument);
    HAWSER_CHECK(value.status().message().size() < 16384);
    return;
  }
  HAWSER_CHECK(CheckBytes(value->shape(), value->bytes()).ok());
  const auto header = NpyHeaderOf(value->shape());
  HAWSER_CHECK(header.ok());
  const auto back = ParseNpy(FileBytes::Of(
      *header + std::string(value->bytes().begin(), value->bytes().end())));
  HAWSER_CHECK(back.ok() && back->BitEquals(*value));
}

}  // namespace
}  // namespace hawser

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawser::CheckNpy(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
