// Print, parse, print gives the same bytes; what is wrong is named with its
// place.
#include "core/ir/text/parser.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/builder.h"
#include "core/ir/text/printer.h"
#include "core/ops/registry.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sample_modules.h"
#include "tests/testing/status_words.h"

namespace hawser {
namespace {

using ::testing::HasSubstr;

void ExpectRoundTrip(const Module& module) {
  const std::string text = Print(module);
  ASSERT_OK_AND_ASSIGN(const Module back, ParseModule(text, FindOp));
  EXPECT_EQ(Print(back), text);
  EXPECT_OK(Verify(back));
}

TEST(ParseModule, ReadsBackEverySample) {
  for (const NamedModule& sample : SampleModules()) {
    SCOPED_TRACE(sample.name);
    ExpectRoundTrip(sample.module);
  }
}

// Every op, dtype and kind of region: random_module_test sees to that.
TEST(ParseModule, ReadsBackRandomModules) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    ExpectRoundTrip(RandomModule(seed));
  }
}

TEST(ParseModule, ReadsBackNamesOfAllBytes) {
  std::string name;
  for (int c = 0; c < 256; ++c) name.push_back(static_cast<char>(c));
  Module module(name + "\\\"%d");
  ComputationBuilder builder(&module, name);
  ASSERT_OK(builder.Finish({}));
  const std::string text = Print(module);
  ASSERT_OK_AND_ASSIGN(const Module back, ParseModule(text, FindOp));
  EXPECT_EQ(back.name(), module.name());
  EXPECT_EQ(back.entry().name(), name);
  EXPECT_EQ(Print(back), text);
}

// Names of values are their numbers, so only these may differ.
TEST(ParseModule, BlanksLineEndsAndCommentsMeanNothing) {
  constexpr char kLoose[] = R"(// 3 instructions
module"m"computation@0"main"(  %0
  :f32 [ 2 , 3 ])  // the head
{%1:f32[2,3]=negate(%0)%2:f32[3,2]=transpose(%1)permutation=[1,0]
	return%2,%0 } // the end)";
  ASSERT_OK_AND_ASSIGN(const Module module, ParseModule(kLoose, FindOp));
  EXPECT_EQ(Print(module), R"(module "m"
computation @0 "main" (%0: f32[2,3]) {
  %1: f32[2,3] = negate(%0)
  %2: f32[3,2] = transpose(%1) permutation=[1,0]
  return %2, %0
}
)");
}

TEST(ParseModule, AttributesMayComeInAnyOrder) {
  constexpr char kText[] = R"(module "m"
computation @0 "main" () {
  %0: s64[2,3] = iota() iota_dimension=1 dtype=s64 dims=[2,3]
  return %0
})";
  ASSERT_OK_AND_ASSIGN(const Module module, ParseModule(kText, FindOp));
  EXPECT_THAT(Print(module),
              HasSubstr("iota() dims=[2,3] dtype=s64 iota_dimension=1\n"));
}

// A case without state has no results and begins with its op's name.
TEST(ParseModule, ReadsInstructionsWithoutResults) {
  constexpr char kText[] = R"(module "m"
computation @0 "nothing" () {
  return 
}
computation @1 "main" (%0: s32[]) {
  case(%0) @0 @0
  case(%0) @0 @0
  return %0
}
)";
  ASSERT_OK_AND_ASSIGN(const Module module, ParseModule(kText, FindOp));
  EXPECT_EQ(module.entry().instructions().size(), 3u);
  EXPECT_EQ(Print(module), kText);
}

// ---- errors ---------------------------------------------------------------

struct Bad {
  std::string text;
  absl::StatusCode code;
  const char* message;
};

void ExpectError(const Bad& bad) {
  const auto module = ParseModule(bad.text, FindOp);
  EXPECT_EQ(module.status().code(), bad.code) << bad.text;
  EXPECT_EQ(std::string(module.status().message()), bad.message) << bad.text;
}

