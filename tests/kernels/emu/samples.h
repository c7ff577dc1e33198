// The four sample kernels on a device, against plain C++ in double.
#ifndef HAWSER_TESTS_KERNELS_EMU_SAMPLES_H_
#define HAWSER_TESTS_KERNELS_EMU_SAMPLES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tests/kernels/emu/bench.h"

namespace hawser::testing {

struct Sample {
  const char* name;
  std::string text;
  // Runs `text`, which may differ from the one above, on fixed random values.
  // Returns the status of the device, or kDataLoss for wrong values.
  absl::Status (*run)(Bench* bench, const std::string& text);
};

absl::Span<const Sample> Samples();
const Sample& SampleNamed(const std::string& name);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_KERNELS_EMU_SAMPLES_H_
