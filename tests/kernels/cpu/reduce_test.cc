#include "core/ops/contraction/reduce.h"

#include <cmath>
#include <complex>
#include <limits>

#include "core/ops/contraction/control.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "kernels/cpu/lane_program.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

Literal Reduce(const OpDef& op, const Literal& x, const Literal& initial,
               const Dims& axes, int threads = 1) {
  const Shape scalar = initial.shape();
  return EvaluateOp(kReduce, {x, initial}, {{"dimensions", axes}},
                    {{{scalar, scalar}, OneOp(op)}}, {.pool = Threads(threads)});
}

// The same through a body that is not recognised as one op.
Literal ReduceByLanes(const OpDef& op, const Literal& x,
                      const Literal& initial, const Dims& axes,
                      int threads = 1) {
  const Shape s = initial.shape();
  const BodyFn body = [&](ComputationBuilder& b,
                          absl::Span<const ValueId> v) {
    const ValueId on = b.Constant(Literal::Scalar(true));
    return Values{b.Add(op, {v[0], b.Add(kSelect, {on, v[1], v[0]})})};
  };
  return EvaluateOp(kReduce, {x, initial}, {{"dimensions", axes}},
                    {{{s, s}, body}}, {.pool = Threads(threads)});
}

// The same through a body the lanes cannot run: it has a `case`.
Literal ReduceByCalls(const OpDef& op, const Literal& x,
                      const Literal& initial, const Dims& axes) {
  const Shape s = initial.shape();
  Module module("test");
  const int branch = AddComputation(module, "branch", {s, s}, OneOp(op));
  const int body = AddComputation(
      module, "body", {s, s},
      [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
        const ValueId zero = b.Constant(Literal::Scalar<int32_t>(0));
        return Values{b.Add(kCase, {zero, v[0], v[1]}, {}, {branch})};
      });
  AddComputation(module, "main", {x.shape(), s},
                 [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
                   return Values{
                       b.Add(kReduce, v, {{"dimensions", axes}}, {body})};
                 });
  auto results = Evaluate(module, {x, initial});
  EXPECT_OK(results);
  return results.ok() ? (*results)[0] : Literal();
}

// Three ways to the same sums, of every dtype, for random axes: small whole
// numbers, so every order of addition gives the same bits.
TEST(ReduceTest, ThreeWaysAgreeForEveryDType) {
  Random random(7);
  for (DType dtype : AllDTypes()) {
    for (const OpDef* op : {&kAdd, &kMultiply, &kMaximum, &kMinimum, &kAnd,
                            &kOr}) {
      if (!op->dtypes.Has(dtype)) continue;
      for (int round = 0; round < 8; ++round) {
        const Dims dims = random.PickDims(4, 60);
        Dims axes;
        for (size_t i = 0; i < dims.size(); ++i) {
          if (random.OneIn(2)) axes.insert(axes.begin(), i);
        }
        Literal small = Literal::Uninitialized(Shape::Of(DType::kS8, dims));
        for (int8_t& x : small.mutable_data<int8_t>()) {
          x = static_cast<int8_t>(random.Between(0, op == &kMultiply ? 1 : 3));
        }
        const Literal x = Cast(small, dtype);
        const Literal initial = NeutralOf(*op, dtype);
        const Literal fast = Reduce(*op, x, initial, axes);
        EXPECT_THAT(ReduceByLanes(*op, x, initial, axes),
                    LiteralEquals(fast));
        EXPECT_THAT(ReduceByCalls(*op, x, initial, axes),
                    LiteralEquals(fast));
      }
    }
  }
}

