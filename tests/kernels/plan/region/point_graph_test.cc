// What is evaluated where, and whether once per result or once per turn.
#include "kernels/plan/region/point_graph.h"

#include <vector>

#include "core/ir/builder.h"
#include "core/ops/elementwise/elementwise.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Loops of 4 kept and 6 reduced turns over (-x) + x; `at` are integers.
class PointGraphs : public ::testing::Test {
 protected:
  PointGraphs() {
    ComputationBuilder b(&module_, "main");
    x_ = b.Parameter(Shape::Of(DType::kF32, {4, 6}));
    at_ = b.Parameter(Shape::Of(DType::kS32, {4, 6}));
    negated_ = b.Add(kNegate, {x_});
    sum_ = b.Add(kAdd, {negated_, x_});
    EXPECT_OK(b.Finish({sum_}));
  }

  PointGraph Graph(Dims domain = {4, 6}, int num_kept = 1) const {
    return PointGraph(module_.entry(), std::move(domain), num_kept);
  }
  int MakerOf(ValueId v) const { return module_.entry().producer(v); }
  // Whether `x` at this one index is the same in all reduced turns.
  bool IsPerResult(PointGraph* graph, const IndexExpr& index,
                   ScopeId scope = 0) const {
    const MapId map = graph->AddMap({{index}});
    return graph->point(graph->Demand(x_, map, scope, -1)).per_result;
  }

  const IndexExpr kept_ = IndexExpr::Dim(0, 4);
  const IndexExpr reduced_ = IndexExpr::Dim(1, 6);
  Module module_{"points"};
  ValueId x_, at_, negated_, sum_;
};

TEST_F(PointGraphs, EqualMapsScopesAndPointsAreOne) {
  PointGraph graph = Graph();
  const MapId map = graph.AddMap({{kept_, reduced_}});
  const MapId other = graph.AddMap({{kept_}});
  EXPECT_NE(map, other);
  EXPECT_EQ(graph.AddMap({{kept_, reduced_}}), map);
  EXPECT_EQ(graph.maps().size(), 2u);

  const Predicate inside = {kept_, {1, 3}}, always = {kept_, {0, 3}};
  EXPECT_EQ(graph.AddScope(0, {always}), 0);
  EXPECT_EQ(graph.AddScope(0, {}), 0);
  const ScopeId scope = graph.AddScope(0, {inside});
  EXPECT_NE(scope, 0);
  EXPECT_EQ(graph.AddScope(0, {always, inside}), scope);
  EXPECT_EQ(graph.AddScope(scope, {always}), scope);
  EXPECT_NE(graph.AddScope(0, {{kept_, {2, 3}}}), scope);
  const ScopeId nested = graph.AddScope(scope, {inside});
  EXPECT_NE(nested, scope);
  EXPECT_EQ(graph.scopes()[nested].parent, scope);
  EXPECT_EQ(graph.scopes()[scope].depth, 1);
  EXPECT_EQ(graph.scopes()[nested].depth, 2);

  const PointId p = graph.Demand(x_, map, 0, -1);
  EXPECT_EQ(graph.Demand(x_, map, 0, -1), p);
  EXPECT_NE(graph.Demand(x_, other, 0, -1), p);
  EXPECT_NE(graph.Demand(x_, map, scope, -1), p);
  EXPECT_NE(graph.Demand(at_, map, 0, -1), p);
  EXPECT_THAT(graph.PointsOf(x_), ElementsAre(0, 1, 2));
  EXPECT_TRUE(graph.Demanded(at_));
  EXPECT_FALSE(graph.Demanded(sum_));
  EXPECT_THAT(graph.PointsOf(sum_), IsEmpty());
}

