// Texts that want to cost more than they are: a typed error and little memory.
// How long the slowest took is printed (50 ms is what it should be).
#include <algorithm>
#include <iostream>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/stablehlo/stablehlo.h"
#include "client/stablehlo/text/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/stablehlo/programs.h"
#include "tests/testing/allocation_meter.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

constexpr int64_t kMostMemory = int64_t{64} << 20;

std::string Repeat(absl::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) absl::StrAppend(&out, text);
  return out;
}

void ExpectRefused(const std::string& program, absl::StatusCode code,
                   const std::string& error) {
  static absl::Duration longest;
  const AllocationMeter meter;
  const absl::Time start = absl::Now();
  const auto module = ReadProgram(program);
  const absl::Duration took = absl::Now() - start;
  if (took > longest) {
    longest = took;
    std::cout << "the slowest so far: " << took << ", " << error << "\n";
  }
  EXPECT_THAT(module, StatusIs(code, error));
  EXPECT_THAT(std::string(module.status().message()),
              ::testing::MatchesRegex("[0-9]+:[0-9]+: (.|\n)*"));
  EXPECT_LT(module.status().message().size(), 16384u);
  EXPECT_LT(meter.peak(), kMostMemory) << error;
}

// Function f<i> calls f<i - 1> twice.
std::string Doubling(int times) {
  std::string program =
      "func.func @f0(%a: tensor<f32>) -> tensor<f32> {\n"
      "  return %a : tensor<f32>\n}\n";
  for (int i = 1; i <= times; ++i) {
    const std::string call = absl::StrCat(
        " = call @f", i - 1, "(%a) : (tensor<f32>) -> tensor<f32>\n");
    absl::StrAppend(&program, "func.func @",
                    i == times ? "main" : absl::StrCat("f", i),
                    "(%a: tensor<f32>) -> tensor<f32> {\n  %0", call, "  %1",
                    call, "  return %1 : tensor<f32>\n}\n");
  }
  return program;
}

TEST(Hostile, NestedRegions) {
  ExpectRefused(Repeat("\"a.b\"() ({", 10000),
                absl::StatusCode::kInvalidArgument, "nested deeper");
  ExpectRefused(Repeat("module {", 10000), absl::StatusCode::kInvalidArgument,
                "nested deeper");
}

TEST(Hostile, NestedAttributesTypesAndBrackets) {
  ExpectRefused(absl::StrCat("a.b {x = ", Repeat("[", 100000)),
                absl::StatusCode::kInvalidArgument, "nested deeper");
  ExpectRefused(absl::StrCat("a.b {x = ", Repeat("{y = ", 100000)),
                absl::StatusCode::kInvalidArgument, "nested deeper");
  ExpectRefused(absl::StrCat("a.b : ", Repeat("tensor<", 100000)),
                absl::StatusCode::kInvalidArgument, "nested deeper");
  ExpectRefused(absl::StrCat("a.b : ", Repeat("(", 100000)),
                absl::StatusCode::kInvalidArgument, "nested deeper");
  ExpectRefused(absl::StrCat("a.b <", Repeat("[", 100000)),
                absl::StatusCode::kInvalidArgument, "expected ']'");
}

TEST(Hostile, CallsThatDouble) {
  ExpectRefused(Doubling(40), absl::StatusCode::kResourceExhausted,
                "calls inlined give more than");
}

TEST(Hostile, CallsInACircle) {
  ExpectRefused(
      "func.func @main() { call @g() : () -> () return }\n"
      "func.func @g() { call @main() : () -> () return }",
      absl::StatusCode::kResourceExhausted, "nested deeper than 200");
}

TEST(Hostile, AliasesOfAliases) {
  std::string program = "#a0 = [\"x\", \"y\"]\n";
  for (int i = 1; i < 60; ++i) {
    absl::StrAppend(&program, "#a", i, " = [#a", i - 1, ", #a", i - 1, "]\n");
  }
  ExpectRefused(program + "func.func @main() { a.b {x = #a59} : () -> () }",
                absl::StatusCode::kUnimplemented, "a.b");
}

TEST(Hostile, ResourcesNamedOften) {
  std::string program = "func.func @main() {\n";
  for (int i = 0; i < 1000; ++i) {
    absl::StrAppend(&program, "%", i,
                    " = stablehlo.constant dense_resource<w> : "
                    "tensor<262144xf32>\n");
  }
  absl::StrAppend(&program, "a.b : () -> ()\n}\n{-# d: { w: \"0x04000000",
                  std::string(8 * 262144, '0'), "\" } #-}");
  ExpectRefused(program, absl::StatusCode::kUnimplemented, "a.b");
}

