// Values in and out: Constant of braces and vectors, Item, ToVector, KeepError,
// printing.
#include <type_traits>
#include <complex>
#include <limits>
#include <sstream>
#include <tuple>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

std::string Printed(const Tensor& t) {
  std::ostringstream text;
  text << t;
  return text.str();
}

TEST(Constant, OfBraces) {
  EXPECT_VALUE(Constant({1.f, 2.f}), F({1, 2}));
  EXPECT_VALUE(Constant({{1.f, 2.f}, {3.f, 4.f}}),
               Literal::Of<float>({1, 2, 3, 4}, {2, 2}));
  EXPECT_VALUE(Constant({{{1, 2}}, {{3, 4}}, {{5, 6}}}),
               Literal::Of<int32_t>({1, 2, 3, 4, 5, 6}, {3, 1, 2}));
  EXPECT_VALUE(Constant({{7}}), Literal::Of<int32_t>({7}, {1, 1}));
  EXPECT_VALUE(Constant({true, false}), Literal::Vector<bool>({true, false}));
  EXPECT_VALUE(Constant({0.5, 1.5}), F({0.5f, 1.5f}));  // as Scalar(0.5)
  EXPECT_EQ(Constant({std::complex<double>(1, 2)}).dtype(), DType::kC64);
  EXPECT_EQ(Constant({int64_t{1}}).dtype(), DType::kS64);
  EXPECT_VALUE(Constant({kNan, -kInf}), F({kNan, -kInf}));
}

TEST(Constant, OfVectors) {
  EXPECT_VALUE(Constant(std::vector<double>{0.1, 0.2}),
               Literal::Vector<double>({0.1, 0.2}));
  EXPECT_VALUE(Constant(std::vector<bool>{true, false, true}),
               Literal::Vector<bool>({true, false, true}));
  EXPECT_VALUE(Constant(std::vector<std::vector<int32_t>>{{1, 2}, {3, 4}}),
               Literal::Of<int32_t>({1, 2, 3, 4}, {2, 2}));
  EXPECT_VALUE(Constant(std::vector<float>{}), F({}));
  EXPECT_EQ(Constant(std::vector<std::vector<float>>{}).shape(),
            Shape::Of(DType::kF32, {0, 0}));
  EXPECT_EQ(Constant(std::vector<std::vector<float>>{{}, {}}).shape(),
            Shape::Of(DType::kF32, {2, 0}));
}

TEST(Constant, ListsOfDifferentSizesAreAnError) {
  const auto is_ragged =
      StatusIs(StatusCode::kInvalidArgument,
               "Constant: axis 1 has lists of 2 and of 1 entries (at ");
  EXPECT_THAT(Constant({{1, 2}, {3}}).status(), is_ragged);
  EXPECT_THAT(Constant(std::vector<std::vector<int>>{{1, 2}, {3}}).status(),
              is_ragged);
}

TEST(Item, IsTheOneElement) {
  EXPECT_EQ(*Scalar(2.5).Item<float>(), 2.5f);
  EXPECT_EQ(*Constant({{int64_t{7}}}).Item<int64_t>(), 7);
  EXPECT_EQ(*Sum(Constant({1, 2, 3})).Item<int32_t>(), 6);
  EXPECT_EQ(*Eq(Scalar(1), 1).Item<bool>(), true);
  EXPECT_EQ(*Scalar(DType::kBF16, 1.5).Item<BFloat16>(), 1.5f);
}