TEST_F(PointGraphs, WhatAReducedLoopChangesIsNotPerResult) {
  PointGraph graph = Graph();
  EXPECT_TRUE(IsPerResult(&graph, kept_));
  EXPECT_TRUE(IsPerResult(&graph, IndexExpr::Constant(2)));
  EXPECT_FALSE(IsPerResult(&graph, reduced_));
  EXPECT_FALSE(IsPerResult(&graph, reduced_.FloorDiv(2)));

  const ScopeId reduced = graph.AddScope(0, {{reduced_, {1, 2}}});
  const ScopeId kept = graph.AddScope(0, {{kept_, {1, 2}}});
  EXPECT_TRUE(IsPerResult(&graph, kept_, kept));
  EXPECT_FALSE(IsPerResult(&graph, kept_, reduced));
  EXPECT_TRUE(
      IsPerResult(&graph, kept_, graph.AddScope(kept, {{kept_, {2, 3}}})));
  EXPECT_FALSE(
      IsPerResult(&graph, kept_, graph.AddScope(reduced, {{kept_, {2, 3}}})));
  EXPECT_FALSE(
      IsPerResult(&graph, kept_, graph.AddScope(kept, {{reduced_, {2, 3}}})));
  // A reduced one of several predicates.
  EXPECT_FALSE(IsPerResult(
      &graph, kept_, graph.AddScope(0, {{kept_, {1, 1}}, {reduced_, {1, 1}}})));
}

TEST_F(PointGraphs, RunTimeIndicesChangeWithWhatTheyAreReadFrom) {
  PointGraph graph = Graph();
  const auto symbol = [&](const IndexExpr& index, ScopeId scope = 0) {
    const PointId p = graph.Demand(at_, graph.AddMap({{index}}), scope, -1);
    return graph.AddSymbol(p, {0, 3});
  };
  const ScopeId reduced = graph.AddScope(0, {{reduced_, {1, 2}}});
  EXPECT_TRUE(IsPerResult(&graph, symbol(kept_)));
  EXPECT_FALSE(IsPerResult(&graph, symbol(reduced_)));
  EXPECT_FALSE(IsPerResult(&graph, symbol(kept_, reduced)));
  EXPECT_TRUE(IsPerResult(&graph, symbol(symbol(kept_))));
  EXPECT_FALSE(IsPerResult(&graph, symbol(symbol(reduced_))));
  EXPECT_FALSE(IsPerResult(&graph, kept_,
                           graph.AddScope(0, {{symbol(reduced_), {1, 2}}})));
  // Where no loop is reduced, nothing is.
  PointGraph all = Graph({4, 6}, 2);
  const PointId p = all.Demand(at_, all.AddMap({{kept_, reduced_}}), 0, -1);
  EXPECT_TRUE(IsPerResult(&all, all.AddSymbol(p, {0, 3})));
}

TEST_F(PointGraphs, AUserOfEveryTurnNeedsItsOperandsEveryTurn) {
  PointGraph graph = Graph();
  const MapId once = graph.AddMap({{kept_}}),
              always = graph.AddMap({{reduced_}});
  const PointId per_result = graph.Demand(sum_, once, 0, -1);
  const PointId per_turn = graph.Demand(sum_, always, 0, -1);
  const PointId operand = graph.Demand(x_, once, 0, -1);
  EXPECT_FALSE(graph.NeededPerTurn(operand));
  graph.Demand(x_, once, 0, per_result);
  EXPECT_FALSE(graph.NeededPerTurn(operand));
  graph.Demand(x_, once, 0, per_turn);
  EXPECT_TRUE(graph.NeededPerTurn(operand));
  EXPECT_FALSE(graph.NeededPerTurn(per_result));
}

// The first point of all is a user as any other.
TEST_F(PointGraphs, TheFirstPointNeedsItsOperandsToo) {
  PointGraph graph = Graph();
  const PointId user = graph.Demand(sum_, graph.AddMap({{reduced_}}), 0, -1);
  ASSERT_EQ(user, 0);
  const PointId operand = graph.Demand(x_, graph.AddMap({{kept_}}), 0, user);
  EXPECT_TRUE(graph.NeededPerTurn(operand));
}

