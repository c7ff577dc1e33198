// What each family is lowered to, and what is refused.
#include "client/stablehlo/lower/lower.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/stablehlo/lower/bind.h"
#include "client/stablehlo/stablehlo.h"
#include "client/stablehlo/text/reader.h"
#include "core/runtime/datasets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/stablehlo/programs.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::Not;

TEST(Lower, BoolsAddAndMultiplyAsOrAndAnd) {
  EXPECT_THAT(LoweredText(MainOf("%a: tensor<i1>", "tensor<i1>",
                                 "%0 = stablehlo.add %a, %a : tensor<i1>\n"
                                 "%1 = stablehlo.multiply %0, %a : tensor<i1>\n"
                                 "return %1 : tensor<i1>")),
              AllOf(HasSubstr("%1: bool[] = or(%0, %0)"),
                    HasSubstr("%2: bool[] = and(%1, %0)")));
}

TEST(Lower, LargeSplatsAreRepeatedWhenTheyRun) {
  EXPECT_THAT(LoweredText(MainOf("", "tensor<1000000xf32>",
                                 "%0 = stablehlo.constant dense<2.0> : "
                                 "tensor<1000000xf32>\n"
                                 "return %0 : tensor<1000000xf32>")),
              AllOf(HasSubstr("value=f32[] {2}"), HasSubstr("dims=[1000000]")));
}

TEST(Lower, LargeConstantsBecomeArgumentsOnce) {
  const std::string program =
      MainOf("%a: tensor<1025xf32>", "tensor<1025xf32>",
             "%0 = call @w() : () -> tensor<1025xf32>\n"
             "%1 = call @w() : () -> tensor<1025xf32>\n"
             "%2 = stablehlo.add %0, %1 : tensor<1025xf32>\n"
             "%3 = stablehlo.add %2, %a : tensor<1025xf32>\n"
             "return %3 : tensor<1025xf32>") +
      "func.func @w() -> tensor<1025xf32> {\n"
      "  %0 = stablehlo.constant dense<\"0x" +
      std::string(8 * 1025, '0') +
      "\"> : tensor<1025xf32>\n"
      "  return %0 : tensor<1025xf32>\n}\n";
  const auto lowered = ReadProgram(program);
  ASSERT_OK(lowered);
  EXPECT_EQ(lowered->bound.size(), 1u);
  EXPECT_THAT(Print(lowered->module),
              AllOf(HasSubstr("(%0: f32[1025], %1: f32[1025])"),
                    HasSubstr("%2: f32[1025] = add(%1, %1)")));
}

std::string OfDataset(absl::string_view config) {
  return MainOf(
      "%a: tensor<2xf32>", "tensor<2xf32>",
      absl::StrCat("%0 = stablehlo.custom_call @hawser.dataset() {", config,
                   "} : () -> tensor<2xf32>\n"
                   "%1 = stablehlo.add %0, %a : tensor<2xf32>\n"
                   "return %1 : tensor<2xf32>"));
}

TEST(Lower, ArraysOfDatasetsBecomeArguments) {
  const auto cpu = cpu::MakeCpuClient({.threads = 1});
  const auto put =
      cpu->datasets().Put({{{"x", Literal::Vector<float>({1, 2})}}}, {});
  ASSERT_OK(put);
  const auto lowered = ReadProgram(OfDataset(absl::StrCat(
      "mhlo.backend_config = {name = \"x\", token = \"", put->token, "\"}")));
  ASSERT_OK(lowered);
  EXPECT_THAT(
      Print(lowered->module),
      AllOf(HasSubstr("(%0: f32[2], %1: f32[2])"), HasSubstr("add(%1, %0)")));
  const auto bound = Bind(lowered->bound, *cpu);
  ASSERT_OK(bound);
  ASSERT_EQ(bound->size(), 1u);
  EXPECT_THAT(*std::get<runtime::BufferPtr>((*bound)[0])->Fetch({}).Await(),
              LiteralBitEquals(Literal::Vector<float>({1, 2})));
  // It is another one by now, and then none.
  auto wrong = lowered->bound;
  std::get<DatasetArray>(wrong[0]).shape = Shape::Of(DType::kF32, {3});
  EXPECT_THAT(Bind(wrong, *cpu),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "array \"x\" is f32[2], the program says "
                       "f32[3]"));
  ASSERT_OK(cpu->datasets().Ask(DeleteDataset{put->token}, {}));
  EXPECT_THAT(Bind(lowered->bound, *cpu),
              StatusIs(absl::StatusCode::kNotFound, put->token));
}