TEST(ParseModule, NamesTheTokenAndWhatWasExpected) {
  const Bad kTexts[] = {
      {"", kInvalid, "1:1: expected 'module', got the end of the text"},
      {"graph \"m\"", kInvalid, "1:1: expected 'module', got 'graph'"},
      {"module m", kInvalid,
       "1:8: expected the module's name in quotes, got 'm'"},
      {"module \"m\"", kInvalid,
       "1:11: expected 'computation', got the end of the text"},
      {"module \"m\n\"", kInvalid,
       "1:8: expected the module's name in quotes, got a string that does not "
       "end on its line, '\\\"m'"},
      {"module \"\\q\"", kInvalid,
       "1:8: the string '\\\"\\\\q\\\"' has a bad escape: Unknown escape "
       "sequence: \\q"},
      {"module \"m\"\n computation @1", kInvalid,
       "2:14: expected '@0', the next free number, got '@1'"},
      {"module \"m\" computation @99999999999", kInvalid,
       "1:24: expected '@0', got '@99999999999'"},
      {"module \"m\" computation @0 \"c\" (%0: f32[] %1", kInvalid,
       "1:42: expected ',' or ')', got '%1'"},
      {"module \"m\" computation @0 \"c\" (%1: f32[])", kInvalid,
       "1:32: expected '%0', the next free number, got '%1'"},
      {"module \"m\" computation @0 \"c\" (%0: f32[1-2])", kInvalid,
       "1:41: expected ',' or ']', got '-2'"},
      {"module \"m\" computation @0 \"c\" (%0 f32[])", kInvalid,
       "1:35: expected ':', got 'f32'"},
      {"module \"m\" computation @0 \"c\" (%0: f32[]) { return %0 %0 }",
       kInvalid, "1:55: expected ',' or '}', got '%0'"},
      {"module \"m\" computation @0 \"c\" () { return } x", kInvalid,
       "1:45: expected 'computation', got 'x'"},
      {"\x01", kInvalid, "1:1: expected 'module', got '\\x01'"},
      {std::string(100, 'a'), kInvalid,
       "1:1: expected 'module', got "
       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
       "aaaaaaaaaaaaaaaaaaaaa...'"},
  };
  for (const Bad& bad : kTexts) ExpectError(bad);
}

// One instruction in the third line, on (%0: f32[2], %1: s32[]).
Bad InBody(absl::string_view instruction, absl::StatusCode code,
           const char* message) {
  return {absl::StrCat("module \"m\"\ncomputation @0 \"c\" (%0: f32[2], %1: "
                       "s32[]) {\n",
                       instruction, "\nreturn %0\n}\n"),
          code, message};
}

TEST(ParseModule, NamesWhatIsWrongWithAnInstruction) {
  const Bad kTexts[] = {
      InBody("%3: f32[2] = negate(%0)", kInvalid,
             "3:1: expected '%2', the next free number, got '%3'"),
      InBody("%2: f32[3] = negate(%0)", kInvalid,
             "3:1: claims %2 is f32[3], it is f32[2]"),
      InBody("%2: f32[2], %3: f32[2] = negate(%0)", kInvalid,
             "3:26: negate has 1 results, 2 are named"),
      InBody("negate(%0)", kInvalid,
             "3:1: negate has 1 results, 0 are named"),
      InBody("%2: f32[2] negate(%0)", kInvalid,
             "3:12: expected '=', got 'negate'"),
      InBody("%2: f32[2] = %0", kInvalid,
             "3:14: expected an instruction, 'return' or an op, got '%0'"),
      InBody("%2: f32[2] = frobnicate(%0)", absl::StatusCode::kUnimplemented,
             "3:14: there is no op 'frobnicate' here"),
      InBody("%2: f32[2] = parameter() dims=[2] dtype=f32", kInvalid,
             "3:14: a parameter stands in the head of its computation, not as "
             "an instruction"),
      InBody("%2: f32[2] = negate %0", kInvalid, "3:21: expected '(', got '%0'"),
      InBody("%2: f32[2] = negate(0)", kInvalid,
             "3:21: expected a value like %0, got '0'"),
      InBody("%2: f32[2] = negate(%2)", kInvalid,
             "3:21: '%2' is not one of the 2 values before it"),
      InBody("%2: f32[2] = add(%0 %0)", kInvalid,
             "3:21: expected ',' or ')', got '%0'"),
      InBody("%2: f32[2] = add(%0, %1)", kInvalid,
             "3:14: add: C2: operand 1 is s32, operand 0 is f32"),
      InBody("%2: f32[2] = add(%0)", kInvalid,
             "3:14: add: takes 2 operands, got 1"),
      InBody("%2: f32[2] = negate(%0) @0", kInvalid,
             "3:25: '@0' is not one of the 0 computations before it"),
      InBody("%2: f32[2] = negate(%0) size=1", kInvalid,
             "3:25: negate has no attribute 'size'"),
      InBody("%2: f32[2] = reshape(%0) dims=[2] dims=[2]", kInvalid,
             "3:35: attribute dims stands twice"),
      InBody("%2: f32[2] = reshape(%0)", kInvalid,
             "3:14: reshape: attribute dims is missing"),
      InBody("%2: f32[2] = reshape(%0) dims=2", kInvalid,
             "3:14: reshape: attribute dims is int, must be ints"),
  };
  for (const Bad& bad : kTexts) ExpectError(bad);
}

