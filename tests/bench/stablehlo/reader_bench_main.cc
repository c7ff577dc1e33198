// What reading StableHLO's text takes: an op of longer and longer programs, and
// constants beside a copy of them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/stablehlo/stablehlo.h"
#include "client/stablehlo/text/reader.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

std::string MainOf(absl::string_view arguments, absl::string_view results,
                   absl::string_view ops) {
  return absl::StrCat("func.func @main(", arguments, ") -> (", results, ") {\n",
                      ops, "\n}\n");
}

// Operands are earlier values; every tenth op has attributes.
std::string LongProgram(int ops) {
  std::string lines = "%0 = stablehlo.add %a, %a : tensor<128x128xf32>\n";
  for (int i = 1; i < ops; ++i) {
    if (i % 10 == 0) {
      absl::StrAppend(&lines, "%", i, " = stablehlo.transpose %", i - 1,
                      ", dims = [1, 0] {mhlo.frontend = \"x\"} : "
                      "(tensor<128x128xf32>) -> tensor<128x128xf32>\n");
    } else {
      absl::StrAppend(&lines, "%", i, " = stablehlo.multiply %", i - 1, ", %",
                      i / 2, " : tensor<128x128xf32>\n");
    }
  }
  return MainOf(
      "%a: tensor<128x128xf32>", "tensor<128x128xf32>",
      absl::StrCat(lines, "return %", ops - 1, " : tensor<128x128xf32>"));
}

// The fastest of some turns, in seconds; each is to succeed.
double Fastest(int turns, const std::function<bool()>& run) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < turns; ++turn) {
    const absl::Time start = absl::Now();
    HAWSER_CHECK(run());
    fastest = std::min(fastest, absl::ToDoubleSeconds(absl::Now() - start));
  }
  return fastest;
}

void MeasureOps() {
  double first_read = 0, first_lowered = 0;
  for (const int ops : {1000, 10000, 100000}) {
    const std::string text = LongProgram(ops);
    const double read =
        Fastest(300000 / ops + 2, [&] { return ReadText(text).ok(); }) * 1e9 /
        ops;
    const double lowered =
        Fastest(100000 / ops + 2, [&] { return ReadProgram(text).ok(); }) *
        1e9 / ops;
    if (first_read == 0) {
      first_read = read;
      first_lowered = lowered;
    }
    std::printf(
        "%6d ops: read %.0f ns each, ratio %.2f; and lowered %.0f, ratio "
        "%.2f\n",
        ops, read, read / first_read, lowered, lowered / first_lowered);
  }
}

int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6)) << 10;
  }
  return 0;
}

void MeasureConstants(int64_t bytes) {
  std::string digits(2 * bytes, '0');
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = "0123456789ABCDEF"[(i * 7 + i / 16) % 16];
  }
  const std::string text = absl::StrCat(
      MainOf("", absl::StrCat("tensor<", bytes / 4, "xi32>"),
             absl::StrCat("%0 = stablehlo.constant dense<\"0x", digits,
                          "\"> : tensor<", bytes / 4, "xi32>\n",
                          "return %0 : tensor<", bytes / 4, "xi32>")));
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is what is now
  const int64_t before = PeakMemory();
  HAWSER_CHECK(ReadProgram(text).ok());
  const int64_t taken = PeakMemory() - before;
  const double read = Fastest(5, [&] { return ReadProgram(text).ok(); });
  const double copied = Fastest(5, [&] {
    const std::string copy(digits, 0, bytes);
    return copy[0] == '0';
  });
  std::printf(
      "%lld MiB of constants: %.0f MB/s, %.2f of a copy's time; %.2f of their "
      "memory\n",
      static_cast<long long>(bytes >> 20),
      static_cast<double>(bytes) / read / 1e6, read / copied,
      static_cast<double>(taken) / static_cast<double>(bytes));
}

}  // namespace
}  // namespace hawser::stablehlo

int main() {
  hawser::stablehlo::MeasureOps();
  hawser::stablehlo::MeasureConstants(int64_t{64} << 20);
  hawser::stablehlo::MeasureConstants(int64_t{256} << 20);
}