// A loop in a loop, of which the inner one calls a function that names the
// array; a function that is called twice has it once.
TEST(Lower, LoopsTakeArraysOfDatasetsFromTheEntry) {
  constexpr char kLoop[] = R"(
func.func @main(%n: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.while(%i = %n) : tensor<f32> cond {
    %v = func.call @total() : () -> tensor<f32>
    %q = stablehlo.compare LT, %i, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  } do {
    %b = stablehlo.compare LT, %i, %i : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %j = "stablehlo.if"(%b) ({
      stablehlo.return %i : tensor<f32>
    }, {
      %w = func.call @total() : () -> tensor<f32>
      %s = stablehlo.add %i, %w : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %j : tensor<f32>
  }
  return %r : tensor<f32>
}
func.func private @total() -> tensor<f32> {
  %0 = stablehlo.custom_call @hawser.dataset() {mhlo.backend_config = {name = "x", token = "@x"}} : () -> tensor<f32>
  return %0 : tensor<f32>
})";
  const auto lowered = ReadProgram(kLoop);
  ASSERT_OK(lowered);
  EXPECT_EQ(lowered->bound.size(), 1u);
  ASSERT_OK(Verify(lowered->module));
  EXPECT_THAT(Print(lowered->module), AllOf(HasSubstr("(%0: f32[], %1: f32[])"),
                                            HasSubstr("num_invariant=1")));
}

TEST(Lower, ArraysOfDatasetsSayTokenAndName) {
  for (const auto& [config, what] :
       std::vector<std::pair<const char*, const char*>>{
           {"", "has no token"},
           {"backend_config = {token = \"@a\"}", "has no name"},
           {"backend_config = {token = 3 : i32, name = \"x\"}",
            "token is no string"},
           {"backend_config = {token = \"a\\22b\", name = \"x\"}",
            "has a backslash"},
           {"backend_config = {token = \"hw\", name = \"x\"}",
            "not a dataset token"}}) {
    EXPECT_THAT(ReadProgram(OfDataset(config)),
                StatusIs(absl::StatusCode::kInvalidArgument, what));
  }
}

TEST(Lower, CollectivesOfOneDeviceAreTheirOperands) {
  const auto program = [](absl::string_view groups) {
    return MainOf(
        "%a: tensor<2xf32>", "tensor<2xf32>",
        absl::StrCat(
            "%0 = \"stablehlo.all_reduce\"(%a) <{replica_groups = ", groups,
            "}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
            "  %s = stablehlo.add %x, %y : tensor<f32>\n"
            "  stablehlo.return %s : tensor<f32>\n"
            "}) : (tensor<2xf32>) -> tensor<2xf32>\n"
            "return %0 : tensor<2xf32>"));
  };
  EXPECT_THAT(LoweredText(program("dense<0> : tensor<1x1xi64>")),
              AllOf(HasSubstr("return %0"), Not(HasSubstr("add"))));
  for (const char* groups :
       {"dense<[[0, 1]]> : tensor<1x2xi64>", "dense<> : tensor<0x0xi64>"}) {
    EXPECT_THAT(ReadProgram(program(groups)),
                StatusIs(absl::StatusCode::kUnimplemented,
                         "all_reduce of more than one device"));
  }
  const auto permute = [](absl::string_view pairs) {
    return MainOf("%a: tensor<2xf32>", "tensor<2xf32>",
                  absl::StrCat("%0 = \"stablehlo.collective_permute\"(%a) "
                               "<{source_target_pairs = ",
                               pairs,
                               "}> : (tensor<2xf32>) -> tensor<2xf32>\n"
                               "return %0 : tensor<2xf32>"));
  };
  EXPECT_THAT(LoweredText(permute("dense<0> : tensor<1x2xi64>")),
              HasSubstr("return %0"));
  EXPECT_THAT(ReadProgram(permute("dense<[[0, 1]]> : tensor<1x2xi64>")),
              StatusIs(absl::StatusCode::kUnimplemented, "between devices"));
  EXPECT_THAT(LoweredText(MainOf("", "tensor<ui32>",
                                 "%0 = stablehlo.partition_id : tensor<ui32>\n"
                                 "return %0 : tensor<ui32>")),
              HasSubstr("value=u32[] {0}"));
  EXPECT_THAT(
      ReadProgram("module attributes {mhlo.num_partitions = 2 : i32} {\n" +
                  MainOf("", "tensor<ui32>",
                         "%0 = stablehlo.partition_id : tensor<ui32>\n"
                         "return %0 : tensor<ui32>") +
                  "}\n"),
      StatusIs(absl::StatusCode::kUnimplemented, "of several"));
}

TEST(Lower, TokensAreValuesWithoutElements) {
  EXPECT_THAT(
      LoweredText(MainOf("%a: !stablehlo.token, %b: tensor<f32>",
                         "!stablehlo.token, tensor<f32>",
                         "%0 = stablehlo.create_token : !stablehlo.token\n"
                         "%1 = stablehlo.after_all %a, %0 : !stablehlo.token\n"
                         "%2 = stablehlo.add %b, %b : tensor<f32>\n"
                         "return %1, %2 : !stablehlo.token, tensor<f32>")),
      AllOf(HasSubstr("bool[0]"), HasSubstr("add(")));
  // An after_all of nothing makes a new token.
  EXPECT_THAT(LoweredText(MainOf(
                  "", "!stablehlo.token",
                  "%0 = \"stablehlo.after_all\"() : () -> !stablehlo.token\n"
                  "return %0 : !stablehlo.token")),
              HasSubstr("constant"));
}

TEST(Lower, ApproxTopKIsExact) {
  const std::string program =
      "func.func @order(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, "
      "%j: tensor<i32>) -> tensor<i1> {\n"
      "  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> "
      "tensor<i1>\n"
      "  return %0 : tensor<i1>\n}\n" +
      MainOf("%a: tensor<4xf32>, %m: tensor<f32>, %n: tensor<i32>",
             "tensor<2xf32>, tensor<2xi32>",
             "%0 = stablehlo.iota dim = 0 : tensor<4xi32>\n"
             "%1:2 = stablehlo.custom_call @ApproxTopK(%a, %0, %m, %n) "
             "{called_computations = [@order], mhlo.backend_config = "
             "{reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<4xf32>, "
             "tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, "
             "tensor<2xi32>)\n"
             "return %1#0, %1#1 : tensor<2xf32>, tensor<2xi32>");
  const auto lowered = ReadProgram(program);
  ASSERT_OK(lowered);
  const auto cpu = cpu::MakeCpuClient({.threads = 1});
  const auto step =
      cpu->Compile(std::make_shared<const Module>(lowered->module), {}, {});
  ASSERT_OK(step);
  const auto results = (*step)->Execute(
      {Literal::Vector<float>({3, 9, 1, 7}), Literal::Scalar<float>(-1),
       Literal::Scalar<int32_t>(-1)},
      {});
  ASSERT_OK(results);
  EXPECT_THAT(*(*results)[0]->Fetch({}).Await(),
              LiteralBitEquals(Literal::Vector<float>({9, 7})));
  EXPECT_THAT(*(*results)[1]->Fetch({}).Await(),
              LiteralBitEquals(Literal::Vector<int32_t>({1, 3})));
}

TEST(Lower, PrecisionSaysWhetherProductsMayGiveUpBits) {
  const auto numerics = [](absl::string_view precisions) {
    std::string body;
    for (const absl::string_view one : absl::StrSplit(precisions, ';')) {
      absl::StrAppend(&body, "%", body.size(),
                      " = stablehlo.dot_general %a, %a, contracting_dims = "
                      "[0] x [0]",
                      one,
                      " : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>\n");
    }
    const auto lowered = ReadProgram(MainOf("%a: tensor<4xf32>", "tensor<f32>",
                                            body + "return %0 : tensor<f32>"));
    EXPECT_OK(lowered);
    return lowered.ok() ? lowered->numerics : runtime::Numerics::kStrict;
  };
  EXPECT_EQ(numerics(", precision = [DEFAULT, DEFAULT]"),
            runtime::Numerics::kTf32);
  EXPECT_EQ(numerics(""), runtime::Numerics::kTf32);
  EXPECT_EQ(numerics(", precision = [HIGHEST, HIGHEST]"),
            runtime::Numerics::kFast);
  EXPECT_EQ(numerics(", precision = [DEFAULT, HIGH]"),
            runtime::Numerics::kFast);
  EXPECT_EQ(numerics(", precision = [DEFAULT, DEFAULT];"
                     ", precision = [HIGHEST, HIGHEST]"),
            runtime::Numerics::kFast);
  const auto none = ReadProgram(MainOf("%a: tensor<4xf32>", "tensor<4xf32>",
                                       "return %a : tensor<4xf32>"));
  ASSERT_OK(none);
  EXPECT_EQ(none->numerics, runtime::Numerics::kFast);
}

TEST(Lower, ProductsHaveTheResultsDTypeOrWidenTheirOperandsFirst) {
  const auto dot = [](const char* a, const char* b, const char* to) {
    return LoweredText(MainOf(
        absl::StrCat("%a: tensor<4x", a, ">, %b: tensor<4x", b, ">"),
        absl::StrCat("tensor<", to, ">"),
        absl::StrCat("%0 = stablehlo.dot_general %a, %b, contracting_dims = "
                     "[0] x [0] : (tensor<4x",
                     a, ">, tensor<4x", b, ">) -> tensor<", to,
                     ">\nreturn %0 : tensor<", to, ">")));
  };
  EXPECT_THAT(dot("bf16", "bf16", "f32"),
              AllOf(HasSubstr("f32[] = dot_general(%0, %1)"),
                    HasSubstr("result_dtype=f32"), Not(HasSubstr("convert"))));
  EXPECT_THAT(dot("i8", "i8", "i32"),
              AllOf(HasSubstr("s32[] = dot_general(%0, %1)"),
                    HasSubstr("result_dtype=s32"), Not(HasSubstr("convert"))));
  EXPECT_THAT(dot("f32", "f32", "f32"), Not(HasSubstr("result_dtype")));
  EXPECT_THAT(dot("ui8", "ui8", "i32"),
              AllOf(HasSubstr("s32[4] = convert(%0)"),
                    HasSubstr("s32[] = dot_general(%2, %3)"),
                    Not(HasSubstr("result_dtype"))));
  EXPECT_THAT(dot("bf16", "f32", "f32"),
              AllOf(HasSubstr("f32[4] = convert(%0)"),
                    HasSubstr("f32[] = dot_general(%2, %1)"),
                    Not(HasSubstr("result_dtype"))));
  EXPECT_THAT(
      dot("f32", "f32", "bf16"),
      AllOf(HasSubstr("f32[] = dot_general(%0, %1)"),
            HasSubstr("bf16[] = convert(%2)"), Not(HasSubstr("result_dtype"))));
  EXPECT_THAT(
      dot("f32", "f32", "i32"),
      HasSubstr("UNIMPLEMENTED: 2:6: hawser lacks stablehlo.dot_general "
                "of f32 and f32 giving i32"));
}

TEST(Lower, ComplexNumbersAreNotClamped) {
  EXPECT_THAT(
      LoweredText(MainOf("%a: tensor<2xcomplex<f32>>", "tensor<2xcomplex<f32>>",
                         "%0 = \"stablehlo.clamp\"(%a, %a, %a) : "
                         "(tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, "
                         "tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>\n"
                         "return %0 : tensor<2xcomplex<f32>>")),
      HasSubstr("hawser lacks stablehlo.clamp of c64"));
}

TEST(Lower, RegionsMayCombineInAWiderDType) {
  EXPECT_THAT(
      LoweredText(MainOf(
          "%a: tensor<4xf32>, %z: tensor<f32>", "tensor<f64>",
          "%0 = \"stablehlo.reduce\"(%a, %z) ({ ^bb0(%l: tensor<f64>, %r: "
          "tensor<f64>): %s = stablehlo.add %l, %r : tensor<f64> "
          "stablehlo.return %s : tensor<f64> }) {dimensions = array<i64: 0>} : "
          "(tensor<4xf32>, tensor<f32>) -> tensor<f64>\n"
          "return %0 : tensor<f64>")),
      AllOf(HasSubstr("%2: f64[4] = convert(%0)"),
            HasSubstr("%3: f64[] = convert(%1)"),
            HasSubstr("f64[] = reduce(%2, %3)")));
}

TEST(Lower, CapturesAreLiftedAndConstantsCopied) {
  const std::string text = LoweredText(MainOf(
      "%n: tensor<i32>, %step: tensor<i32>", "tensor<i32>",
      "%c = stablehlo.constant dense<7> : tensor<i32>\n"
      "%r = stablehlo.while(%i = %n) : tensor<i32> cond {\n"
      "  %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\n"
      "  stablehlo.return %p : tensor<i1>\n"
      "} do {\n"
      "  %j = stablehlo.add %i, %step : tensor<i32>\n"
      "  stablehlo.return %j : tensor<i32>\n"
      "}\nreturn %r : tensor<i32>"));
  EXPECT_THAT(text, AllOf(HasSubstr("while(%0, %1) num_invariant=1"),
                          HasSubstr("%2: s32[] = constant() value=s32[] {7}"),
                          HasSubstr("%3: s32[] = add(%0, %1)")));
}

TEST(Lower, IfTakesItsFirstBranchWhereTrue) {
  const std::string program = MainOf(
      "%p: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>", "tensor<f32>",
      "%r = \"stablehlo.if\"(%p) ({ stablehlo.return %a : tensor<f32> }, "
      "{ stablehlo.return %b : tensor<f32> }) : (tensor<i1>) -> tensor<f32>\n"
      "return %r : tensor<f32>");
  EXPECT_THAT(LoweredText(program), AllOf(HasSubstr("%3: bool[] = not(%0)"),
                                          HasSubstr("%4: s32[] = convert(%3)"),
                                          HasSubstr("case(%4, %1, %2)")));
}

TEST(Lower, BatchAxesOfGatherBecomeComponents) {
  const std::string program = MainOf(
      "%x: tensor<2x5xf32>, %i: tensor<2x3x1xi32>", "tensor<2x3xf32>",
      "%0 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = "
      "#stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = "
      "[0], start_indices_batching_dims = [0], start_index_map = [1], "
      "index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : "
      "(tensor<2x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>\n"
      "return %0 : tensor<2x3xf32>");
  EXPECT_THAT(LoweredText(program),
              AllOf(HasSubstr("iota() dims=[2,3,1] dtype=s32 iota_dimension=0"),
                    HasSubstr("collapsed_slice_dims=[0,1]"),
                    HasSubstr("start_index_map=[1,0]")));
}

TEST(Lower, SortsGoAlongTheLastAxisUnlessTheySayAnother) {
  const auto sort = [](const char* attributes) {
    return LoweredText(
        MainOf("%a: tensor<2x3xf32>", "tensor<2x3xf32>",
               absl::StrCat("%0 = \"stablehlo.sort\"(%a) ", attributes,
                            "({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
                            "%1 = stablehlo.compare LT, %x, %y : (tensor<f32>, "
                            "tensor<f32>) -> tensor<i1>\n"
                            "stablehlo.return %1 : tensor<i1>\n"
                            "}) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                            "return %0 : tensor<2x3xf32>")));
  };
  EXPECT_THAT(sort(""), HasSubstr("= sort(%0) dimension=1"));
  EXPECT_THAT(sort("<{dimension = 0 : i64}> "),
              HasSubstr("= sort(%0) dimension=0"));
  EXPECT_THAT(LoweredText(MainOf(
                  "%a: tensor<5x3xf32>", "tensor<5x2xf32>, tensor<5x2xi32>",
                  "%v, %i = chlo.top_k(%a, k = 2) : tensor<5x3xf32> -> "
                  "(tensor<5x2xf32>, tensor<5x2xi32>)\n"
                  "return %v, %i : tensor<5x2xf32>, tensor<5x2xi32>")),
              AllOf(HasSubstr("= sort(%0, %1) dimension=1"),
                    HasSubstr("limit_indices=[5,2]")));
}

std::string Window(const char* padding, const char* sizes,
                   const char* more = "") {
  return MainOf(
      "%a: tensor<8x9xf32>", "tensor<8x9xf32>",
      absl::StrCat("%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                   "%0 = \"stablehlo.reduce_window\"(%a, %z) <{padding = ",
                   padding, ", window_dimensions = array<i64: ", sizes, ">",
                   more,
                   "}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
                   "%1 = stablehlo.add %x, %y : tensor<f32>\n"
                   "stablehlo.return %1 : tensor<f32>\n"
                   "}) : (tensor<8x9xf32>, tensor<f32>) -> tensor<8x9xf32>\n"
                   "return %0 : tensor<8x9xf32>"));
}

TEST(Lower, WindowsOfAllBeforeOrBehindAreScans) {
  EXPECT_THAT(
      LoweredText(Window("dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>", "8, 1")),
      HasSubstr("= scan(%0) dimension=0"));
  EXPECT_THAT(
      LoweredText(Window("dense<[[0, 0], [0, 8]]> : tensor<2x2xi64>", "1, 9")),
      HasSubstr("= scan(%0) dimension=1 reverse=true"));
}

// As JAX writes them: the initial value is a constant that is broadcast.
TEST(Lower, WindowsThatBeginNeutralAreOneScan) {
  std::string program =
      Window("dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>", "8, 1");
  program = absl::StrReplaceAll(
      program, {{"%z = stablehlo.constant dense<0.0> : tensor<f32>\n",
                 "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                 "%z = stablehlo.broadcast_in_dim %c, dims = [] : "
                 "(tensor<f32>) -> tensor<f32>\n"}});
  const std::string text = LoweredText(program);
  EXPECT_THAT(text, HasSubstr("= scan(%0) dimension=0"));
  EXPECT_EQ(text.find("concatenate"), std::string::npos) << text;
}

// Regions that give nothing, or something else than a window folds.
TEST(Lower, WrongRegionsOfWindowsAndScattersAreErrors) {
  const std::string scatter =
      "%0 = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
      "#stablehlo.scatter<inserted_window_dims = [0], "
      "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
      "({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\nstablehlo.return\n}) : "
      "(tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>\n"
      "return %0 : tensor<4xf32>";
  EXPECT_THAT(LoweredText(MainOf("%a: tensor<4xf32>, %i: tensor<2x1xi32>, "
                                 "%u: tensor<2xf32>",
                                 "tensor<4xf32>", scatter)),
              StartsWith("ERROR"));
  std::string window =
      Window("dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>", "8, 1");
  window = absl::StrReplaceAll(
      window, {{"stablehlo.return %1 : tensor<f32>", "stablehlo.return"}});
  EXPECT_THAT(LoweredText(window), StartsWith("ERROR"));
  window = absl::StrReplaceAll(
      Window("dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>", "8, 1"),
      {{"%1 = stablehlo.add %x, %y : tensor<f32>\n",
        "%1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> "
        "tensor<i1>\n"},
       {"stablehlo.return %1 : tensor<f32>",
        "stablehlo.return %1 : tensor<i1>"}});
  EXPECT_THAT(LoweredText(window), StartsWith("ERROR"));
}

TEST(Lower, OtherWindowsAreReduced) {
  for (const std::string& other :
       {Window("dense<[[3, 4], [0, 0]]> : tensor<2x2xi64>", "8, 1"),
        Window("dense<[[7, 0], [8, 0]]> : tensor<2x2xi64>", "8, 9"),
        Window("dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>", "3, 1"),
        Window("dense<[[14, 0], [0, 0]]> : tensor<2x2xi64>", "8, 1",
               ", window_dilations = array<i64: 2, 1>")}) {
    EXPECT_THAT(LoweredText(other),
                AllOf(HasSubstr("= unfold(%2)"), HasSubstr("= reduce(")));
  }
}

TEST(Lower, WindowsThatDoNotFitAreNamed) {
  const char* const none = "dense<0> : tensor<2x2xi64>";
  EXPECT_THAT(LoweredText(Window(none, "8, 1, 1")),
              AllOf(HasSubstr("INVALID_ARGUMENT"),
                    HasSubstr("window_dimensions must hold 2 numbers")));
  EXPECT_THAT(LoweredText(Window(none, "0, 1")),
              HasSubstr("window_dimensions holds 0, must be at least 1"));
  EXPECT_THAT(
      LoweredText(Window(none, "2, 1", ", window_strides = array<i64: -1, 1>")),
      HasSubstr("window_strides holds -1, must be at least 1"));
  EXPECT_THAT(
      LoweredText(
          Window("dense<4611686018427387904> : tensor<2x2xi64>", "2, 1")),
      HasSubstr("padding holds 4611686018427387904, which is too much"));
  EXPECT_THAT(LoweredText(Window("dense<0> : tensor<3x2xi64>", "2, 1",
                                 ", base_dilations = array<i64: 1>")),
              HasSubstr("base_dilations must hold 2 numbers, one an axis"));
}

TEST(Lower, ConvolutionsThatDoNotFitAreNamed) {
  const auto with = [&](absl::string_view numbers, absl::string_view window,
                        absl::string_view counts) {
    return LoweredText(MainOf(
        "%x: tensor<2x3x9xf32>, %w: tensor<12x1x3xf32>", "tensor<2x12x5xf32>",
        absl::StrCat("%0 = stablehlo.convolution(%x, %w) dim_numbers = ",
                     numbers, ", window = {", window, "} {", counts,
                     "} : (tensor<2x3x9xf32>, tensor<12x1x3xf32>) -> "
                     "tensor<2x12x5xf32>\nreturn %0 : tensor<2x12x5xf32>")));
  };
  const char* const right = "[b, f, 0]x[o, i, 0]->[b, f, 0]";
  const char* const groups = "feature_group_count = 3 : i64";
  EXPECT_THAT(with(right, "rhs_dilate = [2]", groups), Not(HasSubstr("ERROR")));
  EXPECT_THAT(with("[b, f, 0]x[o, i, 1]->[b, f, 0]", "", groups),
              HasSubstr("dimension_numbers must name each of 3 axes once"));
  EXPECT_THAT(with("[b, f, 0]x[o, i, 0]", "", groups),
              HasSubstr("dimension_numbers are not understood"));
  EXPECT_THAT(with(right, "stride = [0]", groups),
              HasSubstr("strides: 0, must be at least 1"));
  EXPECT_THAT(with(right, "stride = [1, 1]", groups),
              HasSubstr("window_strides must hold 1 numbers"));
  EXPECT_THAT(with(right, "", "feature_group_count = 2 : i64"),
              HasSubstr("2 groups divide not both 3 features and 12 results"));
  EXPECT_THAT(with(right, "", "feature_group_count = 1 : i64"),
              HasSubstr("takes 1 features, but the input f32[2,9,3] has 3"));
  EXPECT_THAT(
      with(right, "",
           "feature_group_count = 3 : i64, batch_group_count = 5 : i64"),
      HasSubstr("5 groups of batches divide not both"));
}

TEST(Lower, WindowsOfAnAxisOfOneElementAreScans) {
  EXPECT_THAT(
      LoweredText(MainOf(
          "%a: tensor<3x1xf32>, %z: tensor<f32>", "tensor<3x1xf32>",
          "%0 = \"stablehlo.reduce_window\"(%a, %z) ({ ^bb0(%l: tensor<f32>, "
          "%r: tensor<f32>): %s = stablehlo.add %l, %r : tensor<f32> "
          "stablehlo.return %s : tensor<f32> }) {window_dimensions = "
          "array<i64: 1, 1>} : (tensor<3x1xf32>, tensor<f32>) -> "
          "tensor<3x1xf32>\nreturn %0 : tensor<3x1xf32>")),
      HasSubstr("= scan(%0) dimension=1"));
}

TEST(Lower, RandomBitsTakeAStateOfAKeyAndACounter) {
  const auto bits = [](const char* state, const char* of) {
    return LoweredText(MainOf(
        absl::StrCat("%a: tensor<", state, ">"),
        absl::StrCat("tensor<", of, ">"),
        absl::StrCat("%s, %0 = stablehlo.rng_bit_generator %a, algorithm = "
                     "THREE_FRY : (tensor<",
                     state, ">) -> (tensor<", state, ">, tensor<", of,
                     ">)\nreturn %0 : tensor<", of, ">")));
  };
  EXPECT_THAT(bits("2xui64", "3xui32"), HasSubstr("u32[3] = slice("));
  EXPECT_THAT(bits("2xui64", "2x3xui64"), HasSubstr("u64[2,3] = reshape("));
  EXPECT_THAT(bits("3xui64", "3xui32"), HasSubstr("a state of u64[3]"));
  EXPECT_THAT(bits("2xui64", "3xui8"), HasSubstr("u8[3] = convert("));
  EXPECT_THAT(bits("2xui64", "3xf32"), HasSubstr("bits of f32"));
}

TEST(Lower, CompositesAndCustomCalls) {
  const std::string program =
      MainOf("%a: tensor<2xf32>", "tensor<2xf32>",
             "%0 = stablehlo.composite \"my.twice\" %a {decomposition = "
             "@twice} : (tensor<2xf32>) -> tensor<2xf32>\n"
             "%1 = stablehlo.custom_call @Sharding(%0) {api_version = 1 : i32} "
             ": (tensor<2xf32>) -> tensor<2xf32>\n"
             "return %1 : tensor<2xf32>") +
      "func.func @twice(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n"
      "  return %0 : tensor<2xf32>\n}\n";
  EXPECT_THAT(LoweredText(program), HasSubstr("%1: f32[2] = add(%0, %0)\n"
                                              "  return %1"));
}

TEST(Lower, NamesAllThatIsMissingAtOnce) {
  const std::string program =
      MainOf("%a: tensor<2xf32>, %q: tensor<4xi4>", "tensor<2xf32>",
             "%0 = \"stablehlo.nothing\"(%a) : (tensor<2xf32>) -> "
             "tensor<2xf32>\n"
             "%1 = \"stablehlo.nothing\"(%0) : (tensor<2xf32>) -> "
             "tensor<?xf32>\n"
             "%2 = stablehlo.custom_call @who(%a) : (tensor<2xf32>) -> "
             "tensor<2xf32>\n"
             "%3 = call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
             "return %3 : tensor<2xf32>") +
      "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  %0 = chlo.nothing %a : tensor<2xf32> -> tensor<2xf32>\n"
      "  return %0 : tensor<2xf32>\n}\n"
      "func.func @never_called(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  %0 = chlo.never %a : tensor<2xf32> -> tensor<2xf32>\n"
      "  return %0 : tensor<2xf32>\n}\n";
  EXPECT_THAT(
      LoweredText(program),
      AllOf(HasSubstr("UNIMPLEMENTED: 1:40: hawser lacks elements of 'i4'; "
                      "stablehlo.nothing at 2:6, 2 times; dynamic sizes at "
                      "3:6; stablehlo.custom_call @'who' at 4:6; "
                      "chlo.nothing at 9:8"),
            Not(HasSubstr("chlo.never"))));
}

TEST(Lower, RefusesWhatTheTextClaimsWrongly) {
  const struct {
    const char* ops;
    const char* error;
  } kPrograms[] = {
      {"%0 = stablehlo.add %a, %b : tensor<2xf32>", "there is no '%b'"},
      {"%0 = stablehlo.add %a, %a#1 : tensor<2xf32>", "has 1 values"},
      {"%0 = stablehlo.abs %a : tensor<2xf32>\n%0 = stablehlo.abs %a : "
       "tensor<2xf32>",
       "3:6: 'stablehlo.abs': '%0' is defined twice"},
      {"%0 = \"stablehlo.abs\"(%a) : (tensor<3xf32>) -> tensor<3xf32>",
       "operand 0 is f32[2], the text says f32[3]"},
      {"%0 = stablehlo.transpose %a, dims = [1] : (tensor<2xf32>) -> "
       "tensor<2xf32>",
       "transpose: C1"},
      {"%0 = stablehlo.transpose %a, dims = \"x\" : (tensor<2xf32>) -> "
       "tensor<2xf32>",
       "attribute 'permutation' is no list of integers"},
      {"return %a : tensor<3xf32>",
       "2:1: 'func.return': operand 0 is f32[2], the text says f32[3]"},
      {"%0 = call @nobody(%a) : (tensor<2xf32>) -> tensor<2xf32>",
       "there is no function 'nobody'"},
      {"\"stablehlo.reduce\"(%a, %a) ({}) : (tensor<2xf32>, tensor<2xf32>) "
       "-> ()",
       "reduce: C"},
      {"\"stablehlo.iota\"() : () -> ()", "has no result"},
      {"%0 = \"stablehlo.constant\"() : () -> tensor<f32>", "has no value"},
  };
  for (const auto& p : kPrograms) {
    EXPECT_THAT(ReadProgram(MainOf("%a: tensor<2xf32>", "tensor<2xf32>",
                                   std::string(p.ops) + "\nreturn %a : "
                                                        "tensor<2xf32>")),
                StatusIs(absl::StatusCode::kInvalidArgument, p.error))
        << p.ops;
  }
  EXPECT_THAT(ReadProgram("module {}"),
              StatusIs(absl::StatusCode::kNotFound, "no function 'main'"));
}

TEST(Lower, ChecksAreForCheckAlone) {
  const std::string program =
      MainOf("", "",
             "%0 = stablehlo.constant dense<1> : tensor<i32>\n"
             "check.expect_eq %0, %0 : tensor<i32>\nreturn");
  EXPECT_THAT(ReadProgram(program),
              StatusIs(absl::StatusCode::kUnimplemented, "`hawser check`"));
  const auto tree = ReadText(program);
  ASSERT_OK(tree);
  EXPECT_EQ(SelfCheckingFunctions(*tree),
            std::vector<absl::string_view>{"main"});
  const auto checked = LowerChecks(*tree, "main");
  ASSERT_OK(checked);
  EXPECT_EQ(checked->checks.size(), 1u);
  EXPECT_EQ(checked->module.signature().results.size(), 2u);
}

}  // namespace
}  // namespace hawser::stablehlo