TEST(ParseModule, RefusesReservedDTypesAndImpossibleShapes) {
  const Bad kTexts[] = {
      InBody("%2: u4[2] = negate(%0)", absl::StatusCode::kUnimplemented, ""),
      InBody("%2: q7[2] = negate(%0)", kInvalid, ""),
      InBody("%2: f32[-1] = negate(%0)", kInvalid,
             "3:5: shape [-1] has a negative size -1"),
      InBody("%2: f32[9223372036854775807] = negate(%0)", kInvalid,
             "3:5: shape f32[9223372036854775807] is larger than 2^62 bytes"),
      InBody("%2: f32[9223372036854775808] = negate(%0)", kInvalid,
             "3:9: expected an integer, got '9223372036854775808'"),
      InBody("%2: f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] = negate(%0)",
             kInvalid, "3:5: shape has rank 17, the largest is 16"),
      InBody("%2: f32 = negate(%0)", kInvalid,
             "3:9: expected '[' and the sizes of a shape, got '='"),
      InBody("%2: f32[1.5] = negate(%0)", kInvalid,
             "3:9: expected an integer, got '1.5'"),
  };
  for (const Bad& bad : kTexts) {
    const auto module = ParseModule(bad.text, FindOp);
    EXPECT_EQ(module.status().code(), bad.code) << bad.text;
    EXPECT_THAT(std::string(module.status().message()),
                HasSubstr(bad.message[0] == '\0' ? "3:5: " : bad.message));
  }
}

// ---- limits ---------------------------------------------------------------

struct Limited {
  TextLimits limits;
  const char* message;
};

TEST(ParseModule, KeepsItsLimits) {
  constexpr char kText[] = R"(module "m"
computation @0 "a" (%0: s32[]) {
  return %0
}
computation @1 "main" (%0: s32[]) {
  %1: s32[2] = constant() value=s32[2] {1, 2}
  %2: s32[2] = reshape(%1) dims=[2]
  %3: s32[] = case(%0, %0) @0
  return %2
})";
  EXPECT_OK(ParseModule(kText, FindOp, {.bytes = 300}));
  const Limited kLimits[] = {
      {{.bytes = 100}, "text has 219 bytes, the limit is 100"},
      {{.module = {.instructions = 3}},
       "7:3: module has more than 3 instructions"},
      {{.module = {.computations = 1}},
       "5:1: module has more than 1 computations"},
      {{.module = {.operands = 3}},
       "7:24: module has more than 3 operands and results"},
      {{.module = {.constant_bytes = 7}},
       "6:33: s32[2] takes 8 bytes, the limit leaves 7 for constants"},
      {{.module = {.nesting = 1}},
       "module has 2 levels of nested computations, the limit is 1"},
      {{.module = {.elements = 1}}, "s32[2] has more than 1 elements"},
  };
  for (const Limited& row : kLimits) {
    EXPECT_THAT(ParseModule(kText, FindOp, row.limits),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         row.message));
  }
}

TEST(ParseModule, LimitsWhatCallsTakeAndGive) {
  constexpr char kText[] = R"(module "m"
computation @0 "a" (%0: s32[]) {
  return %0, %0
}
computation @1 "main" (%0: s32[]) {
  %1: s32[], %2: s32[] = case(%0, %0) @0 @0 @0 @0
  return %1
})";
  EXPECT_OK(ParseModule(kText, FindOp, {.module = {.operands = 16}}));
  EXPECT_THAT(ParseModule(kText, FindOp, {.module = {.operands = 15}}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "module has more than 15 operands in calls"));
}

TEST(ParseModule, LimitsTheNumbersInLists) {
  constexpr char kText[] = R"(module "m"
computation @0 "main" () {
  %0: f32[1,1,1] = iota() dims=[1,1,1] dtype=f32 iota_dimension=0
  return %0
})";
  EXPECT_OK(ParseModule(kText, FindOp, {.module = {.operands = 3}}));
  EXPECT_THAT(ParseModule(kText, FindOp, {.module = {.operands = 2}}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "3:37: too many numbers in lists"));
}

// A text of one kind of bracket or list; none may use the stack.
TEST(ParseModule, DoesNotRecurse) {
  for (const char* part : {"(", "[", "{", "module \"", "f32[", "// "}) {
    std::string text = "module \"m\" computation @0 \"c\" (";
    for (int i = 0; i < 300000; ++i) text += part;
    EXPECT_THAT(ParseModule(text, FindOp), StatusIs(kInvalid, "1:"));
  }
  ASSERT_OK_AND_ASSIGN(const Module chain,
                       ParseModule(Print(ChainModule(20000)), FindOp));
  EXPECT_EQ(chain.num_instructions(), 20001);
}

}  // namespace
}  // namespace hawser
