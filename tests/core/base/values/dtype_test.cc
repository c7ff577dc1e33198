#include "core/base/values/dtype.h"

#include <set>
#include <string>

#include "tests/testing/matchers.h"

namespace hawser {
namespace {

// The numbers are the wire's: this list is changed only by appending.
TEST(DType, NumbersAreFixed) {
  const std::pair<absl::string_view, int> kNumbers[] = {
      {"bool", 1},  {"u8", 4},    {"u16", 5},  {"u32", 6},  {"u64", 7},
      {"s8", 10},   {"s16", 11},  {"s32", 12}, {"s64", 13}, {"f16", 16},
      {"bf16", 17}, {"f32", 18},  {"f64", 19}, {"c64", 20}, {"c128", 21},
  };
  ASSERT_EQ(AllDTypes().size(), std::size(kNumbers));
  for (size_t i = 0; i < std::size(kNumbers); ++i) {
    EXPECT_EQ(DTypeName(AllDTypes()[i]), kNumbers[i].first);
    EXPECT_EQ(static_cast<int>(AllDTypes()[i]), kNumbers[i].second);
  }
}

TEST(DType, NamesAreUniqueAndParseBack) {
  std::set<absl::string_view> names;
  for (DType d : AllDTypes()) {
    EXPECT_TRUE(names.insert(DTypeName(d)).second) << DTypeName(d);
    ASSERT_OK_AND_ASSIGN(const DType parsed, ParseDType(DTypeName(d)));
    EXPECT_EQ(parsed, d);
  }
}

TEST(DType, ParseRefusesUnknownAndReserved) {
  EXPECT_THAT(ParseDType("f33"),
              StatusIs(absl::StatusCode::kInvalidArgument, "f33"));
  EXPECT_THAT(ParseDType(""),
              StatusIs(absl::StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(ParseDType("F32"),
              StatusIs(absl::StatusCode::kInvalidArgument, "F32"));
  EXPECT_THAT(ParseDType("invalid"),
              StatusIs(absl::StatusCode::kInvalidArgument, "invalid"));
  EXPECT_THAT(ParseDType("u2"),
              StatusIs(absl::StatusCode::kUnimplemented, "u2"));
}

TEST(DType, UnknownNumbersAreInvalid) {
  EXPECT_EQ(InfoOf(static_cast<DType>(kNumDTypes)).kind, DTypeKind::kInvalid);
  EXPECT_EQ(DTypeName(static_cast<DType>(255)), "invalid");
  EXPECT_EQ(ByteWidth(static_cast<DType>(200)), 0);
  EXPECT_FALSE(IsSupported(DType::kU4));
  EXPECT_FALSE(IsSupported(DType::kInvalid));
}

TEST(DType, RealPart) {
  EXPECT_EQ(RealPart(DType::kC64), DType::kF32);
  EXPECT_EQ(RealPart(DType::kC128), DType::kF64);
  EXPECT_EQ(RealPart(DType::kS8), DType::kS8);
}

TEST(DType, VisitGivesTheTypeOfItsSize) {
  for (DType d : AllDTypes()) {
    VisitDType(d, [d](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(kDTypeOf<T>, d);
      EXPECT_EQ(static_cast<int64_t>(sizeof(T)), ByteWidth(d));
      EXPECT_EQ(kIsComplex<T>, IsComplex(d));
      EXPECT_EQ(kIsFloat<T>, IsFloat(d));
      EXPECT_EQ(kIsInteger<T>, IsInteger(d));
    });
  }
}

TEST(DTypeDeathTest, VisitOfReservedDies) {
  EXPECT_DEATH(VisitDType(DType::kF8E5M2, [](auto) {}), "number 14");
}

TEST(DTypeSet, HoldsAndPrints) {
  EXPECT_TRUE(kFloats.Has(DType::kBF16));
  EXPECT_FALSE(kFloats.Has(DType::kC64));
  EXPECT_FALSE(kAnyDType.Has(DType::kInvalid));
  EXPECT_FALSE(kAnyDType.Has(DType::kU2));
  EXPECT_EQ(kFloats.ToString(), "f16, bf16, f32, f64");
  EXPECT_EQ(DTypeSet().ToString(), "");
  for (DType d : AllDTypes()) EXPECT_TRUE(kAnyDType.Has(d)) << DTypeName(d);
}

}  // namespace
}  // namespace hawser
