#include "kernels/cpu/evaluator.h"

#include <array>
#include <cstring>
#include <limits>

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "kernels/cpu/program.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::cpu {
namespace {

constexpr int64_t kMiB = 1 << 20;

// x + x, then `length` negations one after another.
Module Chain(int length, const Shape& shape) {
  Module module("chain");
  AddComputation(module, "main", {shape},
                 [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
                   ValueId x = b.Add(kAdd, {v[0], v[0]});
                   for (int i = 0; i < length; ++i) x = b.Add(kNegate, {x});
                   return Values{x};
                 });
  return module;
}

TEST(EvaluatorTest, ValuesAreFreedAndReusedAlongAChain) {
  // One MiB a value, and room for one: the chain works in place.
  const Shape shape = Shape::Of(DType::kF32, {kMiB / 4});
  CpuEvaluator evaluator({.memory_limit = kMiB});
  const Literal x = Full(1.5f, {kMiB / 4});
  auto got = evaluator.Evaluate(Chain(100, shape), 0, {x}, {});
  ASSERT_OK(got);
  EXPECT_EQ((*got)[0].data<float>()[kMiB / 4 - 1], 3.0f);
  EXPECT_EQ(x.data<float>()[0], 1.5f);
  EXPECT_EQ(evaluator.live_bytes(), kMiB);  // the result
  got = absl::UnknownError("");
  EXPECT_EQ(evaluator.live_bytes(), 0);
}

TEST(EvaluatorTest, MemoryLimitNamesTheInstruction) {
  const Shape shape = Shape::Of(DType::kF32, {kMiB});
  CpuEvaluator evaluator({.memory_limit = kMiB});
  EXPECT_THAT(
      evaluator.Evaluate(Chain(1, shape), 0, {Full(1.0f, {kMiB})}, {}),
      StatusIs(absl::StatusCode::kResourceExhausted,
               "instruction %1 (add): no memory for f32[1048576]: "
                       "4194304 bytes of values do not fit: cpu holds 0 bytes "
                       "of the 1.0 MiB"));
  EXPECT_EQ(evaluator.live_bytes(), 0);
}

TEST(EvaluatorTest, ChecksItsArguments) {
  CpuEvaluator evaluator;
  const Module module = Chain(0, Shape::Of(DType::kF32, {2}));
  EXPECT_THAT(evaluator.Evaluate(module, 0, {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "takes 1 arguments, got 0"));
  EXPECT_THAT(evaluator.Evaluate(module, 0, {Literal::Scalar(1.0f)}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "argument 0 is f32[], must be f32[2]"));
  EXPECT_THAT(evaluator.Evaluate(module, 1, {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "computation 1"));
}

TEST(EvaluatorTest, ResultsMayRepeatAndBeParameters) {
  Module module("test");
  AddComputation(module, "main", {Shape::Scalar(DType::kF32)},
                 [](ComputationBuilder& b, absl::Span<const ValueId> v) {
                   const ValueId x = b.Add(kNegate, v);
                   return Values{x, v[0], x};
                 });
  const auto got = *Evaluate(module, {Literal::Scalar(2.0f)});
  ASSERT_EQ(got.size(), 3);
  EXPECT_THAT(got[0], LiteralEquals(Literal::Scalar(-2.0f)));
  EXPECT_THAT(got[1], LiteralEquals(Literal::Scalar(2.0f)));
  EXPECT_THAT(got[2], LiteralEquals(Literal::Scalar(-2.0f)));
}

// Results that share the bytes of an argument or a constant are never written
// by a later use.
TEST(EvaluatorTest, AliasesAreNotWrittenThrough) {
  const Literal constant = Literal::Vector<float>({1, 2});
  Module module("test");
  AddComputation(module, "main", {Shape::Of(DType::kF32, {2})},
                 [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
                   const ValueId c = b.Constant(constant);
                   const ValueId x =
                       b.Add(kReshape, {v[0]}, {{"dims", Dims{2, 1}}});
                   const ValueId y =
                       b.Add(kReshape, {c}, {{"dims", Dims{2, 1}}});
                   return Values{b.Add(kNegate, {x}), b.Add(kNegate, {y})};
                 });
  const Literal x = Literal::Vector<float>({3, 4});
  for (int round = 0; round < 2; ++round) {
    const auto got = *Evaluate(module, {x});
    EXPECT_THAT(got[0], LiteralEquals(Literal::Of<float>({-3, -4}, {2, 1})));
    EXPECT_THAT(got[1], LiteralEquals(Literal::Of<float>({-1, -2}, {2, 1})));
  }
  EXPECT_THAT(x, LiteralEquals(Literal::Vector<float>({3, 4})));
  EXPECT_THAT(constant, LiteralEquals(Literal::Vector<float>({1, 2})));
}

// Adopted memory may be a read-only mapping and stand at an odd address.
TEST(EvaluatorTest, AdoptedMemoryIsCopiedWhenMisalignedAndNeverWritten) {
  auto bytes = std::make_shared<std::array<char, 32>>();
  const float values[] = {1, 2, 3, 4};
  for (int offset : {0, 1}) {
    std::memcpy(bytes->data() + offset, values, sizeof(values));
    const Literal x = Literal::Adopt(
        Shape::Of(DType::kF32, {4}),
        std::shared_ptr<const char>(bytes, bytes->data() + offset));
    std::vector<Literal> arguments = {x};
    EXPECT_THAT(EvaluateOp(kNegate, arguments),
                LiteralEquals(Literal::Vector<float>({-1, -2, -3, -4})));
    EXPECT_EQ(std::memcmp(bytes->data() + offset, values, sizeof(values)), 0);
  }
}

TEST(EvaluatorTest, ExpiredTokensStopIt) {
  const CancelToken cancelled = CancelToken::WithFlag();
  cancelled.Cancel();
  CpuEvaluator evaluator;
  const Module module = Chain(0, Shape::Scalar(DType::kF32));
  EXPECT_THAT(
      evaluator.Evaluate(module, 0, {Literal::Scalar(1.0f)}, cancelled),
      StatusIs(absl::StatusCode::kCancelled, "cancelled by the caller"));
  EXPECT_THAT(evaluator.Evaluate(module, 0, {Literal::Scalar(1.0f)},
                                 CancelToken(absl::Now() - absl::Seconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
}

TEST(EvaluatorTest, ADeadlineEndsALoop) {
  CpuEvaluator evaluator;
  const absl::Time start = absl::Now();
  EXPECT_THAT(
      evaluator.Evaluate(CountModule(), 2,
                         {Literal::Scalar<int64_t>(0),
                          Literal::Scalar<int64_t>(int64_t{1} << 60)},
                         CancelToken(start + absl::Milliseconds(30))),
      StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST(ProgramTest, CostTellsSmallFromLargeAndEndless) {
  auto cost = [](const Module& module) {
    return CpuProgram::Make(module, module.computations().size() - 1)->cost();
  };
  EXPECT_LT(cost(Chain(0, Shape::Of(DType::kF32, {16}))), 1 << 15);
  EXPECT_GT(cost(Chain(0, Shape::Of(DType::kF32, {1 << 20}))), 1 << 15);
  EXPECT_GT(cost(Chain(1000, Shape::Scalar(DType::kF32))), 1 << 15);
  EXPECT_EQ(cost(CountModule()), std::numeric_limits<double>::infinity());
}

// Every op of the registry in random graphs: the same bits on one thread and
// on three, run after run.
TEST(EvaluatorTest, RandomModulesGiveTheSameBitsOnAnyNumberOfThreads) {
  CpuEvaluator one;
  ThreadPool threads(3);
  CpuEvaluator three({.pool = &threads});
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Module module = RandomModule(seed);
    const int entry = static_cast<int>(module.computations().size()) - 1;
    Random random(seed);
    const std::vector<Literal> arguments =
        RandomArguments(module.signature(), random);
    auto want = one.Evaluate(module, entry, arguments, {});
    ASSERT_OK(want) << "seed " << seed;
    auto got = three.Evaluate(module, entry, arguments, {});
    ASSERT_OK(got) << "seed " << seed;
    for (size_t i = 0; i < want->size(); ++i) {
      ASSERT_EQ((*want)[i].shape(), module.signature().results[i]);
      ASSERT_THAT((*got)[i], LiteralBitEquals((*want)[i])) << "seed " << seed;
    }
  }
  EXPECT_EQ(one.live_bytes(), 0);
}

}  // namespace
}  // namespace hawser::cpu
