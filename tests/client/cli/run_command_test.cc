// hawser run and hawser explain.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/cli/modules/run_argument.h"
#include "client/formats/numpy/npy.h"
#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ops/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/command_run.h"
#include "tests/client/cli/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/trace_file.h"

namespace hawser::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// a * x and x + x, the sum written twice.
constexpr char kTwoResults[] = R"(module "two"
computation @0 "main" (%0: f32[3], %1: f32[]) {
  %2: f32[3] = broadcast_in_dim(%1) broadcast_dimensions=[] dims=[3]
  %3: f32[3] = multiply(%0, %2)
  %4: f32[3] = add(%0, %0)
  %5: f32[3] = add(%0, %0)
  %6: f32[3] = maximum(%4, %5)
  return %3, %6
}
)";

std::string Twice() { return TextFile("two.txt", kTwoResults); }
std::string X() {
  return NpyFile("run_x.npy", Literal::Vector<float>({1, -2, 3}));
}

TEST(Run, PrintsResultsAndSaysOnStderrWhereItRan) {
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"run", Twice(), "--arg", X(), "--arg", "-0.5"}), kOk)
      << hawser.err();
  EXPECT_EQ(hawser.out(), "f32[3] {-0.5, 1, -1.5}\nf32[3] {2, -4, 6}\n");
  EXPECT_THAT(hawser.err(), AllOf(StartsWith("ran on "), EndsWith("\n")));
}

TEST(Run, WritesAFilePerResult) {
  CommandRun hawser;
  const std::string a = TempPath("run_a.npy"), b = TempPath("run_b.npy");
  ASSERT_EQ(hawser.Run({"run", Twice(), "--arg", X(), "--arg=2", "--out", a,
                        "-o", b, "--target", "cpu"}),
            kOk);
  EXPECT_EQ(hawser.out(), absl::StrCat(a, ": f32[3]\n", b, ": f32[3]\n"));
  EXPECT_EQ(hawser.err(), "ran on cpu\n");
  EXPECT_THAT(*ReadNpy(a),
              LiteralBitEquals(Literal::Vector<float>({2, -4, 6})));
  EXPECT_THAT(*ReadNpy(b),
              LiteralBitEquals(Literal::Vector<float>({2, -4, 6})));
}

TEST(Run, TakesArraysOfDatasetsByToken) {
  CommandRun hawser;
  const std::string y = NpyFile("run_y.npy", Literal::Scalar(3.0f));
  ASSERT_EQ(hawser.Run({"put", "--as-one", X(), y}), kOk);
  const std::string token(absl::StripSuffix(hawser.out(), "\n"));
  ASSERT_EQ(hawser.Run({"run", Twice(), "--arg", token + ":run_x", "--arg",
                        token + ":run_y"}),
            kOk)
      << hawser.err();
  EXPECT_THAT(hawser.out(), StartsWith("f32[3] {3, -6, 9}\n"));
  EXPECT_EQ(hawser.Run({"run", Twice(), "--arg", token, "--arg", "1"}),
            kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("has several arrays"));
  EXPECT_EQ(hawser.Run({"run", Twice(), "--arg", token + ":run_y", "--arg",
                        "1"}),
            kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("f32[]"));
  // The token lives on the server "near", not in this process.
  EXPECT_EQ(hawser.Run({"run", Twice(), "--arg", token + ":run_x", "--arg",
                        "1", "--target", "cpu"}),
            kFailed);
}

