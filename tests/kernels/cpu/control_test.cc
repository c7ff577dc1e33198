#include "core/ops/contraction/control.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

TEST(WhileTest, CountsToItsInvariant) {
  auto count = [](int64_t from, int64_t to) {
    return *Evaluate(CountModule(), {Literal::Scalar(from),
                                     Literal::Scalar(to)});
  };
  ASSERT_EQ(count(3, 10).size(), 1);  // the invariant is no result
  EXPECT_THAT(count(3, 10)[0], LiteralEquals(Literal::Scalar<int64_t>(10)));
  EXPECT_THAT(count(5, 5)[0], LiteralEquals(Literal::Scalar<int64_t>(5)));
  EXPECT_THAT(count(9, 5)[0], LiteralEquals(Literal::Scalar<int64_t>(9)));
}

// state = (i, a, b): each turn (a, b) becomes (b, a + b), for n turns.
TEST(WhileTest, SeveralValuesOfState) {
  const Shape s = Shape::Scalar(DType::kS64);
  const BodyFn less = [](ComputationBuilder& b, absl::Span<const ValueId> v) {
    return Values{
        b.Add(kCompare, {v[0], v[3]}, {{"direction", std::string("LT")}})};
  };
  const BodyFn body = [](ComputationBuilder& b, absl::Span<const ValueId> v) {
    const ValueId one = b.Constant(Literal::Scalar<int64_t>(1));
    return Values{b.Add(kAdd, {v[0], one}), v[2], b.Add(kAdd, {v[1], v[2]})};
  };
  const std::vector<Literal> got = EvaluateAll(
      kWhile,
      {Literal::Scalar<int64_t>(0), Literal::Scalar<int64_t>(0),
       Literal::Scalar<int64_t>(1), Literal::Scalar<int64_t>(10)},
      {{"num_invariant", int64_t{1}}},
      {{{s, s, s, s}, less}, {{s, s, s, s}, body}});
  EXPECT_THAT(got[1], LiteralEquals(Literal::Scalar<int64_t>(55)));
  EXPECT_THAT(got[2], LiteralEquals(Literal::Scalar<int64_t>(89)));
}

// A body that writes one element a turn works in place, and still the caller's
// array stays as it was.
TEST(WhileTest, UpdatesInPlaceLeaveTheArgumentAlone) {
  const Shape i = Shape::Scalar(DType::kS32);
  const Shape x = Shape::Of(DType::kS32, {1000});
  const BodyFn less = [](ComputationBuilder& b, absl::Span<const ValueId> v) {
    const ValueId end = b.Constant(Literal::Scalar<int32_t>(1000));
    return Values{
        b.Add(kCompare, {v[0], end}, {{"direction", std::string("LT")}})};
  };
  const BodyFn body = [](ComputationBuilder& b, absl::Span<const ValueId> v) {
    const ValueId one = b.Constant(Literal::Scalar<int32_t>(1));
    const ValueId update = b.Add(kReshape, {v[0]}, {{"dims", Dims{1}}});
    return Values{b.Add(kAdd, {v[0], one}),
                  b.Add(kDynamicUpdateSlice, {v[1], update, v[0]})};
  };
  const Literal zeros = Full<int32_t>(0, {1000});
  const std::vector<Literal> got =
      EvaluateAll(kWhile, {Literal::Scalar<int32_t>(0), zeros}, {},
                  {{{i, x}, less}, {{i, x}, body}});
  for (int k = 0; k < 1000; ++k) {
    ASSERT_EQ(got[1].data<int32_t>()[k], k);
    ASSERT_EQ(zeros.data<int32_t>()[k], 0);
  }
}

TEST(WhileTest, ErrorsNameTheWayToTheInstruction) {
  CpuEvaluator evaluator({.memory_limit = 100});
  const Shape s = Shape::Scalar(DType::kBool);
  const Module module = OpModule(
      kWhile, {s},  {},
      {{{s}, [](ComputationBuilder&, absl::Span<const ValueId> v) {
          return Values{v[0]};
        }},
       {{s}, [](ComputationBuilder& b, absl::Span<const ValueId> v) {
          b.Add(kIota, {}, {{"dims", Dims{1000}}, {"dtype", DType::kF32},
                            {"iota_dimension", int64_t{0}}});
          return Values{v[0]};
        }}});
  EXPECT_THAT(evaluator.Evaluate(module, 2, {Literal::Scalar(true)}, {}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "instruction %1 (while): computation body, "
                       "instruction %1 (iota): no memory for f32[1000]"));
}

TEST(CaseTest, OutOfRangeTakesTheLastBranch) {
  const Shape f = Shape::Scalar(DType::kF32);
  const std::vector<Body> branches = {{{f}, OneOp(kNegate)},
                                      {{f}, OneOp(kExponential)},
                                      {{f}, OneOp(kAbs)}};
  auto run = [&](int32_t index) {
    return EvaluateOp(kCase, {Literal::Scalar(index), Literal::Scalar(-2.0f)},
                      {}, branches)
        .data<float>()[0];
  };
  EXPECT_EQ(run(0), 2.0f);
  EXPECT_EQ(run(1), std::exp(-2.0f));
  EXPECT_EQ(run(2), 2.0f);
  for (int32_t outside : {3, -1, std::numeric_limits<int32_t>::max(),
                          std::numeric_limits<int32_t>::min()}) {
    EXPECT_EQ(run(outside), 2.0f) << outside;
  }
}

TEST(CaseTest, NoArgumentsAndSeveralResults) {
  const BodyFn two = [](ComputationBuilder& b, absl::Span<const ValueId>) {
    return Values{b.Constant(Literal::Scalar(1.0f)),
                  b.Constant(Literal::Scalar(true))};
  };
  const std::vector<Literal> got =
      EvaluateAll(kCase, {Literal::Scalar<int32_t>(0)}, {}, {{{}, two}});
  ASSERT_EQ(got.size(), 2);
  EXPECT_THAT(got[0], LiteralEquals(Literal::Scalar(1.0f)));
  EXPECT_THAT(got[1], LiteralEquals(Literal::Scalar(true)));
}

}  // namespace
}  // namespace hawser::cpu
