#include "kernels/plan/index/index_map.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::plan {
namespace {

IndexExpr D(int index, int64_t extent) { return IndexExpr::Dim(index, extent); }

int64_t Floor(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

// The expression's value for these loop indices and symbols.
int64_t ValueOf(const IndexExpr& e, const std::vector<int64_t>& dims,
                const std::vector<int64_t>& symbols = {}) {
  int64_t value = e.constant();
  for (const IndexExpr::Term& t : e.terms()) {
    int64_t atom = 0;
    if (t.atom.kind == IndexAtom::kDim) {
      atom = dims[t.atom.index];
    } else if (t.atom.kind == IndexAtom::kSymbol) {
      atom = symbols[t.atom.index];
    } else {
      const int64_t inner = ValueOf(*t.atom.inner, dims, symbols);
      const int64_t whole = Floor(inner, t.atom.divisor);
      atom = t.atom.kind == IndexAtom::kDiv ? whole
                                            : inner - whole * t.atom.divisor;
    }
    value += t.coefficient * atom;
  }
  return value;
}

// Every tuple of loop indices below `extents`.
std::vector<std::vector<int64_t>> Turns(const Dims& extents) {
  std::vector<std::vector<int64_t>> turns = {{}};
  for (const int64_t extent : extents) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& turn : turns) {
      for (int64_t i = 0; i < extent; ++i) {
        longer.push_back(turn);
        longer.back().push_back(i);
      }
    }
    turns = std::move(longer);
  }
  return turns;
}

TEST(IndexExpr, SimplifiesToOneForm) {
  const IndexExpr a = D(0, 6), b = D(1, 4), c = D(2, 5);
  const struct {
    IndexExpr got;
    const char* want;
  } rows[] = {
      {a + a, "2*d0"},
      {a - a, "0"},
      {b + a, "d0 + d1"},
      {a * 4 + b + 3, "4*d0 + d1 + 3"},
      {D(0, 1), "0"},
      {(a * 4 + b).FloorDiv(4), "d0"},
      {(a * 4 + b).Mod(4), "d1"},
      {(a * 8 + b).FloorDiv(4), "2*d0"},
      {(a * 4 + b).FloorDiv(8), "((d0) / 2)"},
      {(a * 4 + b).Mod(8), "d1 + 4*((d0) % 2)"},
      {a.FloorDiv(6), "0"},
      {a.Mod(6), "d0"},
      {(a + 6).Mod(6), "d0"},
      {(a + 1).Mod(6), "((d0 + 1) % 6)"},
      {a.FloorDiv(4) * 4 + a.Mod(4), "d0"},
      {a.FloorDiv(2).FloorDiv(2), "((d0) / 4)"},
      {c.Mod(4).Mod(2), "((d2) % 2)"},
      {(a * -1 + 5).FloorDiv(6), "0"},
      {IndexExpr::Symbol(0, {3, 3}), "3"},
      {IndexExpr::Symbol(1, {0, 9}) + a, "d0 + s1"},
  };
  for (const auto& row : rows) EXPECT_EQ(row.got.ToString(), row.want);
}

