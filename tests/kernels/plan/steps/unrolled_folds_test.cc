// Which reductions are written out, and that their values stay.
#include "kernels/plan/loops/unrolled_folds.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "gtest/gtest.h"
#include "kernels/plan/target/target.h"
#include "tests/kernels/plan/steps/host_run.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

using ::testing::HasSubstr;

// Sums along axis 1 from 7 on.
constexpr char kSumsText[] = R"(module "sums"
computation @0 "fold" (%0: DTYPE[], %1: DTYPE[]) {
  %2: DTYPE[] = add(%0, %1)
  return %2
}
computation @1 "main" (%0: DTYPE[COUNT,SIZE,2]) {
  %1: DTYPE[] = constant() value=DTYPE[] {7}
  %2: DTYPE[COUNT,2] = reduce(%0, %1) dimensions=[1] @0
  return %2
}
)";

std::string Text(const char* dtype, const char* count, const char* size) {
  return absl::StrReplaceAll(
      kSumsText, {{"DTYPE", dtype}, {"COUNT", count}, {"SIZE", size}});
}

bool IsWritten(const std::string& text, int64_t folds = 4) {
  Target target = GpuTarget();
  target.unrolled_folds = folds;
  const auto written = UnrolledFolds(Parse(text), target);
  EXPECT_OK(written);
  return written.ok() && written->has_value();
}

TEST(UnrolledFolds, AreOfFewElements) {
  EXPECT_TRUE(IsWritten(Text("f32", "32768", "1")));
  EXPECT_TRUE(IsWritten(Text("f32", "16384", "4")));
  EXPECT_FALSE(IsWritten(Text("f32", "16384", "5")));
  EXPECT_FALSE(IsWritten(Text("f32", "16384", "4"), 3));
  EXPECT_FALSE(IsWritten(Text("f32", "16384", "4"), 0));
  EXPECT_FALSE(IsWritten(Text("f32", "16384", "0")));
}

TEST(UnrolledFolds, AreLarge) {
  EXPECT_TRUE(IsWritten(Text("f32", "16384", "2")));
  EXPECT_FALSE(IsWritten(Text("f32", "16383", "2")));
}

TEST(UnrolledFolds, AreNotOfHalves) {
  EXPECT_FALSE(IsWritten(Text("bf16", "16384", "2")));
  EXPECT_FALSE(IsWritten(Text("f16", "16384", "2")));
  EXPECT_TRUE(IsWritten(Text("s8", "16384", "2")));
}

TEST(UnrolledFolds, KeepTheOrderOfTheSum) {
  const Module module = Parse(Text("f32", "16384", "3"));
  ASSERT_OK_AND_ASSIGN(const auto written, UnrolledFolds(module, GpuTarget()));
  ASSERT_TRUE(written.has_value());
  EXPECT_OK(Verify(*written));
  EXPECT_THAT(Print(*written), HasSubstr("slice"));
  Literal x = Literal::Zeros(Shape::Of(DType::kF32, {16384, 3, 2}));
  auto elements = x.mutable_data<float>();
  for (size_t k = 0; k < elements.size(); ++k) {
    elements[k] = static_cast<float>(k % 977) * 0.37f;
  }
  const auto got = EvaluateStrictly(*written, 1, {x});
  for (int64_t n : {0, 5, 16383}) {
    for (int64_t k : {0, 1}) {
      float want = 7;
      for (int64_t a = 0; a < 3; ++a) want += elements[n * 6 + a * 2 + k];
      EXPECT_EQ(got[0].data<float>()[n * 2 + k], want) << n << " " << k;
    }
  }
}

}  // namespace
}  // namespace hawser::plan
