#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/future.h"
#include "core/base/trace/trace.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"
#include "tests/testing/trace_file.h"

namespace hawser {

namespace user {  // a struct of another namespace
struct Layer {
  Tensor w, b;
};
auto HawserFields(Layer& layer) { return std::tie(layer.w, layer.b); }
struct Model {
  std::vector<Layer> layers;
  Tensor scale;
};
auto HawserFields(Model& m) { return std::tie(m.layers, m.scale); }
}  // namespace user

namespace {

using absl::StatusCode;

class JitTest : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

TEST_F(JitTest, TracesOncePerSignature) {
  int traces = 0;
  auto twice = Jit([&](Tensor x) {
    ++traces;
    return x + x;
  });
  for (float v : {1.0f, 2.0f, 3.0f}) {
    ASSERT_OK_AND_ASSIGN(const Tensor y, twice(T1<float>({v})));
    EXPECT_VALUE(y, Literal::Vector<float>({2 * v}));
  }
  EXPECT_EQ(traces, 1);
  EXPECT_OK(twice(T1<float>({1, 2})));    // another size
  EXPECT_OK(twice(T1<int32_t>({1})));     // another dtype
  EXPECT_OK(twice(TN<float>({1}, {1, 1})));
  EXPECT_EQ(traces, 4);
  EXPECT_EQ(counting_->compiles, 4);
  // Another client is another executable.
  auto other = std::make_shared<CountingClient>("other");
  EXPECT_OK(twice.With({.client = Client(other)})(T1<float>({1})));
  EXPECT_EQ(traces, 5);
  EXPECT_EQ(other->compiles, 1);
}

TEST_F(JitTest, IsTracedFromTheFunctionToItsRegions) {
  const std::string path = ::testing::TempDir() + "/jit.json";
  ASSERT_OK(StartTrace(path));
  auto twice = Jit([](Tensor x) { return Dot(x, x) + 1; });
  ASSERT_OK(KeepError(twice(Literal::Vector<float>({1, 2}))).Fetch());
  ASSERT_OK(StopTrace());
  const TraceFile trace = TraceFile::Read(path);
  trace.ExpectNested();
  for (const char* part : {"trace", "optimize", "fuse", "compile for cpu"}) {
    EXPECT_TRUE(trace.IsWithin(part, "run")) << part;
  }
  EXPECT_TRUE(trace.IsWithin("dot_general", "execution"));
  EXPECT_GT(trace.Named("optimize").at(0)["args"]["instructions"], 3);
}

TEST_F(JitTest, ForgetsTheSignatureUsedLongestAgo) {
  int traces = 0;
  auto f = Jit([&](Tensor x) {
    ++traces;
    return -x;
  });
  for (int n = 1; n <= 65; ++n) EXPECT_OK(f(Zeros(DType::kF32, {n})));
  EXPECT_EQ(traces, 65);
  EXPECT_OK(f(Zeros(DType::kF32, {65})));
  EXPECT_EQ(traces, 65);
  EXPECT_OK(f(Zeros(DType::kF32, {1})));
  EXPECT_EQ(traces, 66);
}

TEST_F(JitTest, NumbersAreParameters) {
  auto scale = Jit([](Tensor x, Tensor by) { return x * by; });
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const Tensor y, scale(T1<int32_t>({1, 2}), i));
    EXPECT_VALUE(y, Literal::Vector<int32_t>({i, 2 * i}));
  }
  EXPECT_EQ(counting_->compiles, 1);
  ASSERT_OK_AND_ASSIGN(const Tensor half, scale(T1<float>({1, 2}), 0.5));
  EXPECT_VALUE(half, Literal::Vector<float>({0.5f, 1}));
}

TEST_F(JitTest, LiteralsAreArguments) {
  auto negate = Jit([](Tensor x) { return -x; });
  ASSERT_OK_AND_ASSIGN(const Tensor y, negate(Literal::Vector<float>({1})));
  EXPECT_VALUE(y, Literal::Vector<float>({-1}));
}