// What may be simplified, beside what looks like it and may not.
TEST(IndexExpr, SimplifiesOnlyWhatItMay) {
  const IndexExpr x = D(0, 24), a = D(0, 6), b = D(1, 9), bit = D(1, 2);
  const IndexExpr above = IndexExpr::Symbol(0, {7, 9}),
                  below = IndexExpr::Symbol(1, {-5, -1});
  const struct {
    IndexExpr got;
    const char* want;
  } rows[] = {
      {a * 0, "0"},
      {IndexExpr::Constant(-8).FloorDiv(4), "-2"},
      {IndexExpr::Constant(-7).FloorDiv(4), "-2"},
      {x.FloorDiv(2) + x.FloorDiv(3), "((d0) / 2) + ((d0) / 3)"},
      {x.FloorDiv(3) - x.FloorDiv(2), "-((d0) / 2) + ((d0) / 3)"},
      {a - b * 2 + -3, "d0 - 2*d1 - 3"},
      {a * -1, "-d0"},
      {above.Mod(6), "s0 - 6"},
      {below.Mod(6), "s1 + 6"},
      // (g*x + r) / (g*k): every g is tried, and r has to stay below it.
      {(D(0, 2) + D(1, 5) * 4).FloorDiv(8), "((d1) / 2)"},
      {(D(0, 2) + D(1, 5) * 4).Mod(8), "d0 + 4*((d1) % 2)"},
      {(a * 2 + bit).FloorDiv(8), "((d0) / 4)"},
      {(a * 2 + bit).Mod(8), "d1 + 2*((d0) % 4)"},
      {(D(0, 2) * 2 + D(1, 5) * 6 + D(2, 3)).FloorDiv(12), "((d1) / 2)"},
      {(D(0, 2) * 2 + D(1, 5) * 6 + D(2, 3)).Mod(12),
       "2*d0 + d2 + 6*((d1) % 2)"},
      {(a * 2 + D(1, 3)).FloorDiv(8), "((2*d0 + d1) / 8)"},
      {(a * 2 + D(1, 3)).Mod(8), "((2*d0 + d1) % 8)"},
      // A quotient of a quotient, a remainder of a remainder: alone only.
      {(x.FloorDiv(2) + 1).FloorDiv(2), "((((d0) / 2) + 1) / 2)"},
      {(x.FloorDiv(2) + bit).FloorDiv(3), "((d1 + ((d0) / 2)) / 3)"},
      {(x.FloorDiv(2) * 2).FloorDiv(3), "((2*((d0) / 2)) / 3)"},
      {(x.FloorDiv(2) + b.FloorDiv(2)).FloorDiv(3),
       "((((d0) / 2) + ((d1) / 2)) / 3)"},
      {(x.Mod(6) + b.Mod(6)).Mod(3), "((((d0) % 6) + ((d1) % 6)) % 3)"},
      {x.Mod(6).FloorDiv(2), "((((d0) % 6)) / 2)"},
      {(x.Mod(6) + 1).Mod(3), "((((d0) % 6) + 1) % 3)"},
      {(x.Mod(6) + bit).Mod(3), "((d1 + ((d0) % 6)) % 3)"},
      {(x.Mod(6) * 2).Mod(3), "((2*((d0) % 6)) % 3)"},
      {x.FloorDiv(3).Mod(2), "((((d0) / 3)) % 2)"},
      {x.Mod(6).Mod(4), "((((d0) % 6)) % 4)"},
      // k * (x / k) + x % k: of the same x, and that many times.
      {a.FloorDiv(4) * 5 + a.Mod(4), "5*((d0) / 4) + ((d0) % 4)"},
      {b.FloorDiv(2) * 4 + a.Mod(4), "4*((d1) / 2) + ((d0) % 4)"},
      {a.FloorDiv(4) * 8 + a.Mod(4) * 2 + b.Mod(4) + b.FloorDiv(4) * 4,
       "2*d0 + d1"},
      {x.Mod(2) + b.Mod(4) + b.FloorDiv(4) * 4, "d1 + ((d0) % 2)"},
  };
  for (const auto& row : rows) EXPECT_EQ(row.got.ToString(), row.want);
}

TEST(IndexExpr, BoundsAreTightAndEndAt2To62) {
  const IndexExpr x = D(0, 24);
  EXPECT_EQ(x.Mod(5).bounds(), (Bounds{0, 4}));
  EXPECT_EQ(x.FloorDiv(5).bounds(), (Bounds{0, 4}));
  EXPECT_EQ((x * -2 + 1).bounds(), (Bounds{-45, 1}));
  EXPECT_EQ(IndexExpr::Symbol(0, {-8, -4}).FloorDiv(4).bounds(),
            (Bounds{-2, -1}));
  const IndexExpr far = D(0, int64_t{1} << 40) * (int64_t{1} << 30);
  EXPECT_EQ((far - far * 2).bounds(), (Bounds{-(int64_t{1} << 62), 0}));
  EXPECT_EQ(far.bounds(), (Bounds{0, int64_t{1} << 62}));
}