TEST(Run, TakesRowsOfDatasets) {
  CommandRun hawser;
  const std::string long_x = NpyFile(
      "run_long.npy", Literal::Vector<float>({9, 8, 1, -2, 3, 7, 6}));
  ASSERT_EQ(hawser.Run({"put", long_x}), kOk);
  const std::string token(absl::StripSuffix(hawser.out(), "\n"));
  const struct {
    std::string word;
    int code;
    std::string said;
  } rows[] = {
      {token + "[2:5]", kOk, "f32[3] {1, -2, 3}\n"},
      {token + ":[4:]", kOk, "f32[3] {3, 7, 6}\n"},
      {token + "[:3]", kOk, "f32[3] {9, 8, 1}\n"},
      {token + "[2:6]", kFailed, "f32[4]"},
      {token + "[5:8]", kFailed,
       "dataset " + token +
           ", array \"\": rows 5 and up, 3 of them, of f32[7]"},
      {token + "[5:3]", kFailed, "rows 5 and up, -2 of them"},
      {token + "[1]", kFailed, "is not a dataset token"},
      {token + ":x[0:3]", kFailed, "has no array x"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(hawser.Run({"run", Twice(), "--arg", row.word, "--arg", "1"}),
              row.code)
        << row.word << ": " << hawser.err();
    EXPECT_THAT(row.code == kOk ? hawser.out() : hawser.err(),
                HasSubstr(row.said));
  }
  // An array with such a name is taken whole.
  ASSERT_EQ(hawser.Run({"put", X(), "-n", "x[0:1]"}), kOk);
  const std::string odd(absl::StripSuffix(hawser.out(), "\n"));
  ASSERT_EQ(hawser.Run({"run", Twice(), "--arg", odd + ":x[0:1]", "--arg",
                        "1"}),
            kOk)
      << hawser.err();
  EXPECT_THAT(hawser.out(), StartsWith("f32[3] {1, -2, 3}\n"));
}

TEST(Run, PrintsOneJsonObject) {
  CommandRun hawser;
  const std::string a = TempPath("run_a.npy"), b = TempPath("run_b.npy");
  ASSERT_EQ(hawser.Run({"run", Twice(), "-a", X(), "-a", "1", "--json", "-t",
                        "cpu"}),
            kOk);
  EXPECT_EQ(hawser.out(),
            "{\"ran_on\": \"cpu\", \"results\": [{\"dtype\": \"f32\", "
            "\"dims\": [3], \"value\": \"f32[3] {1, -2, 3}\"}, {\"dtype\": "
            "\"f32\", \"dims\": [3], \"value\": \"f32[3] {2, -4, 6}\"}]}\n");
  ASSERT_EQ(hawser.Run({"run", Twice(), "-a", X(), "-a", "1", "--json", "-t",
                        "cpu", "-o", a, "-o", b}),
            kOk);
  EXPECT_THAT(hawser.out(),
              HasSubstr(absl::StrCat("\"dims\": [3], \"path\": \"", a, "\"}")));
}

TEST(Run, WritesATrace) {
  CommandRun hawser;
  const std::string path = TempPath("run_trace.json");
  ASSERT_EQ(hawser.Run({"run", Twice(), "-a", X(), "-a", "1", "-t", "cpu",
                        "--trace", path}),
            kOk)
      << hawser.err();
  EXPECT_THAT(hawser.out(), StartsWith("f32[3] {1, -2, 3}\n"));
  const TraceFile trace = TraceFile::Read(path);
  trace.ExpectNested();
  EXPECT_TRUE(trace.IsWithin("fuse", "compile for cpu"));
  EXPECT_TRUE(trace.IsWithin("plan", "compile for cpu"));
  // The maximum of equal sums is gone: what runs is optimized.
  EXPECT_EQ(trace.Named("maximum").size(), 0u);
  EXPECT_TRUE(trace.IsWithin("add", "execution"));
  EXPECT_GT(trace.Named("add").at(0)["args"]["bytes"], 0);
  EXPECT_GT(trace.Named("add").at(0)["args"]["lanes"], 0);
  // Also of what fails; a file that cannot be written is the error.
  ASSERT_EQ(hawser.Run({"run", "/no/such.txt", "--trace", path}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("/no/such.txt"));
  EXPECT_EQ(TraceFile::Read(path).Named("execution").size(), 0);
  ASSERT_EQ(hawser.Run({"run", Twice(), "-a", X(), "-a", "1", "--trace",
                        "/no/such/trace.json"}),
            kFailed);
  EXPECT_THAT(hawser.err(),
              HasSubstr("the trace /no/such/trace.json cannot be written"));
  EXPECT_EQ(hawser.out(), "");
}

TEST(Run, WithoutResultsStillSaysWhere) {
  CommandRun hawser;
  const std::string path = TextFile(
      "nothing.txt", "module \"\" computation @0 \"\" () { return }");
  EXPECT_EQ(hawser.Run({"run", path, "--target", "cpu"}), kOk);
  EXPECT_EQ(hawser.out(), "");
  EXPECT_EQ(hawser.err(), "ran on cpu\n");
}

TEST(Run, UsesThisCpuWhereNoServerIsNamed) {
  CommandRun hawser;
  hawser.environment().servers = "";
  ASSERT_EQ(hawser.Run({"run", Twice(), "-a", X(), "-a", "1"}), kOk);
  EXPECT_EQ(hawser.err(), "ran on cpu\n");
}

struct BadRun {
  std::vector<std::string> words;
  int code;
  const char* error;
};

TEST(Run, SaysWhatIsWrong) {
  const std::string two = Twice(), x = X();
  const std::string bad = TextFile("bad.txt", "module \"m\"\nfoo");
  const std::string half = TextFile(
      "half.txt",
      "module \"\" computation @0 \"\" (%0: bf16[]) { return %0 }");
  const BadRun kRuns[] = {
      {{"run", two, "--arg", x}, kUsage,
       "--arg is given 1 times, the module takes 2: (f32[3], f32[])"},
      {{"run", two, "-a", x, "-a", "1", "-o", "y.npy"}, kUsage,
       "--out is given 1 times, the module has 2 results: (f32[3], f32[3])"},
      {{"run", two, "-a", "1", "-a", "1"}, kFailed,
       "argument 0, 1: is a scalar, the parameter is f32[3]"},
      {{"run", two, "-a", x, "-a", "true"}, kFailed,
       "argument 1, true: is not a value of the parameter's dtype, f32"},
      {{"run", two, "-a", x, "-a", "/no/such"}, kFailed,
       "argument 1, /no/such: /no/such"},
      {{"run", two, "-a", x, "-a", "hw1-short"}, kFailed,
       "is not a dataset token"},
      {{"run", two, "-a", x, "-a", x}, kFailed, "f32[3]"},
      {{"run", half, "-a", "1", "-o", "y.npy"}, kFailed, "y.npy: "},
      {{"run", "/no/such.txt"}, kFailed, "/no/such.txt"},
      {{"run", two, "-a", x, "-a", "1", "-t", "far:1"}, kUnreachable,
       "far:1: nobody answers"},
      {{"explain", "/no/such.txt"}, kFailed, "/no/such.txt"},
      {{"explain", bad}, kFailed,
       "bad.txt:2:1: expected 'computation', got 'foo'"},
  };
  CommandRun hawser;
  for (const BadRun& run : kRuns) {
    EXPECT_EQ(hawser.Run(run.words), run.code) << run.error;
    EXPECT_THAT(hawser.err(), HasSubstr(run.error));
    EXPECT_EQ(hawser.out(), "");
  }
  EXPECT_FALSE(std::filesystem::exists("y.npy"));
}

TEST(ReadRunArgument, TakesNumbersInTheParametersDType) {
  const auto read = [](const char* word, DType dtype) {
    const auto argument = ReadRunArgument(word, Shape::Scalar(dtype));
    EXPECT_OK(argument) << word;
    return std::get<Literal>(*argument);
  };
  EXPECT_THAT(read("3", DType::kU8),
              LiteralBitEquals(Literal::Scalar<uint8_t>(3)));
  EXPECT_THAT(read("18446744073709551615", DType::kU64),
              LiteralBitEquals(Literal::Scalar<uint64_t>(~uint64_t{0})));
  EXPECT_THAT(read("3", DType::kBF16),
              LiteralBitEquals(Literal::Scalar(BFloat16(3))));
  EXPECT_THAT(read("true", DType::kBool),
              LiteralBitEquals(Literal::Scalar(true)));
  EXPECT_THAT(read("(1, -2)", DType::kC64),
              LiteralBitEquals(Literal::Scalar(std::complex<float>(1, -2))));
  EXPECT_THAT(ReadRunArgument("300", Shape::Scalar(DType::kU8)),
              StatusIs(absl::StatusCode::kInvalidArgument, "u8"));
  EXPECT_THAT(ReadRunArgument("./3", Shape::Scalar(DType::kU8)),
              StatusIs(absl::StatusCode::kNotFound, "./3"));
}

// ---- explain --------------------------------------------------------------

TEST(Explain, PrintsTheOptimizedModuleUnderItsCounts) {
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"explain", Twice()}), kOk) << hawser.err();
  EXPECT_THAT(hawser.out(),
              StartsWith("// 7 instructions, optimized 5\nmodule \"two\"\n"));
  EXPECT_EQ(hawser.err(), "");
  // The printed text is a module, and optimizing it again changes nothing.
  const std::string once = hawser.out();
  EXPECT_OK(ParseModule(once, FindOp));
  ASSERT_EQ(hawser.Run({"explain", TextFile("once.txt", once)}), kOk);
  EXPECT_EQ(hawser.out().substr(hawser.out().find('\n')),
            once.substr(once.find('\n')));
}