TEST(ReduceTest, KnownValues) {
  const Literal x = Literal::Of<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Literal zero = Literal::Scalar<int32_t>(0);
  EXPECT_THAT(Reduce(kAdd, x, zero, {0}),
              LiteralEquals(Literal::Vector<int32_t>({5, 7, 9})));
  EXPECT_THAT(Reduce(kAdd, x, zero, {1}),
              LiteralEquals(Literal::Vector<int32_t>({6, 15})));
  EXPECT_THAT(Reduce(kAdd, x, zero, {1, 0}),
              LiteralEquals(Literal::Scalar<int32_t>(21)));
  EXPECT_THAT(Reduce(kAdd, x, Literal::Scalar<int32_t>(100), {0, 1}),
              LiteralEquals(Literal::Scalar<int32_t>(121)));
  EXPECT_THAT(Reduce(kAdd, x, zero, {}), LiteralEquals(x));
  EXPECT_THAT(Reduce(kAdd, Literal::Scalar<int32_t>(3),
                     Literal::Scalar<int32_t>(4), {}),
              LiteralEquals(Literal::Scalar<int32_t>(7)));
}

TEST(ReduceTest, EmptyAxesGiveTheInitialValue) {
  const Literal x = Literal::Uninitialized(Shape::Of(DType::kF32, {2, 0, 3}));
  const Literal initial = Literal::Scalar(2.5f);
  const Literal want = Full(2.5f, {2, 3});
  EXPECT_THAT(Reduce(kAdd, x, initial, {1}), LiteralEquals(want));
  EXPECT_THAT(ReduceByLanes(kAdd, x, initial, {1}), LiteralEquals(want));
  EXPECT_THAT(ReduceByCalls(kAdd, x, initial, {1}), LiteralEquals(want));
  EXPECT_EQ(Reduce(kAdd, x, initial, {0}).shape(),
            Shape::Of(DType::kF32, {0, 3}));
  EXPECT_EQ(ReduceByLanes(kAdd, x, initial, {0}).shape(),
            Shape::Of(DType::kF32, {0, 3}));
}

TEST(ReduceTest, MaximumKeepsNaNAndSignedZero) {
  const double inf = std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    Literal many = Full(1.0f, {1000});
    many.mutable_data<float>()[777] = NAN;
    const Literal low = Cast(Literal::Scalar(-inf), dtype);
    EXPECT_THAT(Reduce(kMaximum, Cast(many, dtype), low, {0}),
                LiteralEquals(Cast(Literal::Scalar(NAN), dtype)));
    const Literal zeros =
        Cast(Literal::Vector<float>({-0.0f, 0.0f, -0.0f}), dtype);
    EXPECT_THAT(Reduce(kMaximum, zeros, low, {0}),
                LiteralBitEquals(Cast(Literal::Scalar(0.0f), dtype)));
    const Literal high = Cast(Literal::Scalar(inf), dtype);
    EXPECT_THAT(Reduce(kMinimum, zeros, high, {0}),
                LiteralBitEquals(Cast(Literal::Scalar(-0.0f), dtype)));
  }
}

// Eighth parts have exact sums in f64; a sum in f32, one after another, would
// be off by far more than the last place.
TEST(ReduceTest, LongSumsStayAccurate) {
  const int64_t n = 1 << 20;
  Random random(4);
  Literal x = Literal::Uninitialized(Shape::Of(DType::kF32, {n}));
  double want = 0;
  for (float& value : x.mutable_data<float>()) {
    value = static_cast<float>(random.Between(0, 1000)) / 8;
    want += value;
  }
  EXPECT_THAT(Reduce(kAdd, x, Literal::Scalar(0.0f), {0}),
              LiteralEquals(Literal::Scalar(static_cast<float>(want))));
  const Literal halves = Full(Half(1), {5000});
  EXPECT_THAT(Reduce(kAdd, halves, Literal::Scalar(Half(0)), {0}),
              LiteralEquals(Literal::Scalar(Half(5000))));
  const Literal columns = Full(BFloat16(1), {5000, 3});
  EXPECT_THAT(Reduce(kAdd, columns, Literal::Scalar(BFloat16(0)), {0}),
              LiteralEquals(Full(BFloat16(5000), {3})));
}

