// A region by tiles gives what its instruction gives: the same bits, but for
// sums of floats, which are added up in another order.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/threads/thread_pool.h"
#include "core/base/values/compare.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "gtest/gtest.h"
#include "kernels/cpu/host_allocator.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/cpu/tiles/tile_runner.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/cpu/tiles/tile_test.h"
#include "tests/kernels/one_instruction.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::cpu {
namespace {

using plan::Region;

TEST_F(TileTest, SmallRandomGraphs) {
  for (uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    Random random(seed);
    ExpectRegions(RandomModule(seed, {.regions = seed % 2 == 0}),
                  absl::StrCat("seed ", seed), random);
  }
  EXPECT_GT(counts_.repeated, counts_.by_tiles / 2);
}

TEST_F(TileTest, LargerRandomGraphs) {
  for (uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    Random random(seed);
    ExpectRegions(
        RandomModule(10000 + seed, {.instructions = 12, .max_elements = 60000}),
        absl::StrCat("large seed ", seed), random);
  }
}

// ---- sizes beyond a tile ----------------------------------------------------

// The sum of `dims` over `axes`, of what a square comes to.
std::string SumOfSquares(const std::string& dims, const std::string& kept,
                         const std::string& axes) {
  return absl::StrCat("module \"sums\"\n", kFolds,
                      "computation @2 \"main\" (%0: f32[", dims,
                      "]) {\n"
                      "  %1: f32[] = constant() value=f32[] {0}\n"
                      "  %2: f32[",
                      dims,
                      "] = multiply(%0, %0)\n"
                      "  %3: f32[",
                      kept, "] = reduce(%2, %1) dimensions=[", axes,
                      "] @0\n"
                      "  return %3\n"
                      "}\n");
}

// e^(x - largest) / its sum, over the rows.
std::string Softmax(const std::string& rows, const std::string& columns) {
  const std::string all = absl::StrCat("f32[", rows, ",", columns, "]");
  const std::string one = absl::StrCat("f32[", rows, "]");
  const std::string spread = absl::StrCat("broadcast_dimensions=[0] dims=[",
                                          rows, ",", columns, "]\n");
  return absl::StrCat(
      "module \"softmax\"\n", kFolds, "computation @2 \"main\" (%0: ", all,
      ") {\n  %1: f32[] = constant() value=f32[] {0}\n"
      "  %2: f32[] = constant() value=f32[] {-inf}\n  %3: ",
      one, " = reduce(%0, %2) dimensions=[1] @1\n  %4: ", all,
      " = broadcast_in_dim(%3) ", spread, "  %5: ", all,
      " = subtract(%0, %4)\n  %6: ", all, " = exponential(%5)\n  %7: ", one,
      " = reduce(%6, %1) dimensions=[1] @0\n  %8: ", all,
      " = broadcast_in_dim(%7) ", spread, "  %9: ", all,
      " = divide(%6, %8)\n  return %9\n}\n");
}

TEST_F(TileTest, LongRowsAndColumns) {
  const std::vector<std::string> texts = {
      SumOfSquares("3000000", "", "0"),
      SumOfSquares("3,200001", "3", "1"),
      SumOfSquares("9000,33", "9000", "1"),
      SumOfSquares("20000,7", "7", "0"),
      SumOfSquares("5000,700", "700", "0"),
      SumOfSquares("4097,513", "513", "0"),
      SumOfSquares("30,4099,5", "30,5", "1"),
      SumOfSquares("70,11,130", "11", "0,2"),
      SumOfSquares("70,11,130", "70,130", "1"),
      SumOfSquares("0,11", "11", "0"),
      SumOfSquares("11,0", "11", "1"),
      Softmax("700", "1000"),
      Softmax("50000", "10"),
      Softmax("3", "100000"),
      Softmax("1", "5"),
  };
  for (const std::string& text : texts) {
    const auto module = ParseModule(text, FindOp);
    ASSERT_OK(module) << text;
    Random random(7);
    ExpectRegions(*module, text, random);
  }
  EXPECT_EQ(counts_.not_by_tiles, 0);
}

struct MoveRow {
  const char* parameters;
  const char* steps;
  int result;
};

std::string TextOf(const MoveRow& row) {
  return absl::StrCat("module \"move\"\ncomputation @0 \"main\" (",
                      row.parameters, ") {\n  ", row.steps, "\n  return %",
                      row.result, "\n}\n");
}

constexpr MoveRow kMoves[] = {
    {"%0: f32[600,1000]", "%1: f32[1000,600] = transpose(%0) permutation=[1,0]",
     1},
    {"%0: u8[700,900]", "%1: u8[900,700] = transpose(%0) permutation=[1,0]", 1},
    {"%0: u8[4,3,70,50]",
     "%1: u8[4,70,50,3] = transpose(%0) permutation=[0,2,3,1]", 1},
    {"%0: f32[90000,3], %1: f32[3]",
     "%2: f32[90000,3] = broadcast_in_dim(%1) broadcast_dimensions=[1] "
     "dims=[90000,3]\n  %3: f32[90000,3] = add(%0, %2)",
     3},
    {"%0: f32[5000,64], %1: s32[7000,1]",
     "%2: f32[7000,64] = gather(%0, %1) collapsed_slice_dims=[0] "
     "index_vector_dim=1 offset_dims=[1] slice_sizes=[1,64] "
     "start_index_map=[0]",
     2},
    {"%0: f32[200000], %1: s32[300000,1]",
     "%2: f32[300000] = gather(%0, %1) collapsed_slice_dims=[0] "
     "index_vector_dim=1 offset_dims=[] slice_sizes=[1] start_index_map=[0]",
     2},
    {"%0: f32[300,301], %1: f32[]",
     "%2: f32[305,605] = pad(%0, %1) edge_padding_high=[3,2] "
     "edge_padding_low=[2,2] interior_padding=[0,1]",
     2},
    {"%0: u16[129,71,65]",
     "%1: u16[65,129,71] = transpose(%0) permutation=[2,0,1]", 1},
    {"%0: s64[203,301]", "%1: s64[301,203] = transpose(%0) permutation=[1,0]",
     1},
    {"%0: c128[67,131]", "%1: c128[131,67] = transpose(%0) permutation=[1,0]",
     1},
    {"%0: f32[9000,7]", "%1: f32[7,9000] = transpose(%0) permutation=[1,0]", 1},
    {"%0: u8[5,9001]", "%1: u8[9001,5] = transpose(%0) permutation=[1,0]", 1},
    {"%0: u16[4,70,50,3]",
     "%1: u16[4,3,70,50] = transpose(%0) permutation=[0,3,1,2]", 1},
    // Beyond the caches.
    {"%0: f32[1101,1003]",
     "%1: f32[1003,1101] = transpose(%0) permutation=[1,0]", 1},
    {"%0: u8[2203,2001]", "%1: u8[2001,2203] = transpose(%0) permutation=[1,0]",
     1},
    {"%0: f32[4301,1003], %1: f32[4301], %2: f32[1003]",
     "%3: f32[4301,1003] = broadcast_in_dim(%1) broadcast_dimensions=[0] "
     "dims=[4301,1003]\n  %4: f32[4301,1003] = broadcast_in_dim(%2) "
     "broadcast_dimensions=[1] dims=[4301,1003]\n  %5: f32[4301,1003] = "
     "multiply(%0, %3)\n  %6: f32[4301,1003] = add(%5, %4)",
     6},
    {"%0: u8[301,1000]",
     "%1: u8[301,334] = slice(%0) limit_indices=[301,1000] "
     "start_indices=[0,0] strides=[1,3]",
     1},
    {"%0: f32[301,1000]",
     "%1: f32[150,498] = slice(%0) limit_indices=[300,999] "
     "start_indices=[1,4] strides=[2,2]",
     1},
    {"%0: u16[77,3001]", "%1: u16[77,3001] = reverse(%0) dimensions=[1]", 1},
    {"%0: u8[9000]",
     "%1: u8[9000,3] = broadcast_in_dim(%0) broadcast_dimensions=[0] "
     "dims=[9000,3]",
     1},
    {"%0: f64[3]",
     "%1: f64[9001,3] = broadcast_in_dim(%0) broadcast_dimensions=[1] "
     "dims=[9001,3]",
     1},
    {"%0: f64[1000]",
     "%1: f64[77,1000] = broadcast_in_dim(%0) broadcast_dimensions=[1] "
     "dims=[77,1000]",
     1},
    // Counted in floats.
    {"%0: f32[9001]",
     "%1: f32[9001] = iota() dims=[9001] dtype=f32 iota_dimension=0\n"
     "  %2: f32[9001] = subtract(%0, %1)",
     2},
    // Four parts, of which a tile has two.
    {"%0: f32[3000], %1: f32[3001], %2: f32[2999], %3: f32[3002]",
     "%4: f32[12002] = concatenate(%0, %1, %2, %3) dimension=0\n"
     "  %5: f32[12002] = negate(%4)",
     5},
    // Rows of a table, some of them cut off at its end.
    {"%0: u8[500,37], %1: s8[900,2]",
     "%2: u8[900,30] = gather(%0, %1) collapsed_slice_dims=[0] "
     "index_vector_dim=1 offset_dims=[1] slice_sizes=[1,30] "
     "start_index_map=[0,1]",
     2},
};

// argmax or argmin of `dims` along an axis.
std::string PlacesOf(const std::string& op, const std::string& dtype,
                     const std::string& dims, const std::string& kept, int axis,
                     const std::string& attributes) {
  return absl::StrCat("module \"places\"\ncomputation @0 \"main\" (%0: ", dtype,
                      "[", dims, "]) {\n  %1: s32[", kept, "] = ", op,
                      "(%0) dimension=", axis, attributes,
                      "\n  return %1\n}\n");
}

TEST_F(TileTest, PlacesOfExtremes) {
  const struct {
    const char *dims, *kept;
    int axis;
  } rows[] = {
      {"3000000", "", 0},       {"3,200001", "3", 1},
      {"9000,33", "9000", 1},   {"20000,7", "7", 0},
      {"5000,700", "700", 0},   {"4097,513", "513", 0},
      {"30,4099,5", "30,5", 1}, {"70,11,130", "70,130", 1},
      {"1,5", "5", 0},          {"4096,1", "1", 0},
      {"0,7", "0", 1},
  };
  for (const auto& row : rows) {
    for (const char* dtype : {"f32", "s8", "f16", "f64", "u64"}) {
      for (const char* tie : {"", " tie=\"high\""}) {
        for (const char* op : {"argmax", "argmin"}) {
          const std::string text =
              PlacesOf(op, dtype, row.dims, row.kept, row.axis, tie);
          const auto module = ParseModule(text, FindOp);
          ASSERT_OK(module) << text;
          Random random(11);
          ExpectRegions(*module, text, random);
        }
      }
    }
  }
  if (MachineIsa() == Isa::kBase) return;
  EXPECT_EQ(counts_.not_by_tiles, 0);
}

// ---- folds of several values by several ops --------------------------------

struct BodyRow {
  const char* what;
  const char* dtypes[3];  // of the values, then null
  const char* initial[3];
  const char* body;  // of %0.. so far and %n.. behind them
  const char* results;
};

constexpr BodyRow kBodies[] = {
    // The largest, and the first of its places.
    {"place",
     {"s32", "s64"},
     {"-2147483648", "9223372036854775807"},
     "%4: bool[] = compare(%0, %2) direction=\"GT\"\n"
     "  %5: bool[] = compare(%0, %2) direction=\"EQ\"\n"
     "  %6: bool[] = compare(%1, %3) direction=\"LT\"\n"
     "  %7: bool[] = and(%5, %6)\n"
     "  %8: bool[] = or(%4, %7)\n"
     "  %9: s32[] = select(%8, %0, %2)\n"
     "  %10: s64[] = select(%8, %1, %3)\n",
     "%9, %10"},
    // The largest of two values by the first one's bits.
    {"least",
     {"f32"},
     {"inf"},
     "%2: f32[] = minimum(%0, %1)\n"
     "  %3: f32[] = negate(%2)\n  %4: f32[] = negate(%3)\n",
     "%4"},
    // e^x added up, beside the largest.
    {"sum of powers",
     {"f32", "f32"},
     {"-1e30", "0"},
     "%4: f32[] = maximum(%0, %2)\n"
     "  %5: f32[] = subtract(%0, %4)\n"
     "  %6: f32[] = exponential(%5)\n"
     "  %7: f32[] = multiply(%1, %6)\n"
     "  %8: f32[] = subtract(%2, %4)\n"
     "  %9: f32[] = exponential(%8)\n"
     "  %10: f32[] = multiply(%3, %9)\n"
     "  %11: f32[] = add(%7, %10)\n",
     "%4, %11"},
    {"three",
     {"f64", "u8", "c64"},
     {"0", "0", "(0,0)"},
     "%6: f64[] = add(%0, %3)\n"
     "  %7: u8[] = maximum(%1, %4)\n"
     "  %8: c64[] = add(%2, %5)\n",
     "%6, %7, %8"},
    // What came last, which is associative.
    {"second", {"s8", "s8"}, {"0", "0"}, "%4: s8[] = or(%0, %2)\n", "%4, %4"},
};

std::string BodyText(const BodyRow& row, const std::string& dims,
                     const std::string& kept, const std::string& axes) {
  int n = 0;
  while (n < 3 && row.dtypes[n] != nullptr) ++n;
  std::string parameters, inputs, constants, operands, results, returned;
  for (int k = 0; k < 2 * n; ++k) {
    absl::StrAppend(&parameters, k > 0 ? ", " : "", "%", k, ": ",
                    row.dtypes[k % n], "[]");
    const int v = k < n ? 2 * n + k : n + k % n;
    absl::StrAppend(&operands, k > 0 ? ", " : "", "%", v);
  }
  for (int k = 0; k < n; ++k) {
    const std::string comma = k > 0 ? ", " : "";
    absl::StrAppend(&inputs, comma, "%", k, ": ", row.dtypes[k], "[", dims,
                    "]");
    absl::StrAppend(&constants, "  %", n + k, ": ", row.dtypes[k],
                    "[] = constant() value=", row.dtypes[k], "[] {",
                    row.initial[k], "}\n");
    absl::StrAppend(&results, comma, "%", 3 * n + k, ": ", row.dtypes[k], "[",
                    kept, "]");
    absl::StrAppend(&returned, k == 1 ? "" : comma,
                    k == 1 ? "" : absl::StrCat("%", 3 * n + k));
  }
  // Of what is computed on the way; the second result is not wanted.
  std::string sums;
  for (int k = 0; k < n; ++k) {
    absl::StrAppend(&sums, "  %", 2 * n + k, ": ", row.dtypes[k], "[", dims,
                    "] = ", row.dtypes[k][0] == 'c' ? "add" : "maximum", "(%",
                    k, ", %", k, ")\n");
  }
  return absl::StrCat("module \"folds\"\ncomputation @0 \"", row.what, "\" (",
                      parameters, ") {\n  ", row.body, "  return ", row.results,
                      "\n}\ncomputation @1 \"main\" (", inputs, ") {\n",
                      constants, sums, "  ", results, " = reduce(", operands,
                      ") dimensions=[", axes, "] @0\n  return ", returned,
                      "\n}\n");
}

TEST_F(TileTest, FoldsOfSeveralOps) {
  const struct {
    const char *dims, *kept, *axes;
  } rows[] = {
      {"300001", "", "0"},        {"3,20001", "3", "1"},
      {"900,33", "900", "1"},     {"5000,7", "7", "0"},
      {"500,700", "700", "0"},    {"4197,13", "13", "0"},
      {"300,100", "300", "1"},    {"30,1099,5", "30,5", "1"},
      {"70,11,130", "11", "0,2"}, {"70,11,130", "70,130", "1"},
      {"1,5", "5", "0"},          {"0,7", "7", "0"},
      {"7,0", "7", "1"},          {"9,1", "9", "1"},
      {"5000,3", "5000", "1"},
  };
  for (const BodyRow& body : kBodies) {
    for (const auto& row : rows) {
      const std::string text = BodyText(body, row.dims, row.kept, row.axes);
      const auto module = ParseModule(text, FindOp);
      ASSERT_OK(module) << text;
      Random random(5);
      ExpectRegions(*module, text, random, /*specials=*/false);
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(counts_.not_by_tiles, 0);
}

// 8,000,000 bytes are read and written at some 20 GB/s.
TEST_F(TileTest, ARegionTakesAsLongAsItsBytes) {
  const auto module = ParseModule(
      TextOf({"%0: f32[1000000]", "%1: f32[1000000] = negate(%0)", 1}), FindOp);
  ASSERT_OK(module);
  const auto plan = plan::MakePlan(*module, plan::CpuTarget());
  ASSERT_OK(plan);
  EXPECT_GE(StepsOf(plan->entry().regions.back()), 1e5);
  EXPECT_LE(StepsOf(plan->entry().regions.back()), 4e6);
}

TEST_F(TileTest, LargeMoves) {
  for (const MoveRow& row : kMoves) {
    const std::string text = TextOf(row);
    const auto module = ParseModule(text, FindOp);
    ASSERT_OK(module) << text;
    Random random(9);
    ExpectRegions(*module, text, random);
  }
  EXPECT_EQ(counts_.not_by_tiles, 0);
}

// One number a row, which is expanded only after another one was made of it, in
// the same place: what it was then lost.
TEST_F(TileTest, ANumberOfARowExpandedLateIsNotWrittenOver) {
  const auto module = ParseModule(R"(module "late"
computation @0 "main" (%0: u32[7]) {
  %1: u32[5] = iota() dims=[5] dtype=u32 iota_dimension=0
  %2: u32[5,7] = broadcast_in_dim(%1) broadcast_dimensions=[0] dims=[5,7]
  %3: u32[5,7] = multiply(%2, %2)
  %4: u32[5,7] = broadcast_in_dim(%0) broadcast_dimensions=[1] dims=[5,7]
  %5: u32[5,7] = add(%4, %2)
  %6: u32[5,7] = add(%5, %3)
  return %6
}
)",
                                  FindOp);
  ASSERT_OK(module);
  Random random(5);
  ExpectRegions(*module, "late", random);
  EXPECT_EQ(counts_.by_tiles, 1);
}

// A value that ops have by two names, where a chain has it once.
TEST_F(TileTest, OneValueByTwoNames) {
  const auto module = ParseModule(R"(module "names"
computation @0 "main" (%0: f32[300,7], %1: bool[300,7]) {
  %2: f32[300,7] = add(%0, %0)
  %3: f32[2100] = reshape(%2) dims=[2100]
  %4: f32[300,7] = reshape(%3) dims=[300,7]
  %5: f32[300,7] = select(%1, %4, %2)
  %6: f32[300,7] = clamp(%4, %5, %2)
  %7: f32[300,7] = multiply(%4, %2)
  %8: f32[300,7] = subtract(%6, %7)
  %9: f32[300,7] = clamp(%2, %4, %8)
  %10: bool[300,7] = compare(%4, %8) direction="LT"
  %11: bool[2100] = reshape(%10) dims=[2100]
  %12: bool[300,7] = reshape(%11) dims=[300,7]
  %13: bool[300,7] = xor(%10, %12)
  %14: f32[300,7] = select(%13, %9, %8)
  return %14
}
)",
                                  FindOp);
  ASSERT_OK(module);
  Random random(5);
  ExpectRegions(*module, "names", random);
  EXPECT_EQ(counts_.by_tiles, 1);
}

// Bits that move in a circle, and what looks alike and is something else.
TEST_F(TileTest, TurnedWords) {
  struct Case {
    std::string dtype;
    int left, right;
    std::string rest = "";  // %r: the shifts' or
    bool swapped = false;
  };
  const Case cases[] = {
      {"u32", 13, 19},
      {"u32", 1, 31, "", true},
      {"s32", 31, 1},
      {"u64", 33, 31},
      {"s64", 63, 1},
      {"u16", 5, 11},
      // Shifted by other numbers.
      {"u32", 13, 18},
      {"u32", 0, 32},
      {"u32", 32, 0},
      // The word, or a shift, is used besides.
      {"u32", 13, 19, "xor(%r, %0)"},
      {"u32", 13, 19, "add(%r, %l)"},
  };
  for (const Case& c : cases) {
    const std::string all = c.dtype + "[5,300]";
    const auto spread = [&](std::string to, std::string from, int by) {
      return absl::StrCat("  ", from, ": ", c.dtype,
                          "[] = constant() value=", c.dtype, "[] {", by,
                          "}\n  ", to, ": ", all, " = broadcast_in_dim(", from,
                          ") broadcast_dimensions=[] dims=[5,300]\n");
    };
    std::string text = absl::StrCat(
        "module \"turned\"\ncomputation @0 \"main\" (%0: ", all, ") {\n",
        spread("%2", "%1", c.left), spread("%4", "%3", c.right), "  %5: ", all,
        " = shift_left(%0, %2)\n  %6: ", all,
        " = shift_right_logical(%0, %4)\n  %7: ", all,
        c.swapped ? " = or(%6, %5)\n" : " = or(%5, %6)\n");
    if (!c.rest.empty()) {
      absl::StrAppend(&text, "  %8: ", all, " = ",
                      absl::StrReplaceAll(c.rest, {{"%r", "%7"}, {"%l", "%5"}}),
                      "\n");
    }
    absl::StrAppend(&text, "  return ", c.rest.empty() ? "%7" : "%8", "\n}\n");
    const auto module = ParseModule(text, FindOp);
    ASSERT_OK(module) << text;
    Random random(7);
    ExpectRegions(*module, text, random);
  }
  EXPECT_EQ(counts_.by_tiles, static_cast<int64_t>(std::size(cases)));
}

// A region that folds nothing, and gives what it folds.
TEST_F(TileTest, WhatHasNoElementsIsNotStored) {
  const auto module = ParseModule(
      R"(module "empty"
computation @0 "sum" (%0: f32[], %1: f32[]) {
  %2: f32[] = add(%0, %1)
  return %2
}
computation @1 "main" (%0: f32[4,0,12]) {
  %1: f32[4,0,12] = negate(%0)
  %2: f32[] = constant() value=f32[] {2}
  %3: f32[4,12] = reduce(%1, %2) dimensions=[1] @0
  %4: f32[4,12] = exponential(%3)
  return %4, %1
}
)",
      FindOp);
  ASSERT_OK(module);
  Random random(6);
  ExpectRegions(*module, "empty", random);
  EXPECT_EQ(counts_.by_tiles, 1);
}

