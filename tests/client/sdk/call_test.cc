// Jit functions other than by running them: one request and its answer, and
// the text of the graph.
#include <memory>
#include <string>
#include <utility>

#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ops/registry.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

class CallTest : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

TEST_F(CallTest, GivesHostValues) {
  auto f = Jit([](Tensor x, Tensor i) { return std::pair(x + i, x); });
  ASSERT_OK_AND_ASSIGN(const auto both, f.Call(T1<float>({1}), 2));
  EXPECT_VALUE(both.first, Literal::Vector<float>({3}));
  EXPECT_EQ(both.first.ran_on(), "cpu");
  EXPECT_FALSE(both.first.on_fallback());
  EXPECT_VALUE(both.second, Literal::Vector<float>({1}));
}

TEST_F(CallTest, NeedsNoSessionForSmallHostValuesAndDatasets) {
  auto f = Jit([](Tensor x) { return x + 1; });
  ASSERT_OK_AND_ASSIGN(const Dataset d, client_.Put({{"x", F({1, 2})}}));
  ASSERT_OK(f.Call(d["x"]).status());
  ASSERT_OK(f.Call(Zeros(DType::kU8, {5000}).Fetch().value()).status());
  ASSERT_OK(
      f.Call(Constant(Literal::Zeros(Shape::Of(DType::kU8, {5000})))).status());
  EXPECT_EQ(counting_->calls, 3);
  EXPECT_EQ(counting_->uploads, 0);
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(d["x"]));
  ASSERT_OK(f.Call(y).status());
  ASSERT_OK(f.Call(Literal::Zeros(Shape::Of(DType::kU8, {2 << 20}))).status());
  EXPECT_EQ(counting_->calls, 3);
}

TEST_F(CallTest, AFailedOneGivesDonationsBack) {
  auto f = Jit([](Tensor x) { return x + 1; });
  const Tensor x = T1<float>({1});
  counting_->fail_execute = true;
  EXPECT_FALSE(f.Call(Donate(x)).ok());
  counting_->fail_execute = false;
  EXPECT_VALUE(x, F({1}));
  ASSERT_OK(f.Call(Donate(x)).status());
  EXPECT_THAT(x.Fetch(), StatusIs(StatusCode::kFailedPrecondition, "donated"));
}

TEST_F(CallTest, ToTextIsTheGraphThatExplainTakes) {
  const auto f = Jit([](Tensor x, Tensor y) { return Softmax(x) * y; });
  ASSERT_OK_AND_ASSIGN(const std::string text,
                       f.ToText(Shape::Of(DType::kF32, {2, 3}), 0.5f));
  ASSERT_OK_AND_ASSIGN(const Module module, ParseModule(text, FindOp));
  EXPECT_EQ(Print(module), text);
  EXPECT_EQ(module.signature().parameters.size(), 2u);
  EXPECT_EQ(counting_->compiles, 0);
  EXPECT_THAT(f.ToText(T1<float>({1}), T1<float>({1, 2, 3, 4})[Range(0, 2)]),
              IsOk());
  EXPECT_THAT(f.ToText(Shape::Of(DType::kF32, {2}), F({1, 2, 3})),
              StatusIs(StatusCode::kInvalidArgument, "Multiply: sizes"));
  const auto bucketed =
      Jit([](Tensor x) { return Exp(x); }, {.batch_buckets = {4}});
  EXPECT_THAT(*bucketed.ToText(Batched(F({1, 2}))),
              ::testing::HasSubstr("f32[4]"));
}

}  // namespace
}  // namespace hawser
