// The forms of the text, and what is told about texts that are none.
#include "client/stablehlo/text/reader.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/stablehlo/programs.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

using ::testing::HasSubstr;

// One op, pretty and generic.
struct Forms {
  const char* results;
  const char* pretty;
  const char* generic;
};

const Forms kForms[] = {
    {"tensor<4xf32>", "stablehlo.add %a, %a : tensor<4xf32>",
     "\"stablehlo.add\"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> "
     "tensor<4xf32>"},
    {"tensor<2xf32>",
     "stablehlo.slice %a [0:4:2] : (tensor<4xf32>) -> "
     "tensor<2xf32>",
     "\"stablehlo.slice\"(%a) <{start_indices = array<i64: 0>, limit_indices "
     "= array<i64: 4>, strides = array<i64: 2>}> : (tensor<4xf32>) -> "
     "tensor<2xf32>"},
    {"tensor<4x3xf32>",
     "stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4xf32>) -> "
     "tensor<4x3xf32>",
     "\"stablehlo.broadcast_in_dim\"(%a) {broadcast_dimensions = dense<0> : "
     "tensor<1xi64>} : (tensor<4xf32>) -> tensor<4x3xf32>"},
    {"tensor<4xi1>",
     "stablehlo.compare LT, %a, %a, FLOAT : (tensor<4xf32>, tensor<4xf32>) "
     "-> tensor<4xi1>",
     "\"stablehlo.compare\"(%a, %a) {comparison_direction = "
     "#stablehlo<comparison_direction LT>} : (tensor<4xf32>, tensor<4xf32>) "
     "-> tensor<4xi1>"},
    {"tensor<f32>",
     "stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], precision "
     "= [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>",
     "\"stablehlo.dot_general\"(%a, %a) {dot_dimension_numbers = "
     "#stablehlo.dot<lhs_contracting_dimensions = [0], "
     "rhs_contracting_dimensions = [0]>} : (tensor<4xf32>, tensor<4xf32>) -> "
     "tensor<f32>"},
    {"tensor<9xf32>",
     "stablehlo.pad %a, %z, low = [1], high = [1], interior = [1] : "
     "(tensor<4xf32>, tensor<f32>) -> tensor<9xf32>",
     "\"stablehlo.pad\"(%a, %z) {edge_padding_low = array<i64: 1>, "
     "edge_padding_high = array<i64: 1>, interior_padding = array<i64: 1>} : "
     "(tensor<4xf32>, tensor<f32>) -> tensor<9xf32>"},
    {"tensor<f32>",
     "stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions "
     "= [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>",
     "\"stablehlo.reduce\"(%a, %z) ({ ^bb0(%l: tensor<f32>, %r: "
     "tensor<f32>): %s = stablehlo.add %l, %r : tensor<f32> "
     "\"stablehlo.return\"(%s) : (tensor<f32>) -> () }) {dimensions = "
     "array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>"},
    {"tensor<4xf32>",
     "stablehlo.while(%i = %a) : tensor<4xf32> cond { %p = "
     "stablehlo.constant dense<false> : tensor<i1> stablehlo.return %p : "
     "tensor<i1> } do { stablehlo.return %i : tensor<4xf32> }",
     "\"stablehlo.while\"(%a) ({ ^bb0(%i: tensor<4xf32>): %p = "
     "\"stablehlo.constant\"() {value = dense<false> : tensor<i1>} : () -> "
     "tensor<i1> stablehlo.return %p : tensor<i1> }, { ^bb0(%i: "
     "tensor<4xf32>): stablehlo.return %i : tensor<4xf32> }) : "
     "(tensor<4xf32>) -> tensor<4xf32>"},
};

TEST(Reader, PrettyAndGenericFormsAreOneProgram) {
  for (const Forms& pair : kForms) {
    const auto program = [&](const char* op) {
      return MainOf(
          "%a: tensor<4xf32>, %z: tensor<f32>", pair.results,
          std::string("%r = ") + op + "\nreturn %r : " + pair.results);
    };
    const std::string pretty = LoweredText(program(pair.pretty));
    EXPECT_THAT(pretty, ::testing::StartsWith("module"));
    EXPECT_EQ(LoweredText(program(pair.generic)), pretty);
  }
}

