// Where what SDK functions make was made, and which of them errors name: the
// one the user called, through any number of others.
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/sdk/graph/trace.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

// The lines of this file that made the instructions `fn` traces, parameters
// aside; 0 for one of another file.
template <typename Fn>
std::vector<int> LinesOf(Fn fn) {
  sdk::Trace trace("places", sdk::Captures::kNone);
  const Tensor x = trace.Parameter(Shape::Of(DType::kF32, {2, 3}), {});
  {
    const sdk::Trace::Scope scope(&trace);
    const Tensor result = fn(x);
    trace.Return({&result, 1}, {});
  }
  EXPECT_OK(trace.Finish().status());
  std::vector<int> lines;
  for (SourceLocation where : trace.locations().subspan(1)) {
    const bool here = absl::EndsWith(where.file, "op_scope_test.cc");
    lines.push_back(here ? where.line : 0);
  }
  return lines;
}

constexpr Padding kOne[] = {{1, 1}, {1, 1}};

TEST(Places, OfACompositeIsTheUsersLine) {
  const std::pair<Tensor (*)(Tensor), int> rows[] = {
      {[](Tensor x) { return Softmax(x); }, __LINE__},
      {[](Tensor x) { return LogSumExp(x, {.axis = -1}); }, __LINE__},
      {[](Tensor x) { return StandardDeviation(x); }, __LINE__},
      {[](Tensor x) { return Covariance(x, 1); }, __LINE__},
      {[](Tensor x) { return Asinh(x); }, __LINE__},
      {[](Tensor x) { return PutDiagonal(x, x[0][Range(0, 2)]); }, __LINE__},
      {[](Tensor x) { return PadOuter(x, Edge::kMirror, kOne); }, __LINE__},
      {[](Tensor x) { return MatMul(x[0], Adjoint(x)); }, __LINE__},
      {[](Tensor x) { return Linspace(DType::kF32, 0, Sum(x), 5); }, __LINE__},
  };
  for (const auto& [fn, line] : rows) {
    const std::vector<int> lines = LinesOf(fn);
    EXPECT_GT(lines.size(), 2u) << line;
    EXPECT_EQ(lines, std::vector<int>(lines.size(), line));
  }
}

TEST(Places, OfWhatAPassedFunctionCallsAreItsOwn) {
  const int line = __LINE__ + 3;
  const std::vector<int> lines = LinesOf([](Tensor x) {
    const Tensor chosen = Cond(
        Gt(Sum(x), 0), [&] { return Softmax(x); }, [&] { return x; });
    return chosen * 2;
  });
  EXPECT_EQ(lines.front(), line);
  EXPECT_EQ(lines.back(), line + 1);
  const int bad = __LINE__ + 3;
  const Tensor failed = While(
      Zeros(DType::kF32, {2, 3}), [](Tensor x) { return Sum(x) < 1; },
      [](Tensor x) { return Softmax(x, 7); });
  EXPECT_THAT(failed.status(), StatusIs(StatusCode::kInvalidArgument,
                                        "Softmax: axis 7 is out of range"));
  EXPECT_TRUE(absl::StrContains(failed.status().message(),
                                absl::StrCat("op_scope_test.cc:", bad, ")")))
      << failed.status();
}

TEST(Places, AreThoseOfTheThread) {
  std::string inner, after;
  const Tensor bad = Zeros(DType::kF32, {2});
  const Tensor sum = Reduce(bad, 0, [&](Tensor a, Tensor b) {
    std::thread([&] {
      inner = std::string(Softmax(bad, 7).status().message());
    }).join();
    return a + b;
  });
  after = std::string(Rows(sum, 0, 1).status().message());
  EXPECT_OK(sum.status());
  EXPECT_TRUE(absl::StartsWith(inner, "Softmax: axis 7")) << inner;
  EXPECT_TRUE(absl::StartsWith(after, "Rows: ")) << after;
}

class Formulas : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

TEST_F(Formulas, BringTheirOwnNumbersAlongAsStructure) {
  const Tensor x = T1<float>({1, 2});
  ASSERT_OK(Atanh(x).Eval());
  EXPECT_EQ(counting_->module()->signature().parameters.size(), 1u);
  ASSERT_OK(AllClose(x, x, {.relative = 0.5}).Eval());
  EXPECT_EQ(counting_->module()->signature().parameters.size(), 1u);
  EXPECT_VALUE(Round(T1<float>({-1.5f, 0.4f, 2.5f})), F({-2, 0, 3}));
}

TEST_F(Formulas, LeaveTheUsersNumbersParameters) {
  const Tensor x = T1<float>({1, 2});
  for (int i = 1; i < 4; ++i) {
    EXPECT_VALUE(Dot(i, x), F({1.f * i, 2.f * i}));
    ASSERT_OK(Linspace(DType::kF32, i, 2 * i, 3).Eval());
    ASSERT_OK(Softmax(x * i).Eval());
    ASSERT_OK(Rows(x, i - 1 < 1 ? 0 : 1, 1).Eval());
  }
  EXPECT_EQ(counting_->compiles, 4);
  // Also those of a function that one of them calls.
  const Tensor y = Reduce(x, 0, [](Tensor a, Tensor b) { return a + b; });
  EXPECT_VALUE(y, Literal::Scalar<float>(3));
}

}  // namespace
}  // namespace hawser
