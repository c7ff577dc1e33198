// Elements of every dtype as text and back, bit for bit.
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/element_text.h"
#include "core/ir/leaves.h"
#include "core/ir/text/parser.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/status_words.h"

namespace hawser {
namespace {

using ::testing::HasSubstr;

const OpDef* FindConstant(absl::string_view name) {
  return name == "constant" ? &kConstant : nullptr;
}

std::string TextOf(const Literal& value) {
  std::string text;
  AppendLiteral(value, &text);
  return text;
}

// The value of a module that holds `literal` alone.
absl::StatusOr<Literal> Parse(absl::string_view literal,
                              absl::string_view shape) {
  HAWSER_ASSIGN_OR_RETURN(
      const Module module,
      ParseModule(absl::StrCat("module \"\" computation @0 \"\" () {\n%0: ",
                               shape, " = constant() value=\n", literal,
                               "\nreturn %0 }"),
                  FindConstant));
  return module.entry().instructions()[0].attributes.GetLiteral("value");
}

void ExpectSameBits(const Literal& value) {
  const std::string text = TextOf(value);
  ASSERT_OK_AND_ASSIGN(const Literal back,
                       Parse(text, value.shape().ToString()));
  EXPECT_THAT(back, LiteralBitEquals(value));
  EXPECT_EQ(TextOf(back), text);
}

TEST(ParseLiteral, EveryDTypeAndEmptyOnes) {
  Random random(1);
  for (const DType dtype : AllDTypes()) {
    SCOPED_TRACE(DTypeName(dtype));
    ExpectSameBits(RandomLiteral(Shape::Of(dtype, {7, 11}), random));
    ExpectSameBits(RandomLiteral(Shape::Scalar(dtype), random));
    ExpectSameBits(Literal::Zeros(Shape::Of(dtype, {3, 0})));
  }
}

// All 65,536 patterns: every NaN, both zeros, subnormals, infinities.
TEST(ParseLiteral, EveryPatternOfTheHalfTypes) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    Literal all = Literal::Uninitialized(Shape::Of(dtype, {1 << 16}));
    auto* const to = reinterpret_cast<uint16_t*>(all.mutable_bytes().data());
    for (int i = 0; i < 1 << 16; ++i) to[i] = static_cast<uint16_t>(i);
    ExpectSameBits(all);
  }
}

// Edges of exponent and payload, of both signs, and random patterns.
template <typename Bits>
Literal Patterns(DType dtype, int mantissa) {
  const Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
  const Bits infinity = sign - (Bits{1} << mantissa);
  const Bits quiet = Bits{1} << (mantissa - 1);
  std::vector<Bits> bits;
  for (const Bits magnitude :
       {Bits{0}, Bits{1}, Bits(quiet - 1), Bits((Bits{1} << mantissa) - 1),
        Bits(Bits{1} << mantissa), Bits(infinity - 1), infinity,
        Bits(infinity + 1), Bits(infinity + quiet), Bits(infinity + quiet + 1),
        Bits(sign - 1)}) {
    bits.push_back(magnitude);
    bits.push_back(magnitude | sign);
  }
  Random random(7);
  while (bits.size() < 2000) bits.push_back(static_cast<Bits>(random.Bits()));
  const auto size = static_cast<int64_t>(bits.size());
  const bool complex = IsComplex(dtype);
  return *Literal::FromBytes(
      Shape::Of(dtype, {complex ? size / 2 : size}),
      absl::MakeConstSpan(reinterpret_cast<const char*>(bits.data()),
                          bits.size() * sizeof(Bits)));
}

TEST(ParseLiteral, PatternsOfTheWideTypes) {
  ExpectSameBits(Patterns<uint32_t>(DType::kF32, 23));
  ExpectSameBits(Patterns<uint32_t>(DType::kC64, 23));
  ExpectSameBits(Patterns<uint64_t>(DType::kF64, 52));
  ExpectSameBits(Patterns<uint64_t>(DType::kC128, 52));
}

