// Einsum beside sums of integers, element by element, and its order beside all.
#include "client/sdk/ops/linalg/einsum.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/sdk/ops/linalg/einsum_spec.h"
#include "tests/client/sdk/values.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

using sdk::EinsumPair;
using sdk::EinsumSpec;

// Small whole numbers.
Literal Whole(const Dims& dims, Random& random) {
  Literal out = Literal::Zeros(Shape::Of(DType::kS64, dims));
  for (int64_t& x : out.mutable_data<int64_t>()) x = random.Between(-4, 4);
  return out;
}

// A spec of letters alone and the sizes of them.
struct Drawn {
  std::vector<std::string> terms;
  std::string result;
  std::map<char, int64_t> sizes;

  std::string text() const {
    return absl::StrCat(absl::StrJoin(terms, ","), "->", result);
  }
  Dims DimsOf(const std::string& term) const {
    Dims dims;
    for (const char c : term) dims.push_back(sizes.at(c));
    return dims;
  }
};

Drawn Draw(Random& random, int most) {
  Drawn drawn;
  std::set<char> letters;
  for (int64_t n = random.Between(1, most); n > 0; --n) {
    std::string term;
    for (int64_t k = random.Between(0, 4); k > 0; --k) {
      term += static_cast<char>('a' + random.Below(6));
    }
    letters.insert(term.begin(), term.end());
    drawn.terms.push_back(std::move(term));
  }
  for (const char c : letters) {
    drawn.sizes[c] = random.Between(1, 3);
    if (random.OneIn(2)) continue;
    drawn.result.insert(random.Below(drawn.result.size() + 1), 1, c);
  }
  return drawn;
}

// By the definition: a sum over all values of all letters.
Literal ByDefinition(const Drawn& drawn, const std::vector<Literal>& values) {
  Literal out =
      Literal::Zeros(Shape::Of(DType::kS64, drawn.DimsOf(drawn.result)));
  std::map<char, int64_t> at;
  const auto place = [&](const std::string& term) {
    int64_t place = 0;
    for (const char c : term) place = place * drawn.sizes.at(c) + at.at(c);
    return place;
  };
  const std::function<void(std::map<char, int64_t>::const_iterator)> each =
      [&](std::map<char, int64_t>::const_iterator letter) {
        if (letter != drawn.sizes.end()) {
          for (int64_t i = 0; i < letter->second; ++i) {
            at[letter->first] = i;
            each(std::next(letter));
          }
          return;
        }
        int64_t product = 1;
        for (size_t t = 0; t < values.size(); ++t) {
          product *= values[t].data<int64_t>()[place(drawn.terms[t])];
        }
        out.mutable_data<int64_t>()[place(drawn.result)] += product;
      };
  each(drawn.sizes.begin());
  return out;
}

TEST(EinsumTest, GivesItsDefinition) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Drawn drawn = Draw(random, 4);
    std::vector<Literal> values;
    std::vector<Tensor> tensors;
    for (const std::string& term : drawn.terms) {
      values.push_back(Whole(drawn.DimsOf(term), random));
      tensors.push_back(Constant(values.back()));
    }
    const auto got = Einsum(drawn.text(), tensors).Fetch();
    ASSERT_OK(got) << drawn.text() << ", seed " << seed;
    EXPECT_THAT(*got, LiteralEquals(ByDefinition(drawn, values)))
        << drawn.text() << ", seed " << seed;
  }
}

TEST(EinsumTest, WithoutAnArrowTheResultHasLettersThatStandOnce) {
  const Tensor x = TN<int32_t>({1, 2, 3, 4}, {2, 2});
  const Tensor y = TN<int32_t>({5, 6, 7, 8}, {2, 2});
  EXPECT_VALUE(Einsum("ij,jk", {x, y}),
               Literal::Of<int32_t>({19, 22, 43, 50}, {2, 2}));
  EXPECT_VALUE(Einsum("ba", {x}), Literal::Of<int32_t>({1, 3, 2, 4}, {2, 2}));
  EXPECT_VALUE(Einsum("ii", {x}), Literal::Scalar<int32_t>(5));
  EXPECT_VALUE(Einsum("ij , ij", {x, y}), Literal::Scalar<int32_t>(70));
}

TEST(EinsumTest, DotsBroadcast) {
  const Tensor x = TN<int32_t>({1, 2, 3, 4}, {2, 1, 2});
  const Tensor y = TN<int32_t>({1, 0, 0, 1, 2, 0, 0, 2}, {2, 2, 2});
  EXPECT_VALUE(Einsum("...i,...ij->...j", {x, y}),
               Literal::Of<int32_t>({1, 2, 2, 4, 3, 4, 6, 8}, {2, 2, 2}));
  EXPECT_VALUE(Einsum("...i->i...", {x}),
               Literal::Of<int32_t>({1, 3, 2, 4}, {2, 2, 1}));
  EXPECT_VALUE(Einsum("...,...", {x, Constant(Literal::Scalar<int32_t>(3))}),
               Literal::Of<int32_t>({3, 6, 9, 12}, {2, 1, 2}));
}

