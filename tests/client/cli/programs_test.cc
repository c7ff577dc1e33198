// StableHLO programs with hawser run, hawser explain and hawser check.
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/command_run.h"
#include "tests/client/cli/files.h"

namespace hawser::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kSquare[] = R"(module @square {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.multiply %x, %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
})";

// A program that says what 1 + 1 is.
std::string OnePlusOneIs(const std::string& sum) {
  return "func.func @main() {\n"
         "  %0 = stablehlo.constant dense<1> : tensor<i32>\n"
         "  %1 = stablehlo.add %0, %0 : tensor<i32>\n"
         "  check.expect_eq_const %1, dense<" +
         sum +
         "> : tensor<i32>\n"
         "  return\n}\n";
}

constexpr char kSorts[] = R"(func.func @main() {
  %0 = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %1 = "stablehlo.no_such_op"(%0) : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq %1, %1 : tensor<2xi32>
  return
})";

TEST(Programs, RunTakesStableHlo) {
  CommandRun hawser;
  const std::string x =
      NpyFile("square_x.npy", Literal::Vector<float>({1, -2, 3}));
  ASSERT_EQ(hawser.Run({"run", TextFile("square.mlir", kSquare), "--arg", x,
                        "-t", "cpu"}),
            kOk)
      << hawser.err();
  EXPECT_EQ(hawser.out(), "f32[3] {1, 4, 9}\n");
}

// More than a module may hold in constants.
TEST(Programs, RunTakesLargeConstantsAlong) {
  constexpr int kElements = 3 << 20;
  std::string digits;
  for (int i = 0; i < kElements; ++i) digits += "01000000";
  const std::string type = "tensor<" + std::to_string(kElements) + "xi32>";
  const std::string program =
      "func.func @main(%x: tensor<i32>) -> tensor<i32> {\n"
      "  %w = stablehlo.constant dense<\"0x" +
      digits + "\"> : " + type +
      "\n"
      "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %0 = stablehlo.reduce(%w init: %z) applies stablehlo.add across "
      "dimensions = [0] : (" +
      type +
      ", tensor<i32>) -> tensor<i32>\n"
      "  %1 = stablehlo.add %0, %x : tensor<i32>\n"
      "  return %1 : tensor<i32>\n}\n";
  CommandRun hawser;
  const std::string path = TextFile("weights.mlir", program);
  ASSERT_EQ(hawser.Run({"run", path, "--arg", "5", "-t", "cpu"}), kOk)
      << hawser.err();
  EXPECT_EQ(hawser.out(), "s32[] {3145733}\n");
  EXPECT_EQ(hawser.Run({"run", path, "-t", "cpu"}), kUsage);
  EXPECT_THAT(hawser.err(), HasSubstr("the module takes 1: (s32[])"));
}

TEST(Programs, ExplainTakesStableHlo) {
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"explain", TextFile("square.mlir", kSquare)}), kOk)
      << hawser.err();
  EXPECT_THAT(hawser.out(), AllOf(StartsWith("// 2 instructions"),
                                  HasSubstr("f32[3] = multiply(%0, %0)")));
}

TEST(Programs, RunNamesFileLineAndColumn) {
  CommandRun hawser;
  const std::string path = TextFile("sorts.mlir", kSorts);
  EXPECT_EQ(hawser.Run({"run", path, "-t", "cpu"}), kFailed);
  EXPECT_THAT(hawser.err(),
              HasSubstr(path + ":3:8: hawser lacks stablehlo.no_such_op"));
}

TEST(Programs, CheckCountsWhatIsLeftOut) {
  namespace fs = std::filesystem;
  const std::string folder = TempPath("programs");
  fs::create_directories(folder);
  TextFile("programs/right.mlir", OnePlusOneIs("2"));
  TextFile("programs/wrong.mlir", OnePlusOneIs("3"));
  TextFile("programs/lacks.mlir", kSorts);
  TextFile("programs/broken.mlir", "func.func @main(");
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"check", folder}), kFailed);
  EXPECT_THAT(
      hawser.out(),
      AllOf(HasSubstr("broken.mlir: 1:17: expected a type"),
            HasSubstr("wrong.mlir: main: 4:3: s32 element 0 differs 2 instead "
                      "of 3"),
            EndsWith("left out: 1 file lacks stablehlo.no_such_op\n"
                     "1 passed, 2 failed, 1 left out\n")));
  EXPECT_EQ(hawser.Run({"check", folder + "/lacks.mlir", "--json"}), kOk);
  EXPECT_THAT(hawser.out(), HasSubstr("\"left_out\": 1, \"lacking\": "
                                      "{\"stablehlo.no_such_op\": 1}"));
  EXPECT_EQ(hawser.Run({"check", folder + "/right.mlir", "-t", "near"}), kOk);
  EXPECT_EQ(hawser.out(), "1 passed, 0 failed\n");
}

}  // namespace
}  // namespace hawser::cli