TEST(Explain, PrintsOneJsonObject) {
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"explain", Twice(), "--json"}), kOk);
  EXPECT_THAT(hawser.out(),
              StartsWith("{\"instructions_before\": 7, \"instructions_after\": "
                         "5, \"module\": \"module \\\"two\\\"\\n"));
}

TEST(Explain, PrintsThePlannedModuleUnderItsSteps) {
  CommandRun hawser;
  hawser.environment().plan = [](const Module& optimized,
                                 Environment::Engine engine) {
    return Environment::Planned{optimized, engine == Environment::Engine::kGpu
                                               ? "one step\nanother\n"
                                               : "tiles\n"};
  };
  ASSERT_EQ(hawser.Run({"explain", Twice(), "--planned"}), kOk) << hawser.err();
  EXPECT_THAT(hawser.out(),
              StartsWith("// 7 instructions, optimized 5\n// one step\n"
                         "// another\nmodule \"two\"\n"));
  EXPECT_OK(ParseModule(hawser.out(), FindOp));
  ASSERT_EQ(hawser.Run({"explain", Twice(), "--planned", "--json"}), kOk);
  EXPECT_THAT(hawser.out(), HasSubstr("\"steps\": \"one step\\nanother"));
  ASSERT_EQ(hawser.Run({"explain", Twice(), "--planned", "--target=cpu"}), kOk);
  EXPECT_THAT(hawser.out(), HasSubstr("optimized 5\n// tiles\nmodule"));
  hawser.environment().plan = [](const Module&, Environment::Engine) {
    return absl::UnimplementedError("no plan");
  };
  EXPECT_EQ(hawser.Run({"explain", Twice(), "--planned"}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("no plan"));
}

TEST(Explain, PlansForAGpuOrThisCpuAlone) {
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"explain", Twice(), "--planned", "-t", "tpu"}), kUsage);
  EXPECT_THAT(hawser.err(), HasSubstr("--planned is for gpu or cpu, not tpu"));
  EXPECT_EQ(hawser.Run({"explain", Twice(), "--target=cpu"}), kUsage);
  EXPECT_THAT(hawser.err(), HasSubstr("--target with --planned alone"));
}