TEST(EinsumTest, DTypesPromote) {
  const Tensor flags = TN<bool>({true, false, true, true}, {2, 2});
  EXPECT_VALUE(Einsum("ij->i", {flags}), Literal::Vector<uint8_t>({1, 2}));
  const Tensor x = TN<float>({1, 2, 3, 4}, {2, 2});
  EXPECT_VALUE(Einsum("ij,ij->j", {flags, x}), Literal::Vector<float>({4, 4}));
  EXPECT_EQ(
      Einsum("ij,jk", {Convert(x, DType::kBF16), Convert(x, DType::kBF16)},
             {.dtype = DType::kF32})
          .dtype(),
      DType::kF32);
}

// d/dx of the sum of a product is the sum of the others.
TEST(EinsumTest, HasAGradient) {
  const auto loss = [](Tensor x, Tensor y, Tensor z) {
    return Einsum("ij,jk,ki->", {x, y, z});
  };
  const Tensor x = TN<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = TN<float>({1, 0, 2, 1, 0, 1}, {3, 2});
  const Tensor z = TN<float>({2, 1, 0, 3}, {2, 2});
  EXPECT_VALUE(Grad(loss)(x, y, z),
               Literal::Of<float>({2, 4, 0, 1, 5, 3}, {2, 3}));
}

TEST(EinsumTest, ErrorsNameTheLetterAndBothSizes) {
  const Tensor x = Zeros(DType::kF32, {2, 3}), y = Zeros(DType::kF32, {4, 5});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"ij,jk", "j has sizes 3 and 4"},
      {"ii,jk", "i has sizes 2 and 3"},
      {"ij,kl->m", "the result has m, which no tensor has"},
      {"ij,kl->ii", "the result has i twice"},
      {"ijk,lm", "\"ijk\" does not fit f32[2,3]"},
      {"i,jk", "\"i\" does not fit f32[2,3]"},
      {"ij", "is of 1 tensors, and 2 are given"},
      {"i1,jk", "something else than letters"},
      {"ij,kl->i->j", "has -> twice"},
      {"......,kl", "has ... twice"},
      {"...j,kl->j", "the result lacks the axes of ..."},
      {"...,...", "axis -2 of ... has sizes 2 and 4"}};
  for (const auto& [spec, error] : cases) {
    EXPECT_THAT(Einsum(spec, {x, y}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, error))
        << spec;
  }
  EXPECT_THAT(Einsum("", {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "is of 1 tensors"));
}

// The fewest products over all orders, by trying all of them.
double Least(const EinsumSpec& spec, std::vector<EinsumPair>* pairs) {
  const size_t left = spec.operands.size() - pairs->size();
  if (left < 2) return sdk::EinsumCost(spec, *pairs);
  double least = HUGE_VAL;
  for (size_t b = 1; b < left; ++b) {
    for (size_t a = 0; a < b; ++a) {
      pairs->push_back({a, b});
      least = std::min(least, Least(spec, pairs));
      pairs->pop_back();
    }
  }
  return least;
}

TEST(EinsumTest, OfAFewTensorsTheOrderIsTheBest) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const Drawn drawn = Draw(random, 5);
    std::vector<Shape> shapes;
    for (const std::string& term : drawn.terms) {
      shapes.push_back(Shape::Of(DType::kF32, drawn.DimsOf(term)));
    }
    const auto spec = sdk::ParseEinsum(drawn.text(), shapes);
    ASSERT_OK(spec);
    std::vector<EinsumPair> none;
    EXPECT_EQ(sdk::EinsumCost(*spec, sdk::EinsumOrder(*spec)),
              Least(*spec, &none))
        << drawn.text();
  }
}

// A chain whose ends are narrow: from the left it takes 3,000 products, and a
// greedy order of ten tensors no more.
TEST(EinsumTest, OfManyTensorsTheOrderIsGood) {
  std::string text = "a";
  std::vector<Shape> shapes = {Shape::Of(DType::kF32, {2})};
  for (char c = 'a'; c < 'j'; ++c) {
    absl::StrAppend(&text, ",", std::string{c, static_cast<char>(c + 1)});
    shapes.push_back(Shape::Of(DType::kF32, {c == 'a' ? 2 : 10, 10}));
  }
  const auto spec = sdk::ParseEinsum(text + "->j", shapes);
  ASSERT_OK(spec);
  EXPECT_EQ(sdk::EinsumCost(*spec, sdk::EinsumOrder(*spec)), 20 + 8 * 100);
}

}  // namespace
}  // namespace hawser