TEST_F(JitTest, TuplesPairsVectorsArrays) {
  auto f = Jit([](std::tuple<Tensor, Tensor> t, std::vector<Tensor> v,
                  std::array<Tensor, 2> a, std::pair<Tensor, Tensor> p) {
    Tensor sum = std::get<0>(t) + std::get<1>(t);
    for (const Tensor& x : v) sum += x;
    return std::tuple(sum, std::vector<Tensor>{a[0] - a[1], a[0]},
                      std::pair(p.second, p.first));
  });
  const auto one = [](float v) { return T1<float>({v}); };
  auto r = f(std::tuple(one(1), one(2)), std::vector<Tensor>{one(3), one(4)},
             std::array<Tensor, 2>{one(5), one(6)}, std::pair(7, 8.0f));
  ASSERT_OK(r);
  const auto& [sum, list, swapped] = *r;
  EXPECT_VALUE(sum, Literal::Vector<float>({10}));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_VALUE(list[0], Literal::Vector<float>({-1}));
  EXPECT_VALUE(swapped.first, Literal::Scalar<float>(8));
  EXPECT_VALUE(swapped.second, Literal::Scalar<int32_t>(7));
  // A vector of another length is another signature.
  EXPECT_OK(f(std::tuple(one(1), one(2)), std::vector<Tensor>{one(3)},
              std::array<Tensor, 2>{one(5), one(6)}, std::pair(7, 8.0f)));
  EXPECT_EQ(counting_->compiles, 2);
}

TEST_F(JitTest, StructsOfTheUsersOwn) {
  const auto step = Jit([](user::Model m, Tensor x) {
    for (user::Layer& layer : m.layers) {
      x = Dot(x, layer.w) + layer.b;
      layer.b = layer.b + 1;
    }
    return std::pair(m, x * m.scale);
  });
  user::Model model{{{TN<float>({1, 2, 3, 4}, {2, 2}), T1<float>({0, 1})},
                     {TN<float>({1, 0, 0, 1}, {2, 2}), T1<float>({5, 5})}},
                    Scalar(2.0f)};
  ASSERT_OK_AND_ASSIGN(auto result, step(model, T1<float>({1, 1})));
  EXPECT_VALUE(result.second, Literal::Vector<float>({18, 24}));
  EXPECT_VALUE(result.first.layers[1].b, Literal::Vector<float>({6, 6}));
  ASSERT_OK(step(Donate(result.first), T1<float>({1, 1})));
  EXPECT_EQ(counting_->compiles, 1);
  EXPECT_EQ(counting_->donated().size(), 5u);
  EXPECT_FALSE(result.first.scale.Fetch().ok());
}

TEST_F(JitTest, RecordedArgumentsAreEvaluatedFirst) {
  auto f = Jit([](Tensor x) { return x + 1; });
  const Tensor x = Exp(Zeros(DType::kF32, {2}));
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(x));
  EXPECT_VALUE(y, Literal::Vector<float>({2, 2}));
  EXPECT_EQ(counting_->executions, 2);
}

TEST_F(JitTest, InsideAnotherTraceItIsCalled) {
  auto inner = Jit([](Tensor x, Tensor y) { return x * y; });
  auto outer = Jit([&](Tensor x) { return *inner(x, 3) + 1; });
  ASSERT_OK_AND_ASSIGN(const Tensor y, outer(T1<int32_t>({2})));
  EXPECT_VALUE(y, Literal::Vector<int32_t>({7}));
  EXPECT_EQ(counting_->compiles, 1);
}

// ---- captures -------------------------------------------------------------

TEST_F(JitTest, SmallHostValuesAreBakedIn) {
  const Tensor table = T1<float>({10, 20});
  const Tensor expression = Exp(Zeros(DType::kF32, {2})) + table;  // recorded
  int number = 5;
  auto f = Jit([&](Tensor x) { return x + table + expression + number; });
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(T1<float>({1, 2})));
  EXPECT_VALUE(y, Literal::Vector<float>({27, 48}));
  number = 100;  // baked when it was traced
  ASSERT_OK_AND_ASSIGN(const Tensor again, f(T1<float>({1, 2})));
  EXPECT_VALUE(again, Literal::Vector<float>({27, 48}));
  EXPECT_EQ(counting_->module()->signature().parameters.size(), 1u);
}

TEST_F(JitTest, ALargeHostValueMustBeAnArgument) {
  const int line = __LINE__ + 1;
  const Tensor big = Constant(Literal::Zeros(Shape::Of(DType::kF32, {1025})));
  auto f = Jit([&](Tensor x) { return x + big; });
  const auto y = f(T1<float>({1}));
  EXPECT_THAT(y, StatusIs(StatusCode::kInvalidArgument, "f32[1025] made at"));
  EXPECT_THAT(y, StatusIs(StatusCode::kInvalidArgument, "4100 bytes"));
  EXPECT_THAT(y, StatusIs(StatusCode::kInvalidArgument,
                          absl::StrCat("jit_test.cc:", line)));
  EXPECT_EQ(counting_->compiles, 0);
  const Tensor fits = Constant(Literal::Zeros(Shape::Of(DType::kF32, {1024})));
  auto g = Jit([&](Tensor x) { return x + fits; });
  EXPECT_OK(g(T1<float>({1})));
}

