#include <sstream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/sdk/graph/run/evaluate.h"
#include "client/sdk/graph/run/record.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

class Recording : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

TEST_F(Recording, RunsOnlyWhenAsked) {
  const Tensor x = T1<float>({1, 2}) + 1;
  EXPECT_EQ(x.shape(), Shape::Of(DType::kF32, {2}));
  EXPECT_EQ(counting_->compiles, 0);
  EXPECT_EQ(x.ran_on(), "");
  EXPECT_VALUE(x, Literal::Vector<float>({2, 3}));
  EXPECT_EQ(counting_->compiles, 1);
  EXPECT_EQ(x.ran_on(), "cpu");
}

TEST_F(Recording, KeepsAnEvaluatedValue) {
  const Tensor x = T1<float>({1, 2}) * 3;
  ASSERT_OK(x.Eval());
  ASSERT_OK(x.Eval());
  EXPECT_VALUE(x, Literal::Vector<float>({3, 6}));
  EXPECT_VALUE(x + x, Literal::Vector<float>({6, 12}));
  EXPECT_EQ(counting_->executions, 2);
}

TEST_F(Recording, HostValuesAndNumbersAreParameters) {
  for (int i = 0; i < 5; ++i) {
    const Tensor x = T1<float>({float(i), 2}) * i + 0.5;
    EXPECT_VALUE(x, Literal::Vector<float>({i * i + 0.5f, 2 * i + 0.5f}));
  }
  EXPECT_EQ(counting_->compiles, 1);
  EXPECT_EQ(counting_->executions, 5);
  for (const Instruction& i : counting_->module()->entry().instructions()) {
    EXPECT_NE(i.op->name, "constant");
  }
}

TEST_F(Recording, OtherStructuresAreOtherExecutables) {
  const Tensor x = T1<float>({1, 2});
  ASSERT_OK((x + 1).Eval());
  ASSERT_OK((x - 1).Eval());
  ASSERT_OK((T1<float>({1}) + 1).Eval());
  ASSERT_OK(Sum(TN<float>({1, 2}, {2, 1}), {.axes = {0}}).Eval());
  ASSERT_OK(Sum(TN<float>({1, 2}, {2, 1}), {.axes = {1}}).Eval());
  EXPECT_EQ(counting_->compiles, 5);
}

TEST_F(Recording, TheSameLeafIsOneParameter) {
  const Tensor x = T1<float>({1, 2});
  ASSERT_OK((x * x).Eval());
  EXPECT_EQ(counting_->module()->signature().parameters.size(), 1u);
  // Two leaves with equal values are another structure.
  ASSERT_OK((x * T1<float>({1, 2})).Eval());
  EXPECT_EQ(counting_->module()->signature().parameters.size(), 2u);
}

TEST_F(Recording, EvaluatesWhatIsStillHeldWithIt) {
  const Tensor shared = Exp(T1<float>({0, 1}));
  const Tensor a = shared + 1;
  ASSERT_OK(a.Eval());
  EXPECT_EQ(counting_->executions, 1);
  EXPECT_VALUE(shared * 0, Literal::Vector<float>({0, 0}));
  // Only the multiplication was left to do.
  int exponentials = 0;
  for (const Instruction& i : counting_->module()->entry().instructions()) {
    exponentials += i.op->name == "exponential";
  }
  EXPECT_EQ(exponentials, 0);
}

TEST_F(Recording, ALoopReachesASteadyState) {
  Tensor w = Zeros(DType::kF32, {4}), sum = Scalar(0.0f);
  for (int i = 0; i < 12; ++i) {
    w = w + 1;
    sum = sum + Sum(w);
    if (i % 2 == 1) {
      ASSERT_OK(sum.Fetch());
    }
  }
  EXPECT_VALUE(sum, Literal::Scalar<float>(4 * 78));
  EXPECT_LE(counting_->compiles, 2);
}