TEST_F(PointGraphs, ExpandingDemandsOperandsAndTellsWhichAreNew) {
  PointGraph graph = Graph();
  const MapId map = graph.AddMap({{kept_, reduced_}});
  const PointId sum = graph.Demand(sum_, map, 0, -1);
  EXPECT_EQ(graph.point(sum).kind, Point::kLoad);
  std::vector<ValueId> fresh;
  graph.Expand(MakerOf(sum_), &fresh);
  EXPECT_THAT(fresh, ElementsAre(negated_, x_));
  EXPECT_EQ(graph.point(sum).kind, Point::kOp);
  EXPECT_THAT(graph.point(sum).operands, ElementsAre(1, 2));
  fresh.clear();
  graph.Expand(MakerOf(negated_), &fresh);
  EXPECT_THAT(fresh, IsEmpty());
  EXPECT_EQ(graph.points().size(), 3u);

  // Both places of a value are expanded; a value without a demand is not.
  PointGraph twice = Graph();
  twice.Expand(MakerOf(sum_), &fresh);
  EXPECT_THAT(twice.points(), IsEmpty());
  twice.Demand(negated_, twice.AddMap({{kept_, reduced_}}), 0, -1);
  twice.Demand(negated_, twice.AddMap({{kept_, IndexExpr()}}), 0, -1);
  twice.Expand(MakerOf(negated_), &fresh);
  EXPECT_THAT(fresh, ElementsAre(x_));
  EXPECT_THAT(twice.PointsOf(x_), ElementsAre(2, 3));
}

TEST_F(PointGraphs, EvaluationsAreTurnsOfTheLoopsThatCount) {
  PointGraph graph = Graph();
  const auto demand = [&](IndexMap map, ScopeId scope = 0) {
    return graph.point(
        graph.Demand(x_, graph.AddMap(std::move(map)), scope, -1));
  };
  const ScopeId scope = graph.AddScope(0, {{kept_, {1, 2}}});
  EXPECT_EQ(graph.Evaluations(x_), 0);
  EXPECT_EQ(graph.Evaluations(demand({{kept_, reduced_}})), 24);
  EXPECT_EQ(graph.Evaluations(demand({{kept_}})), 4);
  // The same everywhere: before the loops, but for what is behind a condition
  // or folded in them.
  Point uniform = demand({{IndexExpr::Constant(1)}});
  EXPECT_EQ(graph.Evaluations(uniform), 1);
  EXPECT_EQ(graph.Evaluations(demand({{IndexExpr::Constant(1)}}, scope)), 4);
  uniform.kind = Point::kReduce;
  EXPECT_EQ(graph.Evaluations(uniform), 4);
  EXPECT_EQ(graph.Evaluations(x_), 24 + 4 + 1 + 4);
}

TEST_F(PointGraphs, DepthOfAValueIsThatOfItsDeepestPlace) {
  PointGraph graph = Graph();
  const ScopeId one = graph.AddScope(0, {{kept_, {1, 2}}});
  const ScopeId two = graph.AddScope(one, {{reduced_, {1, 2}}});
  const MapId map = graph.AddMap({{kept_}});
  EXPECT_EQ(graph.ScopeDepth(x_), 0);
  for (const ScopeId scope : {one, two, ScopeId{0}}) {
    graph.Demand(x_, map, scope, -1);
    graph.Demand(at_, map, scope == two ? 0 : scope, -1);
  }
  EXPECT_EQ(graph.ScopeDepth(x_), 2);
  EXPECT_EQ(graph.ScopeDepth(at_), 1);
}

