#include "client/cli/cases/case_codec.h"

#include <google/protobuf/text_format.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/ir/text/printer.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::cli {
namespace {

using absl::StatusCode;

v1::CaseTensor Tensor(const std::string& text) {
  v1::CaseTensor tensor;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &tensor));
  return tensor;
}

absl::StatusOr<Literal> Value(const std::string& text) {
  return ToLiteral(Tensor(text));
}

TEST(CaseTensor, EveryKindOfElement) {
  EXPECT_THAT(*Value("shape: 'bool[2]' u: [0, 1]"),
              LiteralBitEquals(Literal::Vector<bool>({false, true})));
  EXPECT_THAT(*Value("shape: 'u64[1]' u: 18446744073709551615"),
              LiteralBitEquals(Literal::Vector<uint64_t>(
                  {std::numeric_limits<uint64_t>::max()})));
  EXPECT_THAT(*Value("shape: 's64[1]' i: -9223372036854775808"),
              LiteralBitEquals(Literal::Vector<int64_t>(
                  {std::numeric_limits<int64_t>::min()})));
  EXPECT_THAT(
      *Value("shape: 'f16[2]' f: [1.5, -0]"),
      LiteralBitEquals(Literal::Vector<Half>({Half(1.5f), Half(-0.0f)})));
  EXPECT_THAT(*Value("shape: 'bf16[1]' f: -inf"),
              LiteralBitEquals(Literal::Vector<BFloat16>(
                  {BFloat16(-std::numeric_limits<float>::infinity())})));
  EXPECT_THAT(
      *Value("shape: 'f32[3]' f: [nan, inf, -0.0]"),
      LiteralEquals(Literal::Vector<float>(
          {std::nanf(""), std::numeric_limits<float>::infinity(), -0.0f})));
  EXPECT_THAT(*Value("shape: 'c64[2]' f: [1, 2, 3, -4]"),
              LiteralBitEquals(
                  Literal::Vector<std::complex<float>>({{1, 2}, {3, -4}})));
}

TEST(CaseTensor, OnlyAScalarIsWeak) {
  EXPECT_OK(Value("shape: 'f32[]' f: 1 weak: true"));
  EXPECT_THAT(Value("shape: 'f32[1]' f: 1 weak: true"),
              StatusIs(StatusCode::kInvalidArgument,
                       "f32[1] cannot be weak, it is no scalar"));
}

TEST(CaseTensor, OneValueFillsTheShape) {
  EXPECT_THAT(*Value("shape: 's32[2,2]' i: 7"),
              LiteralEquals(Literal::Of<int32_t>({7, 7, 7, 7}, {2, 2})));
  EXPECT_THAT(
      *Value("shape: 'c128[2]' f: [1, 2]"),
      LiteralEquals(Literal::Vector<std::complex<double>>({{1, 2}, {1, 2}})));
  EXPECT_EQ(Value("shape: 'f32[2,0]'")->shape().num_elements(), 0);
}

TEST(CaseTensor, RefusesWhatDoesNotFit) {
  const auto refuses = [](const char* text, const char* part) {
    EXPECT_THAT(Value(text), StatusIs(StatusCode::kInvalidArgument, part))
        << text;
  };
  refuses("shape: 'f33[2]' f: 1", "f33");
  refuses("shape: 'f32' f: 1", "f32");
  refuses("shape: 'f32[3]' f: [1, 2]", "takes 3 values or one for all, got 2");
  refuses("shape: 'f32[0]' f: 1", "takes 0 values");
  refuses("shape: 'f32[2]'", "got 0");
  refuses("shape: 'c64[2]' f: [1, 2, 3]", "half a complex number");
  refuses("shape: 'f32[1]' i: 1", "stand in f");
  refuses("shape: 's32[1]' u: 1", "stand in i");
  refuses("shape: 'u8[1]' f: 1", "stand in u");
  refuses("shape: 'u8[1]' u: 256", "256 does not fit");
  refuses("shape: 's8[1]' i: -129", "-129 does not fit");
  refuses("shape: 'bool[1]' u: 2", "2 does not fit");
}

// ---- files ----------------------------------------------------------------

constexpr char kGood[] = R"(
  source: "by hand"
  cases {
    name: "one" op: "negate"
    inputs { shape: "f32[]" f: 1 }
    outputs { shape: "f32[]" f: -1 }
  })";

