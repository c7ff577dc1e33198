// How long reading takes, by what is read, and how much memory.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/stablehlo/stablehlo.h"
#include "client/stablehlo/text/reader.h"
#include "gtest/gtest.h"
#include "tests/client/stablehlo/programs.h"
#include "tests/testing/matchers.h"
#include "tests/testing/sanitized.h"

namespace hawser::stablehlo {
namespace {

// The fastest of some turns.
template <typename Fn>
absl::Duration Fastest(int turns, const Fn& fn) {
  absl::Duration fastest = absl::InfiniteDuration();
  for (int turn = 0; turn < turns; ++turn) {
    const absl::Time start = absl::Now();
    fn();
    fastest = std::min(fastest, absl::Now() - start);
  }
  return fastest;
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

TEST(Speed, AnOpTakesAsLongInLongPrograms) {
  if (kSanitized) GTEST_SKIP() << "measures nothing under a sanitizer";
  double per_op[3] = {}, lowered[3] = {};
  const int kSizes[] = {1000, 10000, 100000};
  for (int i = 0; i < 3; ++i) {
    const std::string text = LongProgram(kSizes[i]);
    per_op[i] =
        absl::ToDoubleNanoseconds(Fastest(300000 / kSizes[i] + 2,
                                          [&] { ASSERT_OK(ReadText(text)); })) /
        kSizes[i];
    lowered[i] =
        absl::ToDoubleNanoseconds(Fastest(
            100000 / kSizes[i] + 2, [&] { ASSERT_OK(ReadProgram(text)); })) /
        kSizes[i];
    std::cout << kSizes[i] << " ops: " << per_op[i] << " ns read, "
              << lowered[i] << " ns read and lowered, each\n";
  }
  EXPECT_LT(per_op[2], 2 * per_op[0]);
  EXPECT_LT(lowered[2], 2 * lowered[0]);
}

int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6)) << 10;
  }
  return 0;
}

TEST(Speed, RawConstantsAreDecodedWhereTheyStay) {
  if (kSanitized) GTEST_SKIP() << "measures nothing under a sanitizer";
  constexpr int64_t kBytes = int64_t{64} << 20;
  std::string digits(2 * kBytes, '0');
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = "0123456789ABCDEF"[(i * 7 + i / 16) % 16];
  }
  const std::string text = absl::StrCat(
      MainOf("", absl::StrCat("tensor<", kBytes / 4, "xi32>"),
             absl::StrCat("%0 = stablehlo.constant dense<\"0x", digits,
                          "\"> : tensor<", kBytes / 4, "xi32>\n",
                          "return %0 : tensor<", kBytes / 4, "xi32>")));
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is what is now
  const int64_t before = PeakMemory();
  ASSERT_OK(ReadProgram(text));
  const int64_t taken = PeakMemory() - before;
  const double seconds =
      absl::ToDoubleSeconds(Fastest(5, [&] { ASSERT_OK(ReadProgram(text)); }));
  const double copied = absl::ToDoubleSeconds(Fastest(5, [&] {
    const std::string copy(digits, 0, kBytes);
    ASSERT_EQ(copy[0], '0');
  }));
  std::cout << kBytes / seconds / 1e6 << " MB/s of constants; a copy "
            << kBytes / copied / 1e6 << " MB/s; "
            << static_cast<double>(taken) / kBytes << " of their memory\n";
  EXPECT_LT(taken, 3 * kBytes / 2);
  EXPECT_LT(seconds, 12 * copied);
}

}  // namespace
}  // namespace hawser::stablehlo