TEST_F(JitTest, ADeviceTensorMustBeAnArgument) {
  const Tensor there = T1<float>({1}) + 1;
  ASSERT_OK(there.Eval());
  const Tensor derived = there * 2;  // recorded over it
  auto f = Jit([&](Tensor x) { return x + there; });
  EXPECT_THAT(f(T1<float>({1})),
              StatusIs(StatusCode::kInvalidArgument, "on a client (f32[1]"));
  auto g = Jit([&](Tensor x) { return x + derived; });
  EXPECT_THAT(g(T1<float>({1})),
              StatusIs(StatusCode::kInvalidArgument, "on a client"));
}

TEST_F(JitTest, ALeakedTracedTensorIsAnError) {
  Tensor leaked;
  auto f = Jit([&](Tensor x) {
    leaked = x * 2;
    return x;
  });
  ASSERT_OK(f(T1<float>({1})));
  EXPECT_THAT((leaked + 1).status(),
              StatusIs(StatusCode::kInvalidArgument, "traced tensor (f32[1]"));
  EXPECT_THAT(leaked.Fetch(),
              StatusIs(StatusCode::kInvalidArgument, "no value"));
  auto g = Jit([&](Tensor x) { return x + leaked; });
  EXPECT_THAT(g(T1<float>({1})),
              StatusIs(StatusCode::kInvalidArgument, "traced tensor"));
  EXPECT_THAT(f(leaked),
              StatusIs(StatusCode::kInvalidArgument, "argument 0"));
}

TEST_F(JitTest, FetchInsideATraceIsAnError) {
  absl::Status inside;
  auto f = Jit([&](Tensor x) {
    inside = x.Fetch().status();
    return x;
  });
  ASSERT_OK(f(T1<float>({1})));
  EXPECT_THAT(inside, StatusIs(StatusCode::kInvalidArgument, "no value"));
}

// ---- errors ---------------------------------------------------------------

TEST_F(JitTest, ATraceErrorNamesTheUsersLineAndTheFunction) {
  const int line = __LINE__ + 2;
  auto f = Jit([](Tensor x) {
    const Tensor bad = Transpose(x, {0, 0});
    return bad + 1;
  });
  const auto y = f(T1<float>({1, 2}));
  EXPECT_THAT(y, StatusIs(StatusCode::kInvalidArgument,
                          absl::StrCat("jit_test.cc:", line, ")")));
  EXPECT_THAT(y, StatusIs(StatusCode::kInvalidArgument,
                          absl::StrCat("tracing the function of ", __FILE__)));
}

TEST_F(JitTest, AnErrorInsideFailsTheTraceEvenIfUnused) {
  auto f = Jit([](Tensor x) {
    (void)Reshape(x, {17});
    return x;
  });
  EXPECT_THAT(f(T1<float>({1})),
              StatusIs(StatusCode::kInvalidArgument, "reshape: C2"));
}

TEST_F(JitTest, InvalidArgumentsComeBackFirst) {
  auto f = Jit([](Tensor x, Tensor y) { return x; });
  const Tensor bad = T1<float>({1, 2}) + T1<float>({1, 2, 3});
  EXPECT_THAT(f(1, bad), StatusIs(StatusCode::kInvalidArgument,
                                  "argument 1: Add: sizes"));
  EXPECT_THAT(f(Tensor(), 1),
              StatusIs(StatusCode::kFailedPrecondition, "argument 0"));
  auto nothing = Jit([](Tensor) { return Tensor(); });
  EXPECT_THAT(nothing(1),
              StatusIs(StatusCode::kFailedPrecondition, "never given"));
}

TEST_F(JitTest, AFailedCompileIsNotRemembered) {
  auto f = Jit([](Tensor x) { return x; });
  counting_->fail_compile = true;
  EXPECT_THAT(f(1), StatusIs(StatusCode::kUnavailable, "no compiler"));
  counting_->fail_compile = false;
  EXPECT_OK(f(1));
}

TEST_F(JitTest, AnArgumentWithoutAValueNamesTheFunction) {
  const int line = __LINE__ + 1;
  auto f = Jit([](Tensor x, Tensor y) { return x + y; });
  EXPECT_THAT(f(1, Tensor()),
              StatusIs(StatusCode::kFailedPrecondition,
                       absl::StrCat("calling the function of ", __FILE__, ":",
                                    line, ": argument 1: a Tensor")));
}