// A transpose added to what the result is written over.
TEST_F(TileTest, PiecesInPlace) {
  const auto module = ParseModule(
      TextOf({"%0: f32[1101,1003], %1: f32[1003,1101]",
              "%2: f32[1101,1003] = transpose(%1) permutation=[1,0]\n"
              "  %3: f32[1101,1003] = add(%0, %2)",
              3}),
      FindOp);
  ASSERT_OK(module);
  const auto plan = plan::MakePlan(*module, plan::CpuTarget());
  ASSERT_OK(plan);
  ASSERT_EQ(plan->entry().regions.size(),
            plan->module.entry().instructions().size());
  const Region& region = plan->entry().regions.back();
  Random random(4);
  const auto arguments = RandomArguments(module->signature(), random);
  const Instruction& i = plan->module.computation(region.computation)
                             .instructions()[region.instruction];
  std::vector<Literal> operands;
  for (const ValueId v : i.operands) operands.push_back(arguments[v]);
  const auto want = EvaluateInstruction(plan->module, i, operands);
  for (const Isa isa : {Isa::kBase, Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    const auto program = MakeTileProgram(plan->module, region, {.isa = isa});
    ASSERT_OK(program);
    std::vector<char*> from;
    Literal result = Literal::Uninitialized(want[0].shape());
    for (size_t k = 0; k < operands.size(); ++k) {
      const auto bytes = operands[k].bytes();
      const bool over = i.operands[k] == 0;
      if (over)
        std::copy_n(bytes.data(), bytes.size(), result.mutable_bytes().data());
      from.push_back(over ? result.mutable_bytes().data()
                          : const_cast<char*>(bytes.data()));
    }
    char* const to[] = {result.mutable_bytes().data()};
    ASSERT_OK(RunTiles(*program, from, to,
                       {.pool = &pool_, .allocator = allocator_.get()}));
    EXPECT_OK(CompareLiterals(result, want[0], {.bits = true})) << IsaName(isa);
  }
}

std::string InDoubles(const std::string& text) {
  return absl::StrReplaceAll(text, {{"f32", "f64"}});
}

// Bits of sums depend on sizes alone.
TEST_F(TileTest, AnySetOfInstructionsGivesTheSameBits) {
  for (const std::string& text :
       {SumOfSquares("3000000", "", "0"), SumOfSquares("3,200001", "3", "1"),
        SumOfSquares("90000,7", "7", "0"), SumOfSquares("5000,700", "700", "0"),
        SumOfSquares("700,45", "700", "1")}) {
    const auto module = ParseModule(InDoubles(text), FindOp);
    ASSERT_OK(module);
    const auto plan = plan::MakePlan(*module, plan::CpuTarget());
    ASSERT_OK(plan);
    const auto arguments = UnevenArguments(module->signature());
    char* const from[] = {const_cast<char*>(arguments[0].bytes().data())};
    std::vector<Literal> results;
    for (const Isa isa : {Isa::kBase, Isa::kSse4, Isa::kAvx2, Isa::kAvx512}) {
      if (isa > MachineIsa()) continue;
      const auto program = MakeTileProgram(
          plan->module, plan->entry().regions.back(), {.isa = isa});
      ASSERT_OK(program);
      results.push_back(Literal::Zeros(plan->module.signature().results[0]));
      char* const to[] = {results.back().mutable_bytes().data()};
      ASSERT_OK(RunTiles(*program, from, to, {.allocator = allocator_.get()}));
      EXPECT_THAT(results.back(), LiteralBitEquals(results[0]))
          << IsaName(isa) << " of " << text;
    }
  }
}

TEST_F(TileTest, StrictSumsOfRowsHaveTheBitsOfTheInstruction) {
  for (const char* columns : {"7", "15", "16", "45", "64", "65", "1000"}) {
    const auto module =
        ParseModule(absl::StrReplaceAll(
                        SumOfSquares(absl::StrCat("700,", columns), "700", "1"),
                        {{"f32", "f64"}}),
                    FindOp);
    ASSERT_OK(module);
    const auto plan = plan::MakePlan(*module, plan::CpuTarget());
    ASSERT_OK(plan);
    const Region& region = plan->entry().regions.back();
    const auto& instructions = plan->module.entry().instructions();
    const auto arguments = UnevenArguments(module->signature());
    const auto want = EvaluateInstruction(
        plan->module, instructions[region.instruction], arguments);
    for (const Isa isa : {Isa::kBase, MachineIsa()}) {
      const auto program =
          MakeTileProgram(plan->module, region, {.isa = isa, .strict = true});
      ASSERT_OK(program) << columns;
      ExpectResults(*program, arguments, want, {.bits = true},
                    absl::StrCat(columns, " columns by ", IsaName(isa)));
    }
  }
}

TEST_F(TileTest, AnyNumberOfThreadsGivesTheSameBits) {
  for (const std::string& text :
       {SumOfSquares("3000000", "", "0"), SumOfSquares("90000,7", "7", "0"),
        Softmax("700", "1000"),
        PlacesOf("argmax", "s8", "3000000", "", 0, "")}) {
    const auto module = ParseModule(InDoubles(text), FindOp);
    ASSERT_OK(module);
    const auto plan = plan::MakePlan(*module, plan::CpuTarget());
    ASSERT_OK(plan);
    const auto arguments = UnevenArguments(module->signature());
    const Region& region = plan->entry().regions.back();
    const auto program = MakeTileProgram(plan->module, region);
    ASSERT_OK(program);
    char* const from[] = {const_cast<char*>(arguments[0].bytes().data())};
    std::vector<Literal> results;
    ThreadPool three(3);
    for (ThreadPool* pool :
         {static_cast<ThreadPool*>(nullptr), &pool_, &three}) {
      results.push_back(Literal::Zeros(plan->module.signature().results[0]));
      char* const to[] = {results.back().mutable_bytes().data()};
      ASSERT_OK(RunTiles(*program, from, to,
                         {.pool = pool, .allocator = allocator_.get()}));
    }
    EXPECT_THAT(results[1], LiteralBitEquals(results[0]));
    EXPECT_THAT(results[2], LiteralBitEquals(results[0]));
  }
}

// Of rows that stay between passes, of which one takes more than a thread
// keeps.
TEST_F(TileTest, MemoryOfLongRowsIsTheRuns) {
  const auto module = ParseModule(Softmax("2", "16000"), FindOp);
  ASSERT_OK(module);
  const auto plan = plan::MakePlan(*module, plan::CpuTarget());
  ASSERT_OK(plan);
  const auto program =
      MakeTileProgram(plan->module, plan->entry().regions.back());
  ASSERT_OK(program);
  ASSERT_GT(program->slot_bytes, 64 << 10);
  Literal x = Literal::Zeros(module->signature().parameters[0]);
  Literal y = Literal::Zeros(module->signature().results[0]);
  char* const from[] = {x.mutable_bytes().data()};
  char* const to[] = {y.mutable_bytes().data()};
  const auto account = MemoryAccount::Make(int64_t{1} << 30);
  const auto counted = HostAllocator::Make(account);
  ASSERT_OK(RunTiles(*program, from, to, {.allocator = counted.get()}));
  const int64_t indices = program->ny * program->nx * int64_t{8};
  EXPECT_GE(account->peak(), program->slot_bytes + indices);
  EXPECT_EQ(counted->live_bytes(), 0);
  const auto small = HostAllocator::Make(1000);
  EXPECT_THAT(RunTiles(*program, from, to, {.allocator = small.get()}),
              StatusIs(absl::StatusCode::kResourceExhausted, ""));
}

// Lanes that are read and given where operands and results are take no room of
// a tile, which is then longer, and still fits what a thread keeps.
TEST_F(TileTest, LanesInPlaceMakeLongTiles) {
  std::string text = "module \"m\"\ncomputation @0 \"main\" (%0: f64[100000]";
  for (int k = 1; k < 6; ++k) text += absl::StrCat(", %", k, ": f64[100000]");
  text += ") {\n";
  for (int k = 0; k < 5; ++k) {
    absl::StrAppend(&text, "  %", 6 + k, ": f64[100000] = add(%",
                    k == 0 ? 0 : 5 + k, ", %", k + 1, ")\n");
  }
  // Two results, of which the first is used on.
  text += "  return %7, %10\n}\n";
  const auto module = ParseModule(text, FindOp);
  ASSERT_OK(module);
  const auto plan = plan::MakePlan(*module, plan::CpuTarget());
  ASSERT_OK(plan);
  const auto program =
      MakeTileProgram(plan->module, plan->entry().regions.back());
  ASSERT_OK(program);
  EXPECT_GT(program->ny * program->nx, 512);
  EXPECT_LE(program->slot_bytes + program->ny * program->nx * int64_t{8},
            64 << 10);
  Random random(5);
  ExpectRegions(*module, "in place", random);
  EXPECT_EQ(counts_.by_tiles, 1);
}

TEST_F(TileTest, ACancelEndsThem) {
  const auto module = ParseModule(SumOfSquares("3000000", "", "0"), FindOp);
  ASSERT_OK(module);
  const auto plan = plan::MakePlan(*module, plan::CpuTarget());
  ASSERT_OK(plan);
  const auto program =
      MakeTileProgram(plan->module, plan->entry().regions.back());
  ASSERT_OK(program);
  Literal x = Literal::Zeros(module->signature().parameters[0]);
  Literal sum = Literal::Zeros(module->signature().results[0]);
  char* const from[] = {x.mutable_bytes().data()};
  char* const to[] = {sum.mutable_bytes().data()};
  const CancelToken token = CancelToken::WithFlag();
  token.Cancel();
  EXPECT_THAT(RunTiles(*program, from, to, {.cancel = token}),
              StatusIs(absl::StatusCode::kCancelled, ""));
}

}  // namespace
}  // namespace hawser::cpu
