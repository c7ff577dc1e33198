// Arbitrary bytes as a StableHLO program.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "client/stablehlo/stablehlo.h"
#include "tests/fuzz/inputs/sound_parse.h"

// What is lowered prints, reads back and encodes; what is refused says why.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = hawser::stablehlo::ReadProgram(text);
  if (module.ok()) {
    if (hawser::Verify(module->module).ok()) {
      hawser::CheckPrintsAndEncodes(module->module);
    }
  } else if (!absl::IsNotFound(module.status())) {
    hawser::CheckRefusal(module.status());
  }
  return 0;
}
