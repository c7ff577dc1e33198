// Whatever the bytes: a Status or a module that holds, never a crash.
#include <string>
#include <vector>

#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/sample_modules.h"

namespace hawser {
namespace {

// True when the bytes decoded, to something that is sound.
bool DecodesSoundly(const std::string& bytes) {
  const absl::StatusOr<Module> module = DecodeModule(bytes);
  if (!module.ok()) {
    EXPECT_FALSE(module.status().message().empty());
    EXPECT_LT(module.status().message().size(), 1000u);
    return false;
  }
  EXPECT_OK(Verify(*module));
  const std::string again = EncodeModule(*module);
  const absl::StatusOr<Module> back = DecodeModule(again);
  EXPECT_OK(back);
  EXPECT_TRUE(back.ok() && Print(*back) == Print(*module));
  return true;
}

TEST(RandomBytes, AreRefused) {
  Random random(20261121);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random.Below(300), '\0');
    for (char& c : bytes) c = static_cast<char>(random.Bits());
    EXPECT_FALSE(DecodesSoundly(bytes)) << "round " << i;
  }
}

TEST(RandomBytes, EveryTruncationIsRefused) {
  for (const NamedModule& sample : SampleModules()) {
    const std::string bytes = EncodeModule(sample.module);
    for (size_t size = 0; size < bytes.size(); ++size) {
      if (sample.name == "names") continue;  // ends with what may be left out
      EXPECT_THAT(DecodeModule(bytes.substr(0, size)),
                  StatusIs(absl::StatusCode::kInvalidArgument, ""))
          << sample.name << " cut to " << size;
    }
  }
}

TEST(RandomBytes, EveryFlippedBitIsSoundOrRefused) {
  const std::string bytes = EncodeModule(SmallModule());
  int sound = 0;
  for (size_t i = 0; i < 8 * bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i / 8] ^= static_cast<char>(1 << i % 8);
    sound += DecodesSoundly(damaged) ? 1 : 0;
  }
  // Some are: in a name, a constant, an operand of the right shape.
  EXPECT_GT(sound, 0);
  EXPECT_LT(sound, static_cast<int>(2 * bytes.size()));
}

TEST(RandomBytes, RandomDamageIsSoundOrRefused) {
  Random random(42);
  std::vector<std::string> originals;
  for (const NamedModule& sample : SampleModules()) {
    originals.push_back(EncodeModule(sample.module));
  }
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = random.Pick(originals);
    for (int64_t edits = random.Between(1, 4); edits > 0; --edits) {
      const int64_t at = random.Below(bytes.size());
      const std::string piece =
          bytes.substr(random.Below(bytes.size()), random.Below(8));
      bytes.replace(at, random.Below(8), piece);
    }
    DecodesSoundly(bytes);
  }
}

}  // namespace
}  // namespace hawser