TEST(IndexExpr, KnowsWhatItUses) {
  const IndexExpr at = IndexExpr::Symbol(3, {0, 9});
  const IndexExpr under = (at + D(1, 5)).FloorDiv(4) + D(0, 2);
  for (const IndexExpr& e : {at, under}) {
    EXPECT_TRUE(e.UsesSymbol()) << e.ToString();
    std::vector<int> symbols;
    e.CollectSymbols(&symbols);
    EXPECT_EQ(symbols, std::vector<int>{3}) << e.ToString();
  }
  EXPECT_FALSE(D(0, 9).FloorDiv(4).UsesSymbol());
  EXPECT_TRUE(IndexExpr::Constant(3).IsConstant());
  EXPECT_FALSE((D(0, 9) + 3).IsConstant());
  EXPECT_TRUE(under.UsesDim(0));
  EXPECT_TRUE(under.UsesDim(1));
  EXPECT_FALSE(under.UsesDim(2));
  EXPECT_TRUE(under.DividesDim(1));
  EXPECT_FALSE(under.DividesDim(0));
}

TEST(IndexExpr, FormsHaveATotalOrder) {
  const IndexExpr a = D(0, 24), b = D(1, 24);
  const std::vector<IndexExpr> rising = {IndexExpr(),   a,
                                         a * 2,         b,
                                         a.FloorDiv(2), a.FloorDiv(3),
                                         b.FloorDiv(3), a + b,
                                         a + b * 2,     IndexExpr::Constant(1),
                                         a + 1};
  for (size_t i = 0; i < rising.size(); ++i) {
    for (size_t k = 0; k < rising.size(); ++k) {
      const int order = rising[i].Compare(rising[k]);
      EXPECT_EQ(order < 0, i < k) << i << " " << k;
      EXPECT_EQ(order > 0, i > k) << i << " " << k;
      EXPECT_EQ(rising[i] == rising[k], i == k) << i << " " << k;
    }
  }
}

TEST(IndexExpr, QuotientAndRemainderOfEveryOffsetComeBack) {
  for (int64_t k = 1; k <= 24; ++k) {
    const IndexExpr x = D(0, 3) * 8 + D(1, 4) * 2 + D(2, 2);
    EXPECT_EQ(x.FloorDiv(k) * k + x.Mod(k), x) << k;
  }
}

TEST(IndexExpr, SimplifyingKeepsValues) {
  Random random(7);
  const Dims extents = {3, 4, 2};
  for (int round = 0; round < 500; ++round) {
    // A random expression beside a plain evaluation of the same steps.
    std::vector<int64_t> values;
    IndexExpr e;
    const auto turns = Turns(extents);
    values.assign(turns.size(), 0);
    for (int step = 0; step < 6; ++step) {
      const int64_t k = random.Between(1, 9);
      const int dim = static_cast<int>(random.Between(0, 2));
      const int64_t kind = random.Between(0, 3);
      if (kind == 0) e = e.FloorDiv(k);
      if (kind == 1) e = e.Mod(k);
      if (kind >= 2) e = e * (k - 4) + D(dim, extents[dim]) * (k - 5);
      for (size_t t = 0; t < turns.size(); ++t) {
        int64_t& v = values[t];
        if (kind == 0) v = Floor(v, k);
        if (kind == 1) v = v - Floor(v, k) * k;
        if (kind >= 2) v = v * (k - 4) + turns[t][dim] * (k - 5);
      }
    }
    for (size_t t = 0; t < turns.size(); ++t) {
      ASSERT_EQ(ValueOf(e, turns[t]), values[t]) << e.ToString();
      ASSERT_GE(values[t], e.bounds().min) << e.ToString();
      ASSERT_LE(values[t], e.bounds().max) << e.ToString();
    }
  }
}