TEST(Item, RefusesOtherTypesAndOtherNumbersOfElements) {
  EXPECT_THAT(Scalar(2.5).Item<double>(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Item<f64> of f32[]: the types differ, and nothing is "
                       "converted; use Convert (at "));
  EXPECT_THAT(Scalar(2.5).Item<double>(),
              StatusIs(StatusCode::kInvalidArgument, "value_test.cc:"));
  EXPECT_THAT(Constant({1, 2}).Item<int32_t>(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Item<s32> of s32[2]: there is not exactly one"));
  EXPECT_THAT(Zeros(DType::kF32, {0}).Item<float>(),
              StatusIs(StatusCode::kInvalidArgument, "exactly one element"));
  EXPECT_THAT(Tensor().Item<float>(),
              StatusIs(StatusCode::kFailedPrecondition, "never given"));
  const Tensor broken = Reshape(Scalar(1), {7});
  EXPECT_EQ(broken.Item<float>().status(), broken.status());
  EXPECT_EQ(broken.ToVector<float>().status(), broken.status());
}

TEST(ToVector, GivesTheElementsInOrder) {
  EXPECT_EQ(*Constant({{1, 2}, {3, 4}}).ToVector<int32_t>(),
            (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(*(Constant({1, 2}) < 2).ToVector<bool>(),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(*Zeros(DType::kF32, {0, 3}).ToVector<float>(),
            std::vector<float>());
  EXPECT_EQ(*Scalar(1).ToVector<int32_t>(), std::vector<int32_t>{1});
  EXPECT_THAT(Constant({1, 2}).ToVector<float>(),
              StatusIs(StatusCode::kInvalidArgument,
                       "ToVector<f32> of s32[2]: the types differ"));
}

TEST(ToVector, MayBeLoopedOverWhereItIsMade) {
  const Tensor x = Iota(DType::kF32, {1000});
  float next = 0;
  for (float f : *x.ToVector<float>()) EXPECT_EQ(f, next++);
  for (float f : x.ToVector<float>().value()) next -= f;
  EXPECT_EQ(next, 1000 - 499500);
  const absl::StatusOr<std::vector<float>> kept = x.ToVector<float>();
  ASSERT_OK_AND_ASSIGN(const std::vector<float> assigned, x.ToVector<float>());
  EXPECT_EQ(*kept, assigned);
}

TEST(KeepError, ChecksAResultOnce) {
  const auto f = Jit([](Tensor a, Tensor b) { return Dot(a, b); });
  const Tensor x = Constant({1.f, 2.f}), y = Constant({1.f, 2.f, 3.f});
  EXPECT_EQ(*KeepError(f(x, x)).Item<float>(), 5);
  EXPECT_EQ(*KeepError(f.Call(x, x)).Item<float>(), 5);
  const Tensor bad = KeepError(f(x, y));
  EXPECT_EQ(bad.status(), f(x, y).status());
  EXPECT_EQ((bad + 1).Item<float>().status(), bad.status());
}

TEST(KeepError, KeepsItInEachTensorOfAStructure) {
  const auto f = Jit([](Tensor a, Tensor b) {
    return std::tuple(a + b, std::pair(a, Dot(a, b)));
  });
  const Tensor x = Constant({1.f, 2.f}), y = Constant({1.f, 2.f, 3.f});
  const auto [sum, rest] = KeepError(f(x, x));
  EXPECT_VALUE(sum, F({2, 4}));
  EXPECT_EQ(*rest.second.Item<float>(), 5);
  const auto [no_sum, no_rest] = KeepError(f(x, y));
  const absl::Status error = f(x, y).status();
  EXPECT_EQ(no_sum.status(), error);
  EXPECT_EQ(no_rest.first.status(), error);
  EXPECT_EQ(no_rest.second.status(), error);
  // As the argument of the next call too.
  EXPECT_THAT(f(no_sum, x),
              StatusIs(StatusCode::kInvalidArgument, error.message()));
}

TEST(Printing, RowsOnLines) {
  EXPECT_EQ(Printed(Constant({1.5f, 2.f})), "f32[2] {1.5, 2}");
  EXPECT_EQ(Printed(Scalar(12)), "s32[] {12}");
  EXPECT_EQ(Printed(Constant({{1, 20}, {-3, 4}})),
            "s32[2,2]\n"
            "{{ 1, 20},\n"
            " {-3,  4}}");
  EXPECT_EQ(Printed(Constant({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}})),
            "s32[2,2,2]\n"
            "{{{1, 2},\n"
            "  {3, 4}},\n"
            "\n"
            " {{5, 6},\n"
            "  {7, 8}}}");
  EXPECT_EQ(Printed(Constant({{kNan, kInf}})), "f32[1,2]\n{{nan, inf}}");
  EXPECT_EQ(Printed(Constant(Literal::Of<float>({}, {0, 3}))), "f32[0,3] {}");
}

TEST(Printing, LongAxesAreElided) {
  const auto counted = [](const Dims& dims) {
    return Constant(*Iota(DType::kS32, dims).Fetch());
  };
  EXPECT_EQ(Printed(counted({100})), "s32[100] {0, 1, 2, ..., 97, 98, 99}");
  EXPECT_EQ(Printed(counted({30, 2})),
            "s32[30,2]\n"
            "{{ 0,  1},\n"
            " { 2,  3},\n"
            " { 4,  5},\n"
            " ...,\n"
            " {54, 55},\n"
            " {56, 57},\n"
            " {58, 59}}");
  EXPECT_EQ(Printed(counted({17})), "s32[17] {0, 1, 2, ..., 14, 15, 16}");
  EXPECT_EQ(Printed(counted({24, 1})).find("..."), std::string::npos);
  EXPECT_LT(Printed(counted({100, 100, 100})).size(), 3000u);
  EXPECT_LT(Printed(counted(Dims(16, 2))).size(), 1000u);
  // What would be too much is on one line; no axis of these is long.
  EXPECT_EQ(Printed(counted({10, 10, 10, 10})).find('\n'), std::string::npos);
  EXPECT_EQ(Printed(counted(Dims(5, 1))), "s32[1,1,1,1,1]\n{{{{{0}}}}}");
}

// x[0] = row would give the row to a copy: it does not compile.
static_assert(!std::is_assignable_v<Tensor, Tensor>);
static_assert(!std::is_assignable_v<Tensor&&, const Tensor&>);
static_assert(!std::is_assignable_v<decltype(std::declval<Tensor&>()[0]),
                                    Tensor>);
static_assert(std::is_assignable_v<Tensor&, Tensor>);
static_assert(std::is_assignable_v<Tensor&, const Tensor&>);
static_assert(std::is_nothrow_move_constructible_v<Tensor>);

}  // namespace
}  // namespace hawser