TEST(Reader, AliasesPacksAndLocations) {
  const std::string program = R"mlir(
#map = affine_map<(d0) -> (d0)>
!pair = tensor<2xf32>
#loc1 = loc("model.py":12:3 to :15)
#loc2 = loc("dot"(#loc1))
module @m attributes {mhlo.frontend = {a = [1, "x"], b}} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: !pair {jax.buffer_donor = true, sdy.sharding =
      #sdy.sharding<@mesh, [{"x"}]>} loc("a.py":1:2)) -> (!pair {r = ""}) {
    %p:2 = func.call @"two <ways>"(%a) {x = #map} : (!pair) -> (!pair, !pair)
    %s = stablehlo.add %p#0, %p#1 {mhlo.sharding = "{replicated}"} : !pair loc(#loc2)
    return %s : !pair loc(#loc2)
  } loc(#loc)
  func.func private @"two <ways>"(%a: !pair) -> (!pair, !pair) {
    %n = stablehlo.negate %a : !pair
    return %n, %a : !pair, !pair
  }
  func.func private @elsewhere(tensor<f32>) -> tensor<f32>
}
#loc = loc(unknown)
)mlir";
  EXPECT_THAT(LoweredText(program), HasSubstr("%1: f32[2] = negate(%0)\n"
                                              "  %2: f32[2] = add(%1, %0)\n"
                                              "  return %2\n"));
}

TEST(Reader, ArgumentsSayThatTheyAreDonated) {
  const auto donated = [](const std::string& arguments) {
    auto lowered = ReadProgram(
        MainOf(arguments, "tensor<2xf32>", "  return %b : tensor<2xf32>"));
    EXPECT_OK(lowered);
    return lowered.ok() ? lowered->donated : std::vector<int>{-1};
  };
  EXPECT_EQ(donated("%a: tensor<2xf32>, %b: tensor<2xf32>"),
            std::vector<int>());
  EXPECT_EQ(donated("%a: tensor<2xf32> {mhlo.sharding = \"{replicated}\"}, "
                    "%b: tensor<2xf32> {tf.aliasing_output = 0 : i32} "
                    "loc(\"w\"), "
                    "%c: tensor<2xf32> {x = [1, \"}\"], jax.buffer_donor = "
                    "true}"),
            std::vector<int>({1, 2}));
}

TEST(Reader, ErrorsNameWhatWasTraced) {
  const std::string program =
      "#loc1 = loc(\"model.py\":12:3)\n" +
      MainOf("%a: tensor<2xf32>", "tensor<3xf32>",
             "%0 = stablehlo.add %a, %a : tensor<3xf32> loc(\"x\"(#loc1))\n"
             "return %0 : tensor<3xf32>");
  EXPECT_THAT(ReadProgram(program),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "3:6: 'stablehlo.add': result 0 is f32[2], the text "
                       "says f32[3] (model.py:12:3)"));
}

TEST(Reader, ErrorsSayWhatWasExpectedWhere) {
  const struct {
    const char* text;
    const char* error;
  } kTexts[] = {
      {"func.func", "1:10: expected a name that begins with '@', got the end"},
      {"func.func @f(%a: tensor<2xf32)", "1:30: expected '>', got ')'"},
      {"func.func @f() {\n  %0 = \n}", "3:1: expected an op, got '}'"},
      {"func.func @f() {\n ^bb0: ^bb1:\n}", "2:8: expected one block"},
      {"func.func @f() { ^bb0(%a: tensor<f32>: }", "expected ','"},
      {"%0:0 = foo.bar", "expected how many results"},
      {"%0 = \"foo.bar\"(%1", "expected ','"},
      {"%0 = \"foo.bar\"() : () -> ()", "has 0 results, of which 1 are named"},
      {"#a", "expected '='"},
      {"module { \"unfinished", "expected an op, got '\\\"unfinished'"},
      {"stablehlo.constant 3", "a constant has no value"},
      {"foo.bar ^bb0", "expected operands, attributes or types"},
      {"foo.bar {a = }", "expected an attribute"},
      {"foo.bar : tensor<99999999999999999999xf32>", "is too large"},
      {"{-# never", "expected '#-}'"},
  };
  for (const auto& t : kTexts) {
    EXPECT_THAT(ReadText(t.text),
                StatusIs(absl::StatusCode::kInvalidArgument, t.error))
        << t.text;
  }
}

}  // namespace
}  // namespace hawser::stablehlo