TEST(CaseFile, RefusesIncompleteCases) {
  ASSERT_OK(ParseCaseFile(kGood));
  const auto refuses = [](const std::string& text, const char* part) {
    EXPECT_THAT(ParseCaseFile(text),
                StatusIs(StatusCode::kInvalidArgument, part))
        << text;
  };
  const std::string out = "outputs { shape: 'f32[]' f: 1 }";
  refuses("cases {\n  colour: 1\n}", "line 2, column");
  refuses(absl::StrCat("cases { name: 'a' op: 'negate' ", out, "}"),
          "case \"a\": needs a source");
  refuses(absl::StrCat("source: 's' cases { op: 'negate' ", out, "}"),
          "needs a name");
  refuses(absl::StrCat(kGood, std::string(kGood).substr(21)),
          "case \"one\": is there twice");
  refuses(absl::StrCat("source: 's' cases { name: 'a' ", out, "}"),
          "needs one of op, fn and module");
  refuses(
      absl::StrCat("source: 's' cases { name: 'a' op: 'x' fn: 'y' ", out, "}"),
      "needs one of op, fn and module");
  refuses("source: 's' cases { name: 'a' op: 'x' }",
          "needs either outputs or an error");
  refuses(absl::StrCat("source: 's' cases { name: 'a' op: 'x' ", out,
                       "error { code: 'INTERNAL' contains: 'x' } }"),
          "needs either outputs or an error");
  refuses("source: 's' cases { name: 'a' op: 'x' error { code: 'BAD' } }",
          "there is no status code \"BAD\"");
  refuses("source: 's' cases { name: 'a' op: 'x' error { code: 'INTERNAL' } }",
          "needs a part of the message");
}

// ---- modules --------------------------------------------------------------

absl::StatusOr<std::string> PrintedModule(const std::string& text) {
  v1::Case record;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &record));
  HAWSER_ASSIGN_OR_RETURN(Module module, ModuleOf(record));
  return Print(module);
}

TEST(CaseModule, OpWithCalledComputation) {
  ASSERT_OK_AND_ASSIGN(
      const std::string text,
      PrintedModule("name: 'sum' op: 'reduce' called: 'add' "
                    "attributes { name: 'dimensions' ints { v: 0 } } "
                    "inputs { shape: 'f32[3]' } inputs { shape: 'f32[]' }"));
  EXPECT_NE(text.find("add"), std::string::npos) << text;
  EXPECT_NE(text.find("reduce"), std::string::npos) << text;
  EXPECT_NE(text.find("dimensions"), std::string::npos) << text;
}

TEST(CaseModule, IsItsText) {
  const char kText[] =
      "module \"m\"\n"
      "computation @0 \"main\" (%0: f32[3]) {\n"
      "  %1: f32[3] = negate(%0)\n"
      "  return %1\n"
      "}\n";
  const std::string lines = absl::StrReplaceAll(kText, {{"\n", "', '"}});
  ASSERT_OK_AND_ASSIGN(const std::string text,
                       PrintedModule(absl::StrCat("module: ['", lines, "']")));
  EXPECT_EQ(text, kText);
}

TEST(CaseModule, NamesWhatIsWrong) {
  const auto refuses = [](const char* text, const char* part) {
    EXPECT_THAT(PrintedModule(text),
                StatusIs(StatusCode::kInvalidArgument, part))
        << text;
  };
  refuses("op: 'frobnicate'", "there is no op \"frobnicate\"");
  refuses("op: 'reduce' called: 'frobnicate' inputs { shape: 'f32[]' }",
          "there is no op \"frobnicate\"");
  refuses("op: 'reduce' called: 'add'", "needs an input's dtype");
  refuses("op: 'negate' inputs { shape: 'f32[' }", "f32[");
  refuses("op: 'iota' attributes { name: 'dtype' }", "dtype has no value");
  refuses("op: 'iota' attributes { name: 'dtype' dtype: 'f33' }", "f33");
  refuses("module: ['module \"m\"', 'computation 7']", "2:13: ");
}

TEST(StatusCode, ByName) {
  EXPECT_EQ(*ParseStatusCode("INVALID_ARGUMENT"), StatusCode::kInvalidArgument);
  EXPECT_EQ(*ParseStatusCode("UNAUTHENTICATED"), StatusCode::kUnauthenticated);
  EXPECT_THAT(ParseStatusCode("OK"),
              StatusIs(StatusCode::kInvalidArgument, "\"OK\""));
}

}  // namespace
}  // namespace hawser::cli