TEST(Hostile, LiteralsThatClaimMoreThanTheyCarry) {
  const auto constant = [](const char* dense) {
    return MainOf("", "", absl::StrCat("%0 = stablehlo.constant ", dense));
  };
  for (const char* dense : {
           "dense<[1, 2]> : tensor<1000000000000xf32>",
           "dense<> : tensor<1000000000000xf32>",
           "dense<\"0x00000000\"> : tensor<1000000000000xi8>",
           "dense<[[[[1]]]]> : tensor<1000x1000x1000x1000xf64>",
           "dense<1> : tensor<9999999999x9999999999x9999999999xf32>",
       }) {
    ExpectRefused(constant(dense), absl::StatusCode::kInvalidArgument, "2:");
  }
}

TEST(Hostile, DynamicSizes) {
  ExpectRefused(MainOf("%a: tensor<?x4xf32>", "tensor<?x4xf32>",
                       "return %a : tensor<?x4xf32>"),
                absl::StatusCode::kUnimplemented, "dynamic sizes");
}

TEST(Hostile, ManyDifferentGaps) {
  std::string ops;
  for (int i = 0; i < 20000; ++i)
    absl::StrAppend(&ops, "a.b", i, " : ()->()\n");
  ExpectRefused(MainOf("", "", ops), absl::StatusCode::kUnimplemented,
                "and 19936 more");
}

TEST(Hostile, NestedRegionsThatCaptureMuch) {
  std::string ops, values;
  for (int i = 0; i < 2000; ++i) {
    absl::StrAppend(&ops, "%v", i, " = stablehlo.abs %a : tensor<f32>\n");
    absl::StrAppend(&values, "%x", i, " = stablehlo.abs %v", i,
                    " : tensor<f32>\n");
  }
  const std::string program =
      MainOf("%a: tensor<f32>, %i: tensor<i32>", "tensor<f32>",
             absl::StrCat(ops, Repeat("%r = \"stablehlo.case\"(%i) ({\n", 60),
                          values, "%r = stablehlo.abs %nothing : tensor<f32>\n",
                          Repeat("stablehlo.return %r : tensor<f32>\n}) : "
                                 "(tensor<i32>) -> tensor<f32>\n",
                                 60),
                          "return %r : tensor<f32>"));
  ExpectRefused(program, absl::StatusCode::kInvalidArgument,
                "there is no '%nothing'");
}

// A program with most of what there is in one.
std::string Sample() {
  return "#l = loc(\"a.py\":1:2)\n!t = tensor<2xf32>\n" +
         MainOf("%a: !t {x.y = \"z\"}, %p: tensor<i1>", "!t",
                "%c = stablehlo.constant dense<[1.0, 0x7F800000]> : !t\n"
                "%d = stablehlo.constant dense<\"0x0000803F00000000\"> : !t\n"
                "%0:2 = call @f(%a, %c) {k = [1, 2]} : (!t, !t) -> (!t, !t)\n"
                "%1 = stablehlo.slice %0#1 [0:2:1] : (!t) -> !t\n"
                "%2 = \"stablehlo.if\"(%p) ({ stablehlo.return %1 : !t }, { "
                "stablehlo.return %d : !t }) : (tensor<i1>) -> !t loc(#l)\n"
                "return %2 : !t") +
         "func.func @f(%a: !t, %b: !t) -> (!t, !t) {\n"
         "  %0 = stablehlo.add %a, %b : !t\n  return %0, %a : !t, !t\n}\n";
}

TEST(Hostile, EveryCut) {
  const std::string sample = Sample();
  ASSERT_OK(ReadProgram(sample));
  for (size_t size = 0; size + 1 < sample.size(); ++size) {
    const auto module = ReadProgram(sample.substr(0, size));
    if (module.ok()) continue;  // behind the last op that matters
    EXPECT_TRUE(absl::IsInvalidArgument(module.status()) ||
                absl::IsNotFound(module.status()))
        << size << ": " << module.status();
    EXPECT_THAT(std::string(module.status().message()),
                ::testing::ContainsRegex("^[0-9]+:[0-9]+: "));
  }
}

TEST(Hostile, RandomBytesAndChangedOnes) {
  std::mt19937 random(7);
  const std::string sample = Sample();
  for (int turn = 0; turn < 3000; ++turn) {
    std::string text = sample;
    if (turn % 3 == 0) {
      text.resize(random() % 300);
      for (char& c : text) c = static_cast<char>(random());
    } else {
      for (unsigned i = 0; i <= random() % 4; ++i) {
        text[random() % text.size()] = static_cast<char>(
            turn % 2 == 0 ? random() : sample[random() % sample.size()]);
      }
    }
    const auto module = ReadProgram(text);
    if (!module.ok()) {
      EXPECT_NE(module.status().code(), absl::StatusCode::kInternal);
    }
  }
}

}  // namespace
}  // namespace hawser::stablehlo
