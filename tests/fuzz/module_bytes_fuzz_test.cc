// Arbitrary bytes as a module.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "tests/fuzz/inputs/sound_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawser::CheckSoundDecode(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