TEST(ReduceTest, ThreadsDoNotChangeBits) {
  Random random(9);
  const struct {
    Dims dims, axes;
  } kShapes[] = {{{1000003}, {0}},       {{3, 400001}, {1}},
                 {{200003, 3}, {0}},     {{300, 3000}, {0}},
                 {{7, 90, 40, 11}, {0, 2}}, {{1000, 500}, {1}},
                 {{70000, 7}, {1}},      {{200, 5000}, {0}}};
  for (const auto& shape : kShapes) {
    const Literal x =
        RandomLiteral(Shape::Of(DType::kF64, shape.dims), random, false);
    const Literal zero = Literal::Scalar(0.0);
    const Literal one = Reduce(kAdd, x, zero, shape.axes);
    EXPECT_THAT(Reduce(kAdd, x, zero, shape.axes, 3), LiteralBitEquals(one));
    const Literal naive = ReduceByLanes(kAdd, x, zero, shape.axes);
    EXPECT_THAT(one, LiteralNear(naive, Tolerance{.atol = 1e-6}));
    EXPECT_THAT(ReduceByLanes(kAdd, x, zero, shape.axes, 3),
                LiteralBitEquals(naive));
  }
}

// (value, index) of the largest, as a reduce of two inputs; equal values keep
// the smaller index whatever order they come in.
// What is kept beside them, where the axes stand and how many threads there are
// does not change what strict sums come to.
TEST(ReduceTest, StrictSumsAreOrderedByWhatIsContractedAlone) {
  constexpr runtime::Numerics kStrict = runtime::Numerics::kStrict;
  Random random(12);
  const auto sum = [&](const Literal& x, const Dims& axes, int threads) {
    const Literal zero = NeutralOf(kAdd, x.shape().dtype());
    return EvaluateOp(kReduce, {x, zero}, {{"dimensions", axes}},
                      {{{zero.shape(), zero.shape()}, OneOp(kAdd)}},
                      {.pool = Threads(threads), .numerics = kStrict});
  };
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64,
                            DType::kC64, DType::kC128}) {
    for (const int64_t n : {1, 5, 15, 16, 31, 33, 100, 4096, 4097, 20481}) {
      const Literal run = RandomLiteral(Shape::Of(dtype, {n}), random, false);
      const Literal want = sum(run, {0}, 1);
      const std::string which = absl::StrCat(DTypeName(dtype), " ", n);
      for (const int64_t kept : {2, 3, 65, 130}) {
        const Shape columns = Shape::Of(dtype, {n, kept});
        const Literal wants = EvaluateOp(
            kBroadcastInDim, {want},
            {{"dims", Dims{kept}}, {"broadcast_dimensions", Dims{}}});
        const Literal x = EvaluateOp(
            kBroadcastInDim, {run},
            {{"dims", Dims{n, kept}}, {"broadcast_dimensions", Dims{0}}});
        EXPECT_THAT(sum(x, {0}, 2), LiteralEquals(wants)) << which;
        const Literal rows =
            EvaluateOp(kTranspose, {x}, {{"permutation", Dims{1, 0}}});
        EXPECT_THAT(sum(rows, {1}, 2), LiteralEquals(wants)) << which;
      }
      if (n % 16 != 0) continue;
      const Literal around = EvaluateOp(
          kBroadcastInDim,
          {EvaluateOp(kReshape, {run}, {{"dims", Dims{n / 16, 16}}})},
          {{"dims", Dims{n / 16, 3, 16}},
           {"broadcast_dimensions", Dims{0, 2}}});
      EXPECT_THAT(sum(around, {0, 2}, 2),
                  LiteralEquals(EvaluateOp(
                      kBroadcastInDim, {want},
                      {{"dims", Dims{3}}, {"broadcast_dimensions", Dims{}}})))
          << which;
    }
  }
}