TEST(IndexMap, LinearAndDelinearizeAreInverse) {
  for (const Dims& from : {Dims{}, Dims{6}, Dims{2, 3, 4}, Dims{1, 24},
                           Dims{24, 1}, Dims{4, 3, 2}, Dims{2, 2, 2, 3}}) {
    const IndexMap map = IndexMap::Identity(from);
    const IndexExpr linear = map.Linear(from);
    EXPECT_EQ(Delinearize(linear, from), map) << DimsToString(from);
    int64_t size = 1;
    for (const int64_t d : from) size *= d;
    for (const Dims& to : {Dims{size}, Dims{2, size / 2}, Dims{size / 2, 2}}) {
      if (size < 2) continue;
      EXPECT_EQ(Delinearize(linear, to).Linear(to), linear)
          << DimsToString(from) << " as " << DimsToString(to);
    }
  }
}

TEST(IndexMap, ReshapeThatOnlySplitsNeedsNoDivision) {
  const Dims two = {6, 20}, three = {6, 4, 5};
  const IndexMap split =
      Delinearize(IndexMap::Identity(three).Linear(three), two);
  EXPECT_EQ(split.ToString(), "(d0, 5*d1 + d2)");
  const IndexMap joined =
      Delinearize(IndexMap::Identity(two).Linear(two), three);
  EXPECT_EQ(joined.ToString(), "(d0, ((d1) / 5), ((d1) % 5))");
}

TEST(IndexMap, SubstituteComposes) {
  // A transpose read through a transpose is the identity.
  const IndexMap transpose{{D(1, 4), D(0, 3)}};
  const IndexMap back{{D(1, 3), D(0, 4)}};
  EXPECT_EQ(transpose.Substitute(back.axes).ToString(), "(d0, d1)");
}

TEST(Predicate, KnowsWhatBoundsDecide) {
  const IndexExpr x = D(0, 8) - IndexExpr::Constant(2);
  EXPECT_TRUE((Predicate{x, {-2, 5}}.AlwaysHolds()));
  EXPECT_FALSE((Predicate{x, {0, 5}}.AlwaysHolds()));
  EXPECT_TRUE((Predicate{x, {6, 9}}.NeverHolds()));
  EXPECT_FALSE((Predicate{x, {5, 9}}.NeverHolds()));
  EXPECT_TRUE((Predicate{x, {-9, -3}}.NeverHolds()));
  EXPECT_FALSE((Predicate{x, {-9, -2}}.NeverHolds()));
  EXPECT_EQ((Predicate{x, {0, 5}}.ToString()), "0 <= d0 - 2 <= 5");
}

std::string Collapsed(const Dims& extents, std::vector<IndexExpr> offsets,
                      std::vector<IndexExpr> conditions = {},
                      std::vector<int> barriers = {}) {
  const Collapse c = CollapseLoops(extents, offsets, conditions, barriers);
  std::string text = DimsToString(c.extents);
  for (const IndexExpr& e : offsets) {
    absl::StrAppend(&text, " ", e.Substitute(c.back).ToString());
  }
  return text;
}

std::string SplitAsFound(const Dims& extents, std::vector<IndexExpr> offsets,
                         bool innermost = false) {
  Collapse loops{.extents = extents, .back = IndexMap::Identity(extents).axes};
  loops = SplitLoops(std::move(loops), offsets, innermost);
  std::string text = DimsToString(loops.extents);
  for (const IndexExpr& offset : offsets) {
    absl::StrAppend(&text, " ", offset.Substitute(loops.back).ToString());
  }
  return text;
}

