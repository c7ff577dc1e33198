// Arbitrary bytes as a case file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/inputs/sound_cases.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hawser::CheckSoundCases(
      std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
