// StableHLO's own self-checking files, which lie outside the tree: each passes,
// or lacks an op, as oracle.txt says; none is wrong.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/stablehlo/body/functions.h"
#include "client/stablehlo/bytecode/reader.h"
#include "client/stablehlo/check/self_check.h"
#include "client/stablehlo/lower/lower.h"
#include "client/stablehlo/text/reader.h"
#include "core/ir/text/printer.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/stablehlo/oracle_files.h"
#include "tests/reference/device/reference_client.h"
#include "tests/testing/golden.h"

namespace hawser::stablehlo {
namespace {

// What these expect was rounded after every product, and where sums cancel it
// is off by more than they allow from the rounded sum, which is what the
// reference gives. They must be off there.
constexpr const char* kRoundedOnTheWay[] = {
    "conv_general_dilated_float32_2_3_9_float32_12_1_3.mlir",
    "dot_general_bfloat16_4_3_complex128_3_6.mlir",
    "dot_general_float32_4_3_complex128_3_6.mlir",
    "dot_general_float32_4_3_complex64_3_6.mlir",
    "dot_general_int16_4_3_complex128_3_6.mlir",
    "dot_general_int64_4_3_complex64_3_6.mlir",
    "dot_general_int8_4_3_float32_3_6.mlir",
    "dot_general_int8_4_3_float64_3_6.mlir",
    "dot_general_uint32_4_3_complex128_3_6.mlir",
    "dot_general_uint32_4_3_float64_3_6.mlir",
    "dot_general_uint8_4_3_complex128_3_6.mlir",
};

// Solutions with matrices of a condition of 2e5, as one order of roundings
// gives them: up to 65 units from the exact ones, of which they allow 3.
constexpr const char* kIllConditioned[] = {
    "triangular_solve_float32_2_8_8_float32_2_10_8.mlir",
};

// One line a file, and how many files lack what.
struct Sweep {
  std::string lines;
  int passed = 0;
  std::map<std::string, int> lacking;

  void Add(const std::string& name, const SelfCheck& check) {
    switch (check.outcome) {
      case SelfCheck::kPassed:
        ++passed;
        absl::StrAppend(&lines, "pass ", name, "\n");
        return;
      case SelfCheck::kLeftOut:
        for (const std::string& what : check.missing) ++lacking[what];
        absl::StrAppend(&lines, "lack ", name, ": ",
                        absl::StrJoin(check.missing, ", "), "\n");
        return;
      case SelfCheck::kFailed:
        ADD_FAILURE() << name << ": " << check.what;
        absl::StrAppend(&lines, "FAIL ", name, "\n");
    }
  }
};

// Files of `beyond` must fail.
void RunAll(runtime::Client& client,
            const std::vector<std::string>& beyond = {}) {
  const auto folder = OracleFolder("testdata");
  const auto files = OraclePrograms(folder);
  if (files.empty()) {
    GTEST_SKIP() << folder << " has no files: name the folder by "
                 << "HAWSER_ORACLE";
  }
  Sweep sweep;
  for (const std::filesystem::path& file : files) {
    const absl::Time start = absl::Now();
    const std::string name = file.filename().string();
    SelfCheck check = RunSelfCheck(ContentsOf(file), client);
    if (std::count(beyond.begin(), beyond.end(), name) != 0) {
      EXPECT_EQ(check.outcome, SelfCheck::kFailed) << name;
      check.outcome = SelfCheck::kPassed;
    }
    sweep.Add(name, check);
    const absl::Duration took = absl::Now() - start;
    if (took > absl::Seconds(1)) std::cout << took << " " << file << "\n";
  }
  std::cout << sweep.passed << " of " << files.size() << " pass\n";
  for (const auto& [what, count] : sweep.lacking) {
    std::cout << count << " lack " << what << "\n";
  }
  ExpectGolden(kOracleList, sweep.lines);
}

TEST(Oracle, PassesOnThisCpu) {
  RunAll(*cpu::MakeCpuClient(),
         {std::begin(kIllConditioned), std::end(kIllConditioned)});
}

TEST(Oracle, PassesOnTheReference) {
  reference::ReferenceClient client;
  std::vector<std::string> beyond(std::begin(kRoundedOnTheWay),
                                  std::end(kRoundedOnTheWay));
  beyond.insert(beyond.end(), std::begin(kIllConditioned),
                std::end(kIllConditioned));
  RunAll(client, beyond);
}

// Programs with every op, attribute and type that StableHLO has: all are read
// as text and as artifacts, whose functions become the same modules, or say
// what they lack.
TEST(Oracle, ReadsEveryArtifact) {
  const auto folder = OracleFolder("artifacts");
  int functions = 0, lowered = 0;
  for (const std::filesystem::path& file : OraclePrograms(folder)) {
    if (file.filename() == "invalid_vhlo_future.mlir") continue;
    const std::string text = ContentsOf(file);
    const auto tree = ReadText(text);
    ASSERT_TRUE(tree.ok()) << file << ":" << tree.status();
    const std::string bytes = ContentsOf(file.string() + ".bc");
    const auto coded = ReadArtifact(bytes);
    ASSERT_TRUE(coded.ok()) << file << ".bc: " << coded.status();
    const Functions named(*tree), in_artifact(*coded);
    EXPECT_EQ(named.all().size(), in_artifact.all().size()) << file;
    for (const Op* function : named.all()) {
      ++functions;
      const absl::string_view name = NameOf(*function);
      const auto module = Lower(*tree, name);
      lowered += module.ok();
      EXPECT_TRUE(module.ok() || absl::IsUnimplemented(module.status()))
          << file << ":" << module.status();
      ASSERT_NE(in_artifact.Find(name), nullptr) << file << ": " << name;
      const auto same = Lower(*coded, name);
      ASSERT_EQ(same.status().code(), module.status().code())
          << file << ": " << name << ": " << same.status() << "\n"
          << module.status();
      if (!module.ok()) continue;
      EXPECT_EQ(Print(same->module), Print(module->module))
          << file << ": " << name;
    }
  }
  EXPECT_EQ(ReadArtifact(ContentsOf(folder / "invalid_vhlo_future.mlir.bc"))
                .status()
                .code(),
            functions == 0 ? absl::StatusCode::kInvalidArgument
                           : absl::StatusCode::kUnimplemented);
  if (functions == 0) GTEST_SKIP() << folder << " has no files";
  std::cout << lowered << " of " << functions << " functions are lowered\n";
  EXPECT_GT(lowered, 0);
}

}  // namespace
}  // namespace hawser::stablehlo