TEST(Explain, SaysIntoWhichTasksAModuleIsCut) {
  const std::string sum = TextFile("sum.txt",
                                   "module \"sum\"\n"
                                   "computation @0 \"main\" (%0: f32[4,3]) {\n"
                                   "  %1: f32[4,3] = add(%0, %0)\n"
                                   "  return %1\n"
                                   "}\n");
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"explain", sum, "--cut=0.0/2 0.1."}), kOk)
      << hawser.err();
  EXPECT_EQ(hawser.out(),
            "(f32[4,3]) -> (f32[4,3]): 2 tasks, 1 modules\n"
            "axis 0.0 r0.0 = 2+2\n"
            "task 0: 0[0:2, 0:3] -> r0[0:2, 0:3]\n"
            "task 1: 0[2:4, 0:3] -> r0[2:4, 0:3]\n");
  ASSERT_EQ(hawser.Run({"explain", sum, "--json", "--cut", "0.0/1 0.1=1+2"}),
            kOk);
  EXPECT_EQ(hawser.out(),
            "{\"axes\": [{\"parameters\": [[0, 1]], \"results\": [[0, 1]], "
            "\"sizes\": [1, 2]}], \"notes\": [], \"between\": [], "
            "\"stages\": 1, \"bytes_between\": 0, \"tasks\": ["
            "{\"takes\": [{\"argument\": 0, \"box\": [[0, 4], [0, 1]]}], "
            "\"gives\": [{\"result\": 0, \"box\": [[0, 4], [0, 1]]}]}, "
            "{\"takes\": [{\"argument\": 0, \"box\": [[0, 4], [1, 3]]}], "
            "\"gives\": [{\"result\": 0, \"box\": [[0, 4], [1, 3]]}]}]}\n");
  EXPECT_EQ(hawser.Run({"explain", sum, "--cut=0.0"}), kUsage);
  EXPECT_THAT(hawser.err(), HasSubstr("\"0.0\" is no cut"));
  EXPECT_EQ(hawser.Run({"explain", sum, "--cut=7.0/2"}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("axis 0 of argument 7: there are 1"));
  EXPECT_EQ(hawser.Run({"explain", sum, "--cut=0.0*", "--planned"}), kUsage);
}