TEST_F(JitTest, ArgumentsOfTwoClients) {
  const Client other(std::make_shared<CountingClient>("other"));
  auto f = Jit([](Tensor x, Tensor y) { return x + y; });
  ASSERT_OK_AND_ASSIGN(const Tensor here, f(1, 2));
  ASSERT_OK_AND_ASSIGN(const Tensor there, f.With({.client = other})(1, 2));
  EXPECT_THAT(f(here, there), StatusIs(StatusCode::kFailedPrecondition,
                                       "argument 1: values of two clients"));
  EXPECT_THAT(f.With({.client = other})(here, 1),
              StatusIs(StatusCode::kFailedPrecondition, "other and counting"));
}

// ---- donation -------------------------------------------------------------

TEST_F(JitTest, DonatedTensorsMayNotBeUsedAgain) {
  auto f = Jit([](Tensor w, Tensor x) { return w + x; });
  ASSERT_OK_AND_ASSIGN(const Tensor w, f(T1<float>({1}), 1));
  const Tensor copy = w, pending = w * 2;
  ASSERT_OK_AND_ASSIGN(const Tensor next, f(Donate(w), 1));
  EXPECT_EQ(counting_->donated(), std::vector<int>{0});
  // The engine holds the only reference when it decides.
  EXPECT_EQ(counting_->donated_references, 1);
  EXPECT_VALUE(next, Literal::Vector<float>({3}));
  for (const Tensor& t : {w, copy}) {
    EXPECT_THAT(t.status(),
                StatusIs(StatusCode::kFailedPrecondition, "donated"));
    EXPECT_THAT(t.Fetch(),
                StatusIs(StatusCode::kFailedPrecondition, "donated"));
    EXPECT_THAT((t + 1).Fetch(),
                StatusIs(StatusCode::kFailedPrecondition, "donated"));
    EXPECT_THAT(f(t, 1), StatusIs(StatusCode::kFailedPrecondition, "donated"));
  }
  EXPECT_THAT(pending.Fetch(),
              StatusIs(StatusCode::kFailedPrecondition, "donated"));
}

TEST_F(JitTest, HostAndRecordedValuesCanBeDonated) {
  auto f = Jit([](Tensor w) { return w + 1; });
  const Tensor host = T1<float>({1}), recorded = Zeros(DType::kF32, {1});
  const Tensor big = Constant(Literal::Zeros(Shape::Of(DType::kF32, {5000})));
  EXPECT_OK(f(Donate(host)));
  EXPECT_OK(f(Donate(recorded)));
  EXPECT_OK(f(Donate(big)));
  for (const Tensor& t : {host, recorded, big}) {
    EXPECT_THAT(t.Fetch(),
                StatusIs(StatusCode::kFailedPrecondition, "donated"));
  }
}

TEST_F(JitTest, AFailedExecutionGivesDonationsBack) {
  auto f = Jit([](Tensor a, Tensor b) { return a + b; });
  ASSERT_OK_AND_ASSIGN(const Tensor a, f(T1<float>({1}), 1));
  const Tensor b = T1<float>({5});
  counting_->fail_execute = true;
  EXPECT_FALSE(f(Donate(a), Donate(b)).ok());
  counting_->fail_execute = false;
  EXPECT_VALUE(a, Literal::Vector<float>({2}));
  EXPECT_VALUE(b, Literal::Vector<float>({5}));
  // Twice in one call is refused, and nothing is lost.
  EXPECT_THAT(f(Donate(a), Donate(a)),
              StatusIs(StatusCode::kFailedPrecondition, "argument 1"));
  EXPECT_VALUE(a, Literal::Vector<float>({2}));
}

// ---- other ways to run ----------------------------------------------------

TEST_F(JitTest, WarmCompilesWithoutRunning) {
  auto f = Jit([](Tensor x, Tensor i) { return x + i; });
  ASSERT_OK(f.Warm(Shape::Of(DType::kF32, {2}), 1));
  EXPECT_EQ(counting_->compiles, 1);
  EXPECT_EQ(counting_->executions, 0);
  EXPECT_OK(f(T1<float>({1, 2}), 5));
  EXPECT_EQ(counting_->compiles, 1);
  EXPECT_THAT(f(Shape::Of(DType::kF32, {2}), 1),
              StatusIs(StatusCode::kInvalidArgument, "only Warm takes"));
}

TEST_F(JitTest, UnusedParametersStayArguments) {
  auto f = Jit([](Tensor x, Tensor) { return x; });
  ASSERT_OK_AND_ASSIGN(const Tensor y, f(1, 2));
  EXPECT_VALUE(y, Literal::Scalar<int32_t>(1));
}