// One loop of 24 turns becomes 4 kept and 6 reduced ones.
TEST_F(PointGraphs, OtherLoopsMakeAllFactsAnew) {
  PointGraph graph = Graph({24}, 1);
  const IndexExpr flat = IndexExpr::Dim(0, 24);
  const auto demand = [&](ValueId v, const IndexExpr& index, ScopeId scope,
                          PointId user) {
    return graph.Demand(v, graph.AddMap({{index}}), scope, user);
  };
  const ScopeId by_row = graph.AddScope(0, {{flat.FloorDiv(6), {1, 2}}});
  const ScopeId by_element = graph.AddScope(0, {{flat, {1, 2}}});
  const PointId row = demand(x_, flat.FloorDiv(6), 0, -1);
  const PointId element = demand(x_, flat, 0, -1);
  const PointId in_row = demand(x_, flat.FloorDiv(6), by_row, -1);
  const PointId in_element = demand(x_, flat.FloorDiv(6), by_element, -1);
  const IndexExpr symbol = graph.AddSymbol(demand(at_, flat, 0, -1), {0, 3});
  const PointId behind = demand(x_, symbol, 0, -1);
  const IndexExpr next = graph.AddSymbol(demand(at_, symbol, 0, -1), {0, 3});
  const PointId behind_two = demand(x_, next, 0, -1);
  const PointId in_symbol =
      demand(x_, IndexExpr(), graph.AddScope(0, {{symbol, {1, 2}}}), -1);
  const PointId sum = demand(sum_, flat, 0, -1);
  const PointId row_sum = demand(sum_, flat.FloorDiv(6), 0, -1);
  graph.Expand(MakerOf(sum_));
  const PointId last = demand(x_, flat.Mod(6), 0, -1);
  const PointId all[] = {row,        element,   in_row, in_element, behind,
                         behind_two, in_symbol, sum,    row_sum,    last};
  for (const PointId p : all) EXPECT_TRUE(graph.point(p).per_result) << p;

  graph.ChangeDomain({4, 6}, 1, {{kept_ * 6 + reduced_}});
  EXPECT_EQ(graph.num_kept(), 1);
  EXPECT_THAT(graph.domain(), ElementsAre(4, 6));
  for (const PointId p : all) {
    EXPECT_EQ(graph.point(p).per_result,
              p == row || p == in_row || p == row_sum)
        << p;
  }
  EXPECT_EQ(graph.map(graph.point(row).map), IndexMap{{kept_}});
  EXPECT_EQ(graph.scopes()[by_row].predicates[0].value, kept_);
  EXPECT_EQ(graph.Evaluations(graph.point(row)), 4);
  EXPECT_EQ(graph.Evaluations(graph.point(element)), 24);
  // Operands of what is now done every turn.
  EXPECT_TRUE(graph.NeededPerTurn(element));
  EXPECT_FALSE(graph.NeededPerTurn(row));
  EXPECT_FALSE(graph.NeededPerTurn(sum));
  // Maps are known by what they have become.
  EXPECT_EQ(graph.AddMap({{kept_}}), graph.point(row).map);
}

// The first map and scope are as any other, and what was reduced may be kept.
TEST_F(PointGraphs, AllLoopsBecomeReducedAndKeptAgain) {
  PointGraph graph = Graph({24}, 1);
  const IndexExpr flat = IndexExpr::Dim(0, 24);
  const MapId map = graph.AddMap({{flat}});
  const ScopeId scope = graph.AddScope(0, {{flat, {1, 2}}});
  const MapId uniform = graph.AddMap({{IndexExpr()}});
  const PointId user = graph.Demand(sum_, map, 0, -1);
  const PointId operand = graph.Demand(x_, uniform, 0, user);
  const PointId inside = graph.Demand(x_, uniform, scope, -1);
  const auto facts = [&] {
    return std::vector<bool>{graph.point(user).per_result,
                             graph.point(inside).per_result,
                             graph.NeededPerTurn(operand)};
  };
  EXPECT_THAT(facts(), ElementsAre(true, true, false));
  graph.ChangeDomain({24}, 0, {{flat}});
  EXPECT_THAT(facts(), ElementsAre(false, false, false));
  graph.Demand(x_, uniform, 0, user);
  EXPECT_THAT(facts(), ElementsAre(false, false, true));
  graph.ChangeDomain({24}, 1, {{flat}});
  EXPECT_THAT(facts(), ElementsAre(true, true, false));
}

TEST_F(PointGraphs, MapsThatBecomeEqualKeepTheirNumbers) {
  PointGraph graph = Graph({4, 4}, 2);
  const MapId first = graph.AddMap({{IndexExpr::Dim(0, 4)}});
  const MapId second = graph.AddMap({{IndexExpr::Dim(1, 4)}});
  graph.ChangeDomain({4}, 1, {{kept_, kept_}});
  EXPECT_EQ(graph.map(first), graph.map(second));
  EXPECT_EQ(graph.AddMap({{kept_}}), first);
}

}  // namespace
}  // namespace hawser::plan
