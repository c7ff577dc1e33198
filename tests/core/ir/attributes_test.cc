#include "core/ir/attributes.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(Attributes, StaySortedByName) {
  Attributes a = {{"z", int64_t{1}}, {"a", true}, {"m", DType::kF32}};
  a.Set("b", std::string("text"));
  std::vector<std::string> names;
  for (const auto& [name, value] : a) names.emplace_back(name);
  EXPECT_THAT(names, testing::ElementsAre("a", "b", "m", "z"));
  EXPECT_EQ(a.size(), 4u);
}

TEST(Attributes, SetReplaces) {
  Attributes a = {{"n", int64_t{1}}};
  a.Set("n", int64_t{2});
  EXPECT_EQ(a.size(), 1u);
  EXPECT_EQ(a.GetInt("n"), 2);
}

TEST(Attributes, GettersFallBackOnAbsenceAndWrongKind) {
  const Attributes a = {{"n", int64_t{1}}, {"dims", Dims{2, 3}}};
  EXPECT_EQ(a.GetInt("absent", 7), 7);
  EXPECT_EQ(a.GetString("absent", "low"), "low");
  EXPECT_EQ(a.GetFloat("n", 0.5), 0.5);
  EXPECT_TRUE(a.GetBool("n", true));
  EXPECT_TRUE(a.GetInts("n").empty());
  EXPECT_EQ(a.GetDType("dims"), DType::kInvalid);
  EXPECT_THAT(a.GetInts("dims"), testing::ElementsAre(2, 3));
  EXPECT_FALSE(a.Has("absent"));
  EXPECT_EQ(a.Find("absent"), nullptr);
}

TEST(AttributesDeathTest, AbsentLiteralDies) {
  EXPECT_DEATH(Attributes().GetLiteral("value"), "nullptr");
}

// Kinds are on the wire by number; the variant's order must follow.
TEST(Attributes, KindsFollowTheVariant) {
  const AttributeValue values[] = {
      true, int64_t{1}, 1.0, std::string("s"), Dims{}, DType::kS32, Literal()};
  ASSERT_EQ(std::size(values), size_t{kNumAttributeKinds});
  for (int i = 0; i < kNumAttributeKinds; ++i) {
    EXPECT_EQ(static_cast<int>(KindOf(values[i])), i);
  }
  EXPECT_EQ(AttributeKindName(AttributeKind::kInts), "ints");
  EXPECT_EQ(AttributeKindName(static_cast<AttributeKind>(7)), "unknown");
}

TEST(AttributeToString, EveryKind) {
  EXPECT_EQ(AttributeToString(true), "true");
  EXPECT_EQ(AttributeToString(int64_t{-3}), "-3");
  EXPECT_EQ(AttributeToString(Dims{1, -2}), "[1,-2]");
  EXPECT_EQ(AttributeToString(Dims{}), "[]");
  EXPECT_EQ(AttributeToString(DType::kBF16), "bf16");
  EXPECT_EQ(AttributeToString(std::string("a\"\n")), "\"a\\\"\\n\"");
  EXPECT_EQ(AttributeToString(Literal::Vector<int32_t>({1, 2})),
            "s32[2] {1, 2}");
}

TEST(AttributeToString, FloatsDifferFromInts) {
  EXPECT_EQ(AttributeToString(1.0), "1.0");
  EXPECT_EQ(AttributeToString(0.1), "0.1");
  EXPECT_EQ(AttributeToString(-0.0), "-0.0");
  EXPECT_EQ(AttributeToString(1e30), "1e+30");
  EXPECT_EQ(AttributeToString(std::nan("")), "nan");
  EXPECT_EQ(AttributeToString(-std::numeric_limits<double>::infinity()),
            "-inf");
}

TEST(SameAttribute, ComparesBitsAndKinds) {
  EXPECT_TRUE(SameAttribute(std::nan(""), std::nan("")));
  EXPECT_FALSE(SameAttribute(0.0, -0.0));
  EXPECT_FALSE(SameAttribute(int64_t{1}, true));
  EXPECT_FALSE(SameAttribute(Dims{1}, Dims{1, 1}));
  EXPECT_TRUE(SameAttribute(Literal::Scalar(NAN), Literal::Scalar(NAN)));
  EXPECT_FALSE(SameAttribute(Literal::Scalar(0.0f), Literal::Scalar(-0.0f)));
}

TEST(SameAttributes, ComparesNamesToo) {
  const Attributes a = {{"x", int64_t{1}}, {"y", true}};
  EXPECT_TRUE(SameAttributes(a, {{"y", true}, {"x", int64_t{1}}}));
  EXPECT_FALSE(SameAttributes(a, {{"x", int64_t{1}}}));
  EXPECT_FALSE(SameAttributes(a, {{"x", int64_t{1}}, {"z", true}}));
  EXPECT_TRUE(SameAttributes({}, {}));
}

}  // namespace
}  // namespace hawser