TEST_F(JitTest, DatasetsAreArguments) {
  ASSERT_OK_AND_ASSIGN(
      const Dataset d,
      client_.Put({{"x", *T1<float>({1, 2, 3}).Fetch()},
                   {"y", *T1<int32_t>({4}).Fetch()}}));
  auto f = Jit([](Tensor x, Tensor i) { return Rows(x, i, 2); });
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const Tensor rows, f(d["x"], i));
    EXPECT_VALUE(rows, Literal::Vector<float>({i + 1.0f, i + 2.0f}));
  }
  EXPECT_EQ(counting_->array_lookups, 1);
  EXPECT_THAT(f(d["z"], 0),
              StatusIs(StatusCode::kNotFound, "it has: \"x\", \"y\""));
  ASSERT_OK_AND_ASSIGN(const Dataset same, client_.Dataset(d.token()));
  EXPECT_VALUE(same["y"], Literal::Vector<int32_t>({4}));
  ASSERT_OK(f(Donate(d["x"]), 0));
  EXPECT_OK(f(d["x"], 0));
  EXPECT_THAT(client_.Dataset("nonsense"),
              StatusIs(StatusCode::kInvalidArgument, "not a dataset token"));
}

TEST_F(JitTest, ManyThreadsTraceOnce) {
  std::atomic<int> traces{0}, wrong{0};
  auto f = Jit([&](Tensor x) {
    ++traces;
    return x * 2;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const ScopedClient scope(client_);
      for (int i = 0; i < 50; ++i) {
        const auto y = f(t * 100 + i);
        const auto value = y.ok() ? y->Fetch() : y.status();
        if (!value.ok() || value->data<int32_t>()[0] != 2 * (t * 100 + i)) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(counting_->compiles, 1);
}

TEST_F(JitTest, WhoeverWaitsForACompileHasHisOwnLimits) {
  Promise<bool> inside, go;
  std::atomic<int> tries{0};
  counting_->on_compile = [&] {
    if (++tries > 1) return absl::OkStatus();
    inside.Set(true);
    (void)go.future().Await();
    return absl::CancelledError("by somebody else");
  };
  auto f = Jit([](Tensor x) { return x * 2; }).With({.client = client_});
  absl::Status first, hasty;
  absl::StatusOr<Tensor> patient = absl::UnknownError("not yet");
  std::thread one([&] { first = f(1).status(); });
  EXPECT_OK(inside.future().Await());
  // Not in time: it ends at its own deadline.
  hasty = f.With({.client = client_,
                  .call = {.deadline = absl::Milliseconds(30)}})(1)
              .status();
  std::thread two([&] { patient = f(1); });
  go.Set(true);
  one.join();
  two.join();
  EXPECT_THAT(first, StatusIs(StatusCode::kCancelled, "by somebody else"));
  EXPECT_THAT(hasty, StatusIs(StatusCode::kDeadlineExceeded,
                              "deadline of 30ms passed: the function of "));
  EXPECT_THAT(hasty, StatusIs(StatusCode::kDeadlineExceeded, " on counting; "));
  ASSERT_OK(patient);
  EXPECT_VALUE(*patient, Literal::Scalar<int32_t>(2));
}

TEST(DefaultClient, IsTheInnermostScopeOfTheThread) {
  const Client a(std::make_shared<CountingClient>("a"));
  const Client b(std::make_shared<CountingClient>("b"));
  const std::string outside = Client::Default().name();
  {
    const ScopedClient scope_a(a);
    EXPECT_EQ(Client::Default().name(), "a");
    {
      const ScopedClient scope_b(b);
      EXPECT_EQ(Client::Default().name(), "b");
      std::thread([&] { EXPECT_EQ(Client::Default().name(), outside); }).join();
    }
    EXPECT_EQ(Client::Default().name(), "a");
  }
  EXPECT_EQ(Client::Default().name(), outside);
  EXPECT_FALSE(Client().valid());
  EXPECT_EQ(Client().name(), "none");
  EXPECT_FALSE(Client().Put({{"", Literal::Scalar(1)}}).ok());
}

TEST(DefaultClient, FactoryIsAskedOnce) {
  int asked = 0;
  SetDefaultClientFactory([&] {
    ++asked;
    return Client(std::make_shared<CountingClient>("made"));
  });
  EXPECT_EQ(Client::Default().name(), "made");
  EXPECT_EQ(Client::Default().name(), "made");
  EXPECT_EQ(asked, 1);
  SetDefaultClientFactory([] { return Client(); });
  EXPECT_EQ(Client::Default().name(), "cpu");
  SetDefaultClientFactory(nullptr);
}

}  // namespace
}  // namespace hawser
