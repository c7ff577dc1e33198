// Arbitrary bytes as a module in its text form.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "tests/fuzz/inputs/sound_parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawser::CheckSoundParse(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