TEST(AppendElement, WritesOnlyUnusualNaNsWithTheirBits) {
  const float kDefault = std::bit_cast<float>(0x7FC00000u);
  const float kNegative = std::bit_cast<float>(0xFFC00000u);
  const Literal value = Literal::Vector<float>({kDefault, kNegative, 1});
  EXPECT_EQ(TextOf(value), "f32[3] {nan, nan(0xffc00000), 1}");
  const Literal complex =
      Literal::Scalar(std::complex<float>(kNegative, -0.0f));
  EXPECT_EQ(TextOf(complex), "c64[] {(nan(0xffc00000), -0)}");
}

struct BadLiteral {
  const char* shape;
  const char* text;
  const char* message;  // behind the fourth line, where `text` stands
};

TEST(ParseLiteral, NamesTheElementThatIsWrong) {
  const BadLiteral kLiterals[] = {
      {"s8[]", "s8[] {128}", "3:7: expected an element of s8, got '128'"},
      {"u8[]", "u8[] {-1}", "3:7: expected an element of u8, got '-1'"},
      {"s32[]", "s32[] {1.0}", "3:8: expected an element of s32, got '1.0'"},
      {"s32[]", "s32[] {true}", "3:8: expected an element of s32, got 'true'"},
      {"bool[]", "bool[] {1}", "3:9: expected true or false, got '1'"},
      {"f16[]", "f16[] {65520}", "3:8: expected an element of f16, got '65520'"},
      {"f32[]", "f32[] {1e39}", "3:8: expected an element of f32, got '1e39'"},
      {"f64[]", "f64[] {1e-999}",
       "3:8: expected an element of f64, got '1e-999'"},
      {"f32[]", "f32[] {-nan}", "3:8: expected an element of f32, got '-nan'"},
      {"f32[]", "f32[] {0x10}", "3:8: expected an element of f32, got '0x10'"},
      {"f32[]", "f32[] {nan(0x7f800000)}",
       "3:12: '0x7f800000' are not the bits of a NaN of f32"},
      {"f16[]", "f16[] {nan(0x7fc00000)}",
       "3:12: expected the bits of a NaN of f16, 0x..., got '0x7fc00000'"},
      {"f32[]", "f32[] {nan(7)}",
       "3:12: expected the bits of a NaN of f32, 0x..., got '7'"},
      {"c64[]", "c64[] {1}", "3:8: expected '(', got '1'"},
      {"c64[]", "c64[] {(1)}", "3:10: expected ',', got ')'"},
      {"s32[2]", "s32[2] {1}",
       "3:10: expected ',' and element 1 of the 2 of s32[2], got '}'"},
      {"s32[2]", "s32[2] {1, 2, 3}",
       "3:13: expected '}' behind the 2 elements of s32[2], got ','"},
      {"s32[0]", "s32[0] {1}",
       "3:9: expected '}' behind the 0 elements of s32[0], got '1'"},
      {"s32[3]", "s32[3] {1, ...}",
       "3:12: expected an element of s32, got '.'"},
      {"s32[3]", "s32[3] [1, 2]", "3:8: expected '{', got '['"},
  };
  for (const BadLiteral& bad : kLiterals) {
    EXPECT_THAT(Parse(bad.text, bad.shape), StatusIs(kInvalid, bad.message))
        << bad.text;
  }
}

TEST(ParseScalar, TakesOneElementAndNothingElse) {
  EXPECT_THAT(*ParseScalar("3.5", DType::kF32),
              LiteralBitEquals(Literal::Scalar(3.5f)));
  EXPECT_THAT(*ParseScalar(" -7 ", DType::kS8),
              LiteralBitEquals(Literal::Scalar<int8_t>(-7)));
  EXPECT_THAT(*ParseScalar("0.1", DType::kBF16),
              LiteralBitEquals(Literal::Scalar(BFloat16(0.1f))));
  // Beside the middle between 1 and 1.0078125, by less than f32 and f64 see.
  for (const char* text : {"1.003906251", "1.003906250000000000000001"}) {
    EXPECT_THAT(*ParseScalar(text, DType::kBF16),
                LiteralBitEquals(Literal::Scalar(BFloat16(1.0078125f))));
  }
  EXPECT_THAT(*ParseScalar("1.003906249999999999999999", DType::kBF16),
              LiteralBitEquals(Literal::Scalar(BFloat16(1.0f))));
  EXPECT_THAT(*ParseScalar("(1, -inf)", DType::kC128),
              LiteralBitEquals(Literal::Scalar(std::complex<double>(
                  1, -std::numeric_limits<double>::infinity()))));
  EXPECT_THAT(*ParseScalar("false", DType::kBool),
              LiteralBitEquals(Literal::Scalar(false)));
  EXPECT_THAT(ParseScalar("1 2", DType::kS8),
              StatusIs(kInvalid, "expected nothing more, got '2'"));
  EXPECT_THAT(ParseScalar("", DType::kS8),
              StatusIs(kInvalid, "the end of the text"));
}