TEST(ReduceTest, TwoInputsAtOnce) {
  const Shape f = Shape::Scalar(DType::kF32);
  const Shape s = Shape::Scalar(DType::kS32);
  const BodyFn body = [](ComputationBuilder& b, absl::Span<const ValueId> v) {
    const ValueId greater =
        b.Add(kCompare, {v[2], v[0]}, {{"direction", std::string("GT")}});
    return Values{b.Add(kSelect, {greater, v[2], v[0]}),
                  b.Add(kSelect, {greater, v[3], v[1]})};
  };
  Random random(31);
  const Literal x = RandomLiteral(Shape::Of(DType::kF32, {40, 3, 50}), random,
                                  /*extremes=*/false);
  const Literal index = EvaluateOp(
      kIota, {},
      {{"dims", Dims{40, 3, 50}}, {"dtype", DType::kS32},
       {"iota_dimension", int64_t{2}}});
  const std::vector<Literal> got = EvaluateAll(
      kReduce,
      {x, index, Literal::Scalar(-std::numeric_limits<float>::infinity()),
       Literal::Scalar<int32_t>(-1)},
      {{"dimensions", Dims{2}}}, {{{f, s, f, s}, body}});
  EXPECT_THAT(got[1],
              LiteralEquals(EvaluateOp(kArgMax, {x},
                                       {{"dimension", int64_t{2}}})));
  EXPECT_EQ(got[0].shape(), Shape::Of(DType::kF32, {40, 3}));
}

// Running values that change places must not overwrite each other.
TEST(ReduceTest, BodyMaySwapItsRunningValues) {
  const Shape s = Shape::Scalar(DType::kS32);
  const BodyFn swap = [](ComputationBuilder& b, absl::Span<const ValueId> v) {
    return Values{v[1], b.Add(kAdd, {v[0], v[2]})};
  };
  const Literal x = Literal::Vector<int32_t>({1, 2, 3, 4});
  const std::vector<Literal> got = EvaluateAll(
      kReduce,
      {x, x, Literal::Scalar<int32_t>(10), Literal::Scalar<int32_t>(20)},
      {{"dimensions", Dims{0}}}, {{{s, s, s, s}, swap}});
  // (10,20) (20,11) (11,22) (22,14) (14,26)
  EXPECT_THAT(got[0], LiteralEquals(Literal::Scalar<int32_t>(14)));
  EXPECT_THAT(got[1], LiteralEquals(Literal::Scalar<int32_t>(26)));
}

TEST(ReduceTest, BodyMayIgnoreOrRepeatItsParameters) {
  const Shape s = Shape::Scalar(DType::kS32);
  const Literal x = Literal::Vector<int32_t>({3, 5, 7});
  const Literal zero = Literal::Scalar<int32_t>(0);
  auto run = [&](const BodyFn& body) {
    return EvaluateOp(kReduce, {x, zero}, {{"dimensions", Dims{0}}},
                      {{{s, s}, body}});
  };
  EXPECT_THAT(run([](ComputationBuilder& b, absl::Span<const ValueId> v) {
                return Values{v[1]};
              }),
              LiteralEquals(Literal::Scalar<int32_t>(7)));
  EXPECT_THAT(run([](ComputationBuilder& b, absl::Span<const ValueId> v) {
                return Values{b.Constant(Literal::Scalar<int32_t>(9))};
              }),
              LiteralEquals(Literal::Scalar<int32_t>(9)));
  // add(x, x) is no sum: the last element, doubled.
  EXPECT_THAT(run([](ComputationBuilder& b, absl::Span<const ValueId> v) {
                return Values{b.Add(kAdd, {v[1], v[1]})};
              }),
              LiteralEquals(Literal::Scalar<int32_t>(14)));
}

TEST(ArgExtremeTest, AgainstTheDefinition) {
  Random random(23);
  for (int round = 0; round < 200; ++round) {
    const DType dtype = random.PickDType(kBoolOnly | kReals);
    const Dims dims = {random.Between(1, 4), random.Between(1, 40),
                       random.Between(0, 3)};
    const int64_t axis = random.Below(2);
    const Literal x = RandomLiteral(Shape::Of(dtype, dims), random);
    const Literal as_f64 = Cast(x, DType::kF64);
    for (const OpDef* op : {&kArgMin, &kArgMax}) {
      for (const std::string tie : {"low", "high"}) {
        const Literal got =
            EvaluateOp(*op, {x},
                       {{"dimension", axis}, {"tie", tie},
                        {"dtype", DType::kS64}});
        for (int64_t i = 0; i < got.shape().num_elements(); ++i) {
          const int64_t after = axis == 0 ? dims[1] * dims[2] : dims[2];
          const double* v = as_f64.data<double>().data() +
                            i / after * after * dims[axis] + i % after;
          int64_t best = 0;
          for (int64_t r = 1; r < dims[axis]; ++r) {
            const double b = v[best * after];
            const double y = v[r * after];
            const bool same = (y == b) || (y != y && b != b);
            const bool wins = y != y ? b == b
                              : op == &kArgMin ? y < b
                                               : y > b;
            if (wins || (same && tie == "high")) best = r;
          }
          ASSERT_EQ(got.data<int64_t>()[i], best)
              << op->name << " " << tie << " " << x.ToString();
        }
      }
    }
  }
}