TEST_F(Recording, AVeryLongChainNeedsNoStackAndIsCut) {
  Tensor x = Scalar(DType::kS32, 0);
  for (int i = 0; i < 100'000; ++i) x = x + 1;
  // Started in pieces on the way, each the same executable.
  EXPECT_GT(counting_->executions, 20);
  EXPECT_LE(counting_->compiles, 2);
  EXPECT_VALUE(x, Literal::Scalar<int32_t>(100'000));
}

TEST_F(Recording, AnUnevaluatedChainIsFreedWithoutStack) {
  // 100,000 nodes in pieces that are not cut: each tensor is small.
  std::vector<Tensor> all;
  for (int piece = 0; piece < 30; ++piece) {
    Tensor x = Scalar(DType::kS32, piece);
    for (int i = 0; i < 3500; ++i) x = -x;
    all.push_back(x);
  }
  EXPECT_EQ(counting_->executions, 0);
  all.clear();
}

TEST_F(Recording, DiamondsAreCountedOnce) {
  Tensor x = Scalar(DType::kU32, 1);
  for (int i = 0; i < 40; ++i) x = x + x;  // 2^40 paths, 40 instructions
  EXPECT_EQ(sdk::CountRecorded({&x, 1}), 40);
  EXPECT_EQ(counting_->executions, 0);
  EXPECT_VALUE(x, Literal::Scalar<uint32_t>(0));
}

TEST_F(Recording, ManyWideOperandsAreCutToo) {
  std::vector<Tensor> parts;
  for (int p = 0; p < 8; ++p) {
    Tensor x = T1<int32_t>({p});
    for (int i = 0; i < 1000; ++i) x = -x;
    parts.push_back(x);
  }
  const Tensor all = Concatenate(parts);
  EXPECT_GE(counting_->executions, 1);
  EXPECT_LE(sdk::CountRecorded({&all, 1}), sdk::kMaxRecording);
  EXPECT_VALUE(all, Literal::Vector<int32_t>({0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Recording, AFailedCompileIsReportedAndTriedAgain) {
  const Tensor x = T1<float>({1}) + 1;
  counting_->fail_compile = true;
  EXPECT_THAT(x.Eval(), StatusIs(StatusCode::kUnavailable, "no compiler"));
  counting_->fail_compile = false;
  EXPECT_VALUE(x, Literal::Vector<float>({2}));
}

TEST_F(Recording, TwoClientsInOneExpressionNamesBoth) {
  const Client other(std::make_shared<CountingClient>("other"));
  const Tensor a = T1<float>({1}) + 1, b = T1<float>({2}) + 1;
  ASSERT_OK(a.Eval());
  ASSERT_OK(b.Eval({.client = other}));
  const Tensor sum = a + b;
  EXPECT_THAT(sum.status(),
              StatusIs(StatusCode::kFailedPrecondition, "counting and other"));
  ASSERT_OK_AND_ASSIGN(const Tensor moved, b.To(client_));
  EXPECT_VALUE(a + moved, Literal::Vector<float>({5}));
  EXPECT_THAT(a.Eval({.client = other}),
              StatusIs(StatusCode::kFailedPrecondition, "other and counting"));
}

TEST_F(Recording, LargeHostValuesAreUploadedOnce) {
  const Tensor big = Constant(Literal::Zeros(Shape::Of(DType::kF32, {2000})));
  ASSERT_OK(Sum(big).Eval());
  ASSERT_OK((Sum(big) + 1).Eval());
  EXPECT_EQ(counting_->uploads, 1);
}

TEST_F(Recording, EvalOfSeveralIsOneExecution) {
  const Tensor a = T1<float>({1}) + 1, b = Exp(T1<float>({0}));
  ASSERT_OK(Eval({a, b}));
  EXPECT_EQ(counting_->executions, 1);
  EXPECT_VALUE(b, Literal::Vector<float>({1}));
  EXPECT_EQ(counting_->executions, 1);
}

TEST_F(Recording, HeadFetchesRowsOnly) {
  const Tensor x = Iota(DType::kS32, {100, 2});
  ASSERT_OK_AND_ASSIGN(const Literal head, x.Head(2));
  EXPECT_THAT(head, LiteralEquals(Literal::Of<int32_t>({0, 1, 2, 3}, {2, 2})));
  EXPECT_EQ(x.Head(1000)->shape().dim(0), 100);
  EXPECT_FALSE(Scalar(1).Head(1).ok());
  EXPECT_FALSE(x.Head(-1).ok());
}

TEST_F(Recording, PrintsWhatIsThere) {
  const auto text = [](const Tensor& t) {
    std::ostringstream out;
    out << t;
    return out.str();
  };
  EXPECT_EQ(text(T1<float>({1, 2})), "f32[2] {1, 2}");
  const Tensor x = T1<float>({1, 2}) + 1;
  EXPECT_EQ(text(x), "f32[2] (recorded, not run)");
  ASSERT_OK(x.Eval());
  EXPECT_EQ(text(x), "f32[2] on counting (not fetched)");
  ASSERT_OK(x.Fetch());
  EXPECT_EQ(text(x), "f32[2] {2, 3}");
  // Beyond 4 KiB a value is not kept here.
  const Tensor large = Iota(DType::kF32, {1025}) + 1;
  ASSERT_OK(large.Fetch());
  EXPECT_EQ(text(large), "f32[1025] on counting (not fetched)");
  EXPECT_THAT(text(Tensor()), testing::HasSubstr("never given a value"));
}

TEST_F(Recording, MayBeSharedBetweenThreads) {
  const Tensor base = T1<float>({1, 2, 3});
  for (int round = 0; round < 20; ++round) {
    const Tensor shared = Exp(base) * 0 + round;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const ScopedClient scope(client_);
        const Tensor mine = shared + t;
        const auto value = mine.Fetch();
        if (!value.ok() || value->data<float>()[2] != round + t) ++wrong;
      });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
  }
}

// ---- errors ---------------------------------------------------------------

TEST_F(Recording, TheFirstErrorSticksWithItsPlace) {
  const Tensor a = T1<float>({1, 2}), b = T1<float>({1, 2, 3});
  const int line = __LINE__ + 1;
  const Tensor bad = Tanh(a) + b;
  const Tensor worse = Reshape(bad * 2, {7}) + a;
  const std::string place = absl::StrCat("recording_test.cc:", line, ")");
  for (const Tensor& t : {bad, worse}) {
    EXPECT_THAT(t.status(), StatusIs(StatusCode::kInvalidArgument,
                                     "Add: sizes [2] and [3] do not broadcast"));
    EXPECT_THAT(t.status(), StatusIs(StatusCode::kInvalidArgument,
                                     "operands f32[2], f32[3]"));
    EXPECT_THAT(t.status(), StatusIs(StatusCode::kInvalidArgument, place));
    EXPECT_THAT(t.Fetch(), StatusIs(StatusCode::kInvalidArgument, place));
    EXPECT_FALSE(t.Eval().ok());
    EXPECT_EQ(t.dtype(), DType::kInvalid);
  }
  EXPECT_EQ(counting_->compiles, 0);
}

TEST_F(Recording, AnErrorOfAnOpNamesItsConstraint) {
  const int line = __LINE__ + 1;
  const Tensor bad = Dot(T1<float>({1, 2}), T1<float>({1, 2, 3}));
  EXPECT_THAT(bad.status(), StatusIs(StatusCode::kInvalidArgument, "C8"));
  EXPECT_THAT(bad.status(), StatusIs(StatusCode::kInvalidArgument,
                                     absl::StrCat("_test.cc:", line)));
}

TEST_F(Recording, NumbersThatDoNotFitAreErrors) {
  const Tensor u8 = T1<uint8_t>({1});
  EXPECT_THAT((u8 + 300).status(),
              StatusIs(StatusCode::kInvalidArgument, "300 does not fit u8"));
  EXPECT_THAT((u8 * -1).status(),
              StatusIs(StatusCode::kInvalidArgument, "-1 does not fit u8"));
  EXPECT_OK((u8 + 255).status());
  EXPECT_OK((u8 + 300.0).status());
}

TEST_F(Recording, ATensorWithoutAValueIsAnError) {
  Tensor none;
  EXPECT_THAT(none.status(), StatusIs(StatusCode::kFailedPrecondition, "never"));
  EXPECT_THAT((none + 1).status(),
              StatusIs(StatusCode::kFailedPrecondition, "Add: "));
  EXPECT_FALSE(none.Fetch().ok());
  EXPECT_FALSE(none.FetchAsync().Await().ok());
  EXPECT_EQ(none.ran_on(), "");
}

TEST_F(Recording, AValueThatHasNoRoomNamesItsPlace) {
  const int64_t size = int64_t{1} << 25;
  const int line = __LINE__ + 1;
  const Tensor sum = Sum(Ones(DType::kF64, {size, size}));
  EXPECT_THAT(sum.Fetch({.client = Client::Cpu()}),
              StatusIs(StatusCode::kResourceExhausted,
                       absl::StrCat("f64[] made at ", __FILE__, ":", line)));
}

TEST_F(Recording, DeadlinesReachTheClient) {
  const Tensor x = T1<float>({1}) + 1;
  const auto value = x.Fetch({.call = {.deadline = absl::Seconds(30)}});
  EXPECT_OK(value);
  CancelToken cancelled = CancelToken::WithFlag();
  cancelled.Cancel();
  const Tensor y = T1<float>({1}) * 7;
  EXPECT_THAT(y.Fetch({.call = {.cancel = cancelled}}),
              StatusIs(StatusCode::kCancelled, ""));
}

}  // namespace
}  // namespace hawser