TEST(Explain, SaysWhatGoesBetweenTasks) {
  const std::string product =
      TextFile("product.txt",
               "module \"product\"\n"
               "computation @0 \"main\" (%0: f32[2,4], %1: f32[4,3]) {\n"
               "  %2: f32[2,3] = dot_general(%0, %1) "
               "lhs_batching_dimensions=[] lhs_contracting_dimensions=[1] "
               "rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]\n"
               "  return %2\n"
               "}\n");
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"explain", product, "--cut=0.1/2 0.0. 1.1. split"}),
            kOk)
      << hawser.err();
  EXPECT_EQ(hawser.out(),
            "(f32[2,4], f32[4,3]) -> (f32[2,3]): 3 tasks, 2 modules, 2 stages, "
            "48 bytes between tasks\n"
            "axis 0.1 1.0 = 2+2\n"
            "task 0: 0[0:2, 0:2] 1[0:2, 0:3] -> b0[0:2, 0:3]\n"
            "task 1: 0[0:2, 2:4] 1[2:4, 0:3] -> b1[0:2, 0:3]\n"
            "task 2: b0[0:2, 0:3] b1[0:2, 0:3] -> r0[0:2, 0:3]\n");
  ASSERT_EQ(
      hawser.Run({"explain", product, "--json", "--cut=0.1/2 0.0. 1.1. split"}),
      kOk);
  for (const char* part :
       {"\"between\": [\"f32[2,3]\", \"f32[2,3]\"], \"stages\": 2, "
        "\"bytes_between\": 48",
        "\"gives\": [{\"between\": 1, \"box\": [[0, 2], [0, 3]]}]",
        "{\"takes\": [{\"between\": 0, \"box\": [[0, 2], [0, 3]]}, "}) {
    EXPECT_THAT(hawser.out(), HasSubstr(part));
  }
  EXPECT_EQ(hawser.Run({"explain", product, "--cut=0.1/2 refuse"}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("dot_general needs all of axis 1"));
}

TEST(Explain, SaysHowManyServersWouldCutIt) {
  const std::string sum = TextFile("sum.txt",
                                   "module \"sum\"\n"
                                   "computation @0 \"main\" (%0: f32[4,3]) {\n"
                                   "  %1: f32[4,3] = add(%0, %0)\n"
                                   "  return %1\n"
                                   "}\n");
  const std::string product = TextFile(
      "product.txt",
      "module \"product\"\n"
      "computation @0 \"main\" (%0: f32[8192,4096], %1: f32[4096,4096]) {\n"
      "  %2: f32[8192,4096] = dot_general(%0, %1) "
      "lhs_batching_dimensions=[] lhs_contracting_dimensions=[1] "
      "rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]\n"
      "  return %2\n"
      "}\n");
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"explain", sum, "--places=3"}), kOk) << hawser.err();
  EXPECT_THAT(hawser.out(), HasSubstr("one task: nothing is faster in parts"));
  EXPECT_THAT(hawser.out(), HasSubstr(": 1 tasks"));
  ASSERT_EQ(hawser.Run({"explain", product, "--places=3"}), kOk);
  EXPECT_THAT(hawser.out(), HasSubstr("axis 0 of argument 0 in parts"));
  EXPECT_THAT(hawser.out(), HasSubstr(": 12 tasks"));
  ASSERT_EQ(hawser.Run({"explain", product, "--places=3",
                        "--cut=0.0/0 0.1. 1.0. 1.1."}),
            kOk)
      << hawser.err();
  EXPECT_THAT(hawser.out(), HasSubstr(": 3 tasks"));
  EXPECT_EQ(hawser.Run({"explain", sum, "--places=0"}), kUsage);
  EXPECT_THAT(hawser.err(), HasSubstr("--places is a number from 1 to "));
}

}  // namespace
}  // namespace hawser::cli