TEST(ArgExtremeTest, IndexDTypesAndLongRows) {
  Literal x = Full(1.0f, {2, 50000});
  x.mutable_data<float>()[49999] = -1;
  x.mutable_data<float>()[50000 + 123] = -1;
  for (DType dtype : {DType::kS32, DType::kS64, DType::kU32, DType::kU64}) {
    const Literal got = EvaluateOp(
        kArgMin, {x}, {{"dimension", int64_t{1}}, {"dtype", dtype}}, {},
        {.pool = Threads(2)});
    EXPECT_THAT(got,
                LiteralEquals(Cast(Literal::Vector<int32_t>({49999, 123}),
                                   dtype)));
  }
}

TEST(LaneProgramTest, RefusesWhatHasNoElementLoop) {
  const Shape s = Shape::Scalar(DType::kF32);
  Module module("test");
  const int fine = AddComputation(module, "fine", {s, s}, OneOp(kAdd));
  const int broadcast = AddComputation(
      module, "broadcast", {s},
      [](ComputationBuilder& b, absl::Span<const ValueId> v) {
        const Dims scalar;
        return Values{b.Add(
            kBroadcastInDim, v,
            {{"dims", scalar}, {"broadcast_dimensions", scalar}})};
      });
  const int vector = AddComputation(
      module, "vector", {Shape::Of(DType::kF32, {2})}, OneOp(kNegate));
  EXPECT_TRUE(LaneProgram::Make(module.computation(fine)).has_value());
  EXPECT_FALSE(LaneProgram::Make(module.computation(broadcast)).has_value());
  EXPECT_FALSE(LaneProgram::Make(module.computation(vector)).has_value());
}

// ---- scans ------------------------------------------------------------------

Literal Scan(const OpDef& op, const Literal& x, bool reverse, int threads) {
  const Shape scalar = Shape::Scalar(x.shape().dtype());
  return EvaluateOp(
      kScan, {x},
      {{"dimension", x.shape().rank() - int64_t{1}}, {"reverse", reverse}},
      {{{scalar, scalar}, OneOp(op)}}, {.pool = Threads(threads)});
}

// Numbers whose sums are rounded.
Literal Uneven(DType dtype, const Dims& dims) {
  Random random(3);
  Literal x = RandomLiteral(Shape::Of(DType::kF64, dims), random, false);
  for (double& value : x.mutable_data<double>()) value = value / 3 + 0.1;
  return Cast(x, dtype);
}

// Of rows so long that threads share each.
TEST(ScanTest, ThreadsDoNotChangeBits) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16}) {
    const Literal x = Uneven(dtype, {3, 300007});
    for (const OpDef* op : {&kAdd, &kMaximum}) {
      for (const bool reverse : {false, true}) {
        const Literal want = Scan(*op, x, reverse, 1);
        for (const int threads : {2, 3, 4}) {
          EXPECT_THAT(Scan(*op, x, reverse, threads), LiteralBitEquals(want))
              << op->name << " of " << DTypeName(dtype) << " by " << threads;
        }
      }
    }
  }
}

TEST(ScanTest, SharedRowsCountOn) {
  constexpr int64_t kLong = 300007;
  const Literal got = Scan(kAdd, Full<int32_t>(1, {2, kLong}), false, 3);
  for (const int64_t i : {int64_t{0}, int64_t{1}, int64_t{1024}, kLong - 1}) {
    EXPECT_EQ(got.data<int32_t>()[i], i + 1);
    EXPECT_EQ(got.data<int32_t>()[kLong + i], i + 1);
  }
}

}  // namespace
}  // namespace hawser::cpu
