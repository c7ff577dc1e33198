// The sample kernels, whole and with bugs planted in them.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kernels/dialect/texts.h"
#include "tests/kernels/emu/samples.h"

namespace hawser::testing {
namespace {

TEST(SampleKernels, GiveTheRightValuesInEveryOrderOfThreads) {
  for (const Sample& sample : Samples()) {
    Bench bench;
    EXPECT_EQ(sample.run(&bench, sample.text), absl::OkStatus())
        << sample.name;
  }
}

// The prelude's reductions with `from` replaced, in front of a kernel that
// uses them instead.
std::string WithReductions(const std::string& text, const std::string& from,
                           const std::string& to) {
  std::string reductions(dialect::internal::kReduceText);
  EXPECT_NE(reductions.find(from), std::string::npos) << from;
  reductions = absl::StrReplaceAll(
      reductions,
      {{from, to},
       {"HK_REDUCE", "HK_PLANTED"},
       {"namespace hk {", "namespace planted {\nusing namespace hk;"}});
  return absl::StrCat(reductions,
                      "\n#define BlockReduce planted::BlockReduce\n"
                      "#define Maximum planted::Maximum\n",
                      text);
}

struct Planted {
  const char* sample;
  const char* what;
  const char* from;
  const char* to;
  // A part of the expected error; "" where values must be wrong.
  const char* says;
  bool in_reductions = false;
};

void PrintTo(const Planted& p, std::ostream* os) { *os << p.what; }

class PlantedBug : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedBug, IsFound) {
  const Planted& p = GetParam();
  const Sample& sample = SampleNamed(p.sample);
  std::string text;
  if (p.in_reductions) {
    text = WithReductions(sample.text, p.from, p.to);
  } else {
    ASSERT_NE(sample.text.find(p.from), std::string::npos) << p.from;
    text = absl::StrReplaceAll(sample.text, {{p.from, p.to}});
  }
  Bench bench;
  const absl::Status status = sample.run(&bench, text);
  if (*p.says == '\0') {
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  } else {
    EXPECT_TRUE(absl::IsInternal(status)) << status;
    EXPECT_NE(status.message().find(p.says), absl::string_view::npos)
        << status;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Reductions, PlantedBug,
    ::testing::ValuesIn(std::vector<Planted>{
        {"softmax", "no barrier behind the writes",
         "if (Lane() == 0) shared[HK_TID / kWarp] = x;\n    HK_SYNC();",
         "if (Lane() == 0) shared[HK_TID / kWarp] = x;", "shared element",
         true},
        {"softmax", "no barrier in front of the writes",
         "HK_SYNC();\n    if (Lane() == 0) shared",
         "if (Lane() == 0) shared", "without a barrier", true},
        {"softmax", "shuffles of half a warp", "m < kLanes; m <<= 1",
         "m < kLanes / 2; m <<= 1", "", true},
        {"layernorm", "a shuffle from beyond the lanes", "m = 1; m < kLanes",
         "m = 2; m < kLanes", "", true},
        {"softmax", "an identity that is none", "return Lowest<T>();",
         "return (T)0;", "", true},
        {"layernorm", "one slot too many",
         "i < kThreads / kWarp; ++i) {\n      const T next = shared[i];",
         "i <= kThreads / kWarp; ++i) {\n      const T next = shared[i];",
         "of shared memory, which has 8", true},
        {"layernorm", "the last warp writes nothing",
         "if (Lane() == 0) shared",
         "if (Lane() == 0 && HK_TID < 224) shared",
         "that nobody has written", true},
        {"softmax", "every lane writes the slot", "if (Lane() == 0) shared",
         "shared", "without a barrier", true},
        {"softmax", "half a warp shuffles", "x = WarpReduce<Op>(x);",
         "if (Lane() < 16) x = WarpReduce<Op>(x);", "divergent warp", true},
    }));

INSTANTIATE_TEST_SUITE_P(
    Elementwise, PlantedBug,
    ::testing::ValuesIn(std::vector<Planted>{
        {"elementwise", "broadcast index divided", "e % kColumns",
         "e / kColumns * 8u", ""},
        {"elementwise", "grid step too short", "HK_NBLK * 256u",
         "HK_NBLK * 255u", "is written twice"},
        {"elementwise", "grid step too long", "HK_NBLK * 256u",
         "HK_NBLK * 257u", "were not written"},
        {"elementwise", "one vector too many", "i < num_vectors",
         "i <= num_vectors", "of argument 1, which has 26624"},
        {"elementwise", "a store to an input", "StoreVector<8>(y + e, ys)",
         "StoreVector<8>((bf16*)x + e, ys)", "which is only read"},
        {"elementwise", "a load from a result", "LoadVector<8>(x + e)",
         "LoadVector<8>(y + e)", "which is only written"},
        {"elementwise", "vectors off their alignment",
         "LoadVector<8>(w + c)", "LoadVector<8>(w + (c + 4) % 1016)",
         "not aligned to 16"},
    }));

INSTANTIATE_TEST_SUITE_P(
    LayerNorm, PlantedBug,
    ::testing::ValuesIn(std::vector<Planted>{
        {"layernorm", "load beyond the row's end",
         "if (c < kColumns) v = LoadVector", "v = LoadVector",
         "of argument 3, which has 36000"},
        {"layernorm", "squares of what is no column",
         "if ((i * kThreads + HK_TID) * kWidth < kColumns) {", "if (true) {",
         ""},
        {"layernorm", "an odd row with vector loads", "kColumns = 1500",
         "kColumns = 1499", "not aligned to 16"},
        {"layernorm", "a result of the wrong row", "mean + HK_BID, mu",
         "mean + HK_BID + 1, mu", "of argument 1, which has 24"},
        {"layernorm", "every thread stores the mean", "if (HK_TID == 0) {",
         "{", "is written twice"},
        {"layernorm", "threads leave before a barrier",
         "float squares = 0.0f;",
         "float squares = 0.0f;\n  if (HK_TID >= 224) return;",
         "divergent barrier"},
    }));

INSTANTIATE_TEST_SUITE_P(
    ColumnSum, PlantedBug,
    ::testing::ValuesIn(std::vector<Planted>{
        {"column_sum", "no barrier", "HK_SYNC();", "", "shared element"},
        {"column_sum", "seven of eight lines", "k < 8; ++k", "k < 7; ++k",
         ""},
        {"column_sum", "rows beyond the end",
         "Min(begin + rows_per_part, rows)", "begin + rows_per_part",
         "of argument 1, which has 207872"},
        {"column_sum", "exit before a barrier", "float a[kWidth] = {};",
         "float a[kWidth] = {};\n  if (c >= 500u) return;",
         "divergent barrier"},
        {"column_sum", "sums rounded to halves",
         "Convert<float>(gs.v[j]);\n    }",
         "Convert<float>(gs.v[j]);\n      a[j] = "
         "Convert<float>(Convert<bf16>(a[j]));\n    }",
         ""},
        {"column_sum", "a part left out", "k < num_parts", "k + 1 < num_parts",
         ""},
        {"column_sum", "a barrier that half the block skips",
         "  HK_SYNC();", "  if (HK_TID < 128u) HK_SYNC();",
         "divergent barrier"},
    }));

}  // namespace
}  // namespace hawser::testing