TEST(SplitLoops, MakesQuotientsAndRemaindersIndices) {
  const IndexExpr a = IndexExpr::Dim(0, 12), b = IndexExpr::Dim(1, 64);
  EXPECT_EQ(SplitAsFound({12, 64}, {a.FloorDiv(3) * 64 + b, a.Mod(3)}),
            "[4,3,64] 64*d0 + d2 d1");
  // Only remainders are divided.
  EXPECT_EQ(SplitAsFound({12, 64}, {(a + 4).FloorDiv(3)}),
            "[4,3,64] d0 + ((d1 + 1) / 3) + 1");
  // By two numbers, one that does not divide the loop, and of another stride.
  EXPECT_EQ(SplitAsFound({12, 64}, {a.FloorDiv(3), a.Mod(4)}),
            "[12,64] ((d0) / 3) ((d0) % 4)");
  EXPECT_EQ(SplitAsFound({12, 64}, {a.FloorDiv(5)}), "[12,64] ((d0) / 5)");
  EXPECT_EQ(SplitAsFound({12, 64}, {(a * 2).FloorDiv(3)}),
            "[12,64] ((2*d0) / 3)");
  // The innermost loop, where rows stay long.
  EXPECT_EQ(SplitAsFound({12, 64}, {b.FloorDiv(2)}), "[12,64] ((d1) / 2)");
  EXPECT_EQ(SplitAsFound({12, 64}, {b.FloorDiv(2)}, /*innermost=*/true),
            "[12,32,2] d1");
  EXPECT_EQ(SplitAsFound({12, 64}, {b.Mod(32)}), "[12,2,32] d2");
}

TEST(CollapseLoops, MergesWhatMovesTogether) {
  const Dims e = {2, 3, 4};
  const IndexExpr a = D(0, 2), b = D(1, 3), c = D(2, 4);
  const IndexExpr all = a * 12 + b * 4 + c;
  EXPECT_EQ(Collapsed(e, {all}), "[24] d0");
  EXPECT_EQ(Collapsed(e, {all, c}), "[6,4] 4*d0 + d1 d1");
  EXPECT_EQ(Collapsed(e, {all, a}), "[2,12] 12*d0 + d1 d0");
  EXPECT_EQ(Collapsed(e, {all, IndexExpr()}), "[24] d0 0");
  EXPECT_EQ(Collapsed(e, {a + b * 2 + c * 6}), "[2,3,4] d0 + 2*d1 + 6*d2");
  EXPECT_EQ(Collapsed(e, {all}, {b + 1}), "[2,3,4] 12*d0 + 4*d1 + d2");
  EXPECT_EQ(Collapsed(e, {all}, {}, {1}), "[6,4] 4*d0 + d1");
  EXPECT_EQ(Collapsed(e, {all, c.FloorDiv(2)}), "[6,4] 4*d0 + d1 ((d1) / 2)");
  EXPECT_EQ(Collapsed(e, {all, b.FloorDiv(2)}),
            "[2,3,4] 12*d0 + 4*d1 + d2 ((d1) / 2)");
  EXPECT_EQ(Collapsed({2, 1, 4}, {a * 4 + c}, {}, {1}), "[2,4] 4*d0 + d1");
  EXPECT_EQ(Collapsed({1, 2, 4}, {D(1, 2) * 4 + c}, {}, {0}), "[8] d0");
  EXPECT_EQ(Collapsed({1, 5, 1}, {D(1, 5) * 2}), "[5] 2*d0");
  EXPECT_EQ(Collapsed({}, {IndexExpr()}), "[] 0");
  EXPECT_EQ(Collapsed({0, 4}, {D(1, 4)}), "[0,4] d1");
}

TEST(AlignmentOf, IsWhatEveryTurnShares) {
  const IndexExpr row = D(0, 8) * 12 + D(1, 12);
  EXPECT_EQ(AlignmentOf(row, 1), 4);
  EXPECT_EQ(AlignmentOf(row, -1), 1);
  EXPECT_EQ(AlignmentOf(row + 2, 1), 2);
  EXPECT_EQ(AlignmentOf(D(1, 12), 1), 1 << 20);
  EXPECT_EQ(AlignmentOf(IndexExpr::Symbol(1, {0, 9}) * 2 + D(1, 12), 1), 2);
  EXPECT_EQ(AlignmentOf(D(0, 8).FloorDiv(2) * 6 + D(1, 12), 1), 2);
}

}  // namespace
}  // namespace hawser::plan