// ---- attributes no op of the registry has yet ------------------------------

absl::StatusOr<Shapes> NoResults(const InferContext&) { return Shapes(); }
constexpr AttributeSpec kEveryKind[] = {
    {"b", AttributeKind::kBool, false},    {"d", AttributeKind::kDType, false},
    {"f", AttributeKind::kFloat, false},   {"i", AttributeKind::kInt, false},
    {"l", AttributeKind::kLiteral, false}, {"n", AttributeKind::kInts, false},
    {"s", AttributeKind::kString, false},
};
constexpr OpDef kProbe{.name = "probe",
                       .attributes = kEveryKind,
                       .infer = NoResults,
                       .summary = "takes every kind of attribute"};
const OpDef* FindProbe(absl::string_view name) {
  return name == "probe" ? &kProbe : nullptr;
}

absl::StatusOr<Attributes> ParseAttributes(absl::string_view text) {
  HAWSER_ASSIGN_OR_RETURN(
      const Module module,
      ParseModule(absl::StrCat("module \"\" computation @0 \"\" () {\nprobe() ",
                               text, " probe() return }"),
                  FindProbe));
  return module.entry().instructions()[0].attributes;
}

TEST(ParseAttribute, ReadsBackEveryKind) {
  const AttributeValue kValues[] = {
      true, false, DType::kBool, DType::kC128, 1.0, -0.0, 0.1, 1e300, 5e-324,
      std::nan(""), -std::nan(""), std::bit_cast<double>(0x7FF0000000000001),
      std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(), int64_t{0},
      std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
      Literal::Scalar(true), Literal::Zeros(Shape::Of(DType::kC64, {0})),
      Dims{}, Dims{1, -2, 3}, std::string(), std::string("a \"b\"\n\0", 7)};
  for (const AttributeValue& value : kValues) {
    constexpr const char* kNames[] = {"b", "i", "f", "s", "n", "d", "l"};
    const char* name = kNames[value.index()];
    const std::string text = absl::StrCat(name, "=", AttributeToString(value));
    ASSERT_OK_AND_ASSIGN(const Attributes got, ParseAttributes(text));
    ASSERT_NE(got.Find(name), nullptr) << text;
    EXPECT_TRUE(SameAttribute(*got.Find(name), value)) << text;
  }
}

TEST(ParseAttribute, NamesWhatIsWrong) {
  const std::pair<const char*, const char*> kTexts[] = {
      {"i=9223372036854775808", "2:11: expected a number that fits 64 bits"},
      {"f=1e999", "2:11: expected an element of f64, got '1e999'"},
      {"i=12x", "2:11: expected a number that fits 64 bits, got '12x'"},
      {"i=", "2:12: unknown dtype \"probe\""},
      {"i=)", "2:11: expected the value of an attribute, got ')'"},
      {"n=[1 2]", "2:14: expected ',' or ']', got '2'"},
      {"n=[1,]", "2:14: expected an integer, got ']'"},
      {"i=1.0", "2:1: probe: attribute i is float, must be int"},
      {"f=1", "2:1: probe: attribute f is int, must be float"},
  };
  for (const auto& [text, message] : kTexts) {
    EXPECT_FALSE(ParseAttributes(text).ok()) << text;
    EXPECT_THAT(std::string(ParseAttributes(text).status().message()),
                HasSubstr(message));
  }
}

}  // namespace
}  // namespace hawser
