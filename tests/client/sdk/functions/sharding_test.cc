// Marks of where arguments are cut, and calls as tasks.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/ir/source_location.h"
#include "core/sharding/shard_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/sdk/values.h"
#include "tests/testing/forwarding_client.h"

namespace hawser {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

// A client that says it has places, and remembers where it was told to cut.
class PlacesClient : public ForwardingClient {
 public:
  explicit PlacesClient(int places)
      : ForwardingClient(cpu::MakeCpuClient()), places_(places) {}

  absl::StatusOr<runtime::Capabilities> capabilities() override {
    auto all = inner().capabilities();
    if (all.ok()) all->places = places_;
    return all;
  }
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override {
    ++compiles;
    cuts = options.cuts;
    return inner().Compile(std::move(module), options, call);
  }
  // As text; "": it was told nothing.
  std::string cut_text() const {
    return cuts == nullptr ? "" : ToString(*cuts);
  }

  int compiles = 0;
  std::shared_ptr<const ShardSpec> cuts;  // of the last Compile

 private:
  const int places_;
};

constexpr SourceLocation kWrong{"wrong.cc", 7};

// Marks are for three places; on the CPU they change nothing.
class MarksTest : public testing::Test {
 protected:
  // What f gives for these arguments is `value` there and on the CPU, and the
  // cuts are those of `text`.
  template <typename F, typename... Args>
  void ExpectCuts(absl::string_view text, const Literal& value, const F& f,
                  const Args&... args) {
    for (const Client& client : {client_, Client::Cpu()}) {
      ASSERT_OK_AND_ASSIGN(const Tensor y, f.With({.client = client})(args...));
      EXPECT_VALUE(y, value);
    }
    EXPECT_EQ(places_->cut_text(), text);
  }
  // What is wrong with the mark at kWrong is said before anything is compiled,
  // also where marks are ignored.
  template <typename F, typename... Args>
  void ExpectRefused(absl::string_view what, const F& f, const Args&... args) {
    for (const Client& client : {client_, Client::Cpu()}) {
      const int before = places_->compiles;
      EXPECT_THAT(f.With({.client = client})(args...),
                  StatusIs(StatusCode::kInvalidArgument,
                           absl::StrCat(what, " (at wrong.cc:7)")));
      EXPECT_EQ(places_->compiles, before);
    }
  }

  std::shared_ptr<PlacesClient> places_ = std::make_shared<PlacesClient>(3);
  Client client_{places_};
  JitFunction<Tensor (*)(Tensor, Tensor)> sum_ =
      Jit(+[](Tensor a, Tensor b) { return a + b; });
};

TEST_F(MarksTest, GoOnToTheClient) {
  const Tensor a = TN<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Literal twice = Literal::Of<float>({2, 4, 6, 8, 10, 12}, {2, 3});
  ExpectCuts("", twice, sum_, a, a);
  ExpectCuts("0.0/0 split", twice, sum_, Cut(a, 0), a);
  ExpectCuts("1.-1/2 split", twice, sum_, a, Cut(a, -1, 2));
  ExpectCuts("0.1=1+2 1.0. 1.1. split", twice, sum_, Cut(a, 1, {1, 2}),
             Whole(a));
  ExpectCuts("0.0/2 0.1=3+0 split", twice, sum_, Cut(Cut(a, 0, 2), 1, {3, 0}),
             a);
  ExpectCuts("0.0=2 split", twice, sum_, Cut(a, 0, {2}), a);
  const Dims counted = {1, 1};
  ExpectCuts("0.0=1+1 split", twice, sum_, Cut(a, 0, counted), a);
  EXPECT_EQ(places_->cuts->unnamed, ShardSpec::Unnamed::kWhole);
  EXPECT_FALSE(places_->cuts->strict);
}

TEST_F(MarksTest, AreASignatureOfTheirOwn) {
  const auto f = Jit([](Tensor a) { return a * 2; }).With({.client = client_});
  const Tensor a = T1<float>({1, 2, 3, 4});
  const auto run = [&](const auto& argument, int compiles) {
    for (int i = 0; i < 2; ++i) ASSERT_OK(f(argument));
    EXPECT_EQ(places_->compiles, compiles);
  };
  run(a, 1);
  run(Cut(a, 0), 2);
  run(Cut(a, 0, 2), 3);
  run(Cut(a, -1, 2), 4);
  run(Cut(a, 0, {2, 2}), 5);
  run(Cut(a, 0, {1, 3}), 6);
  run(Whole(a), 7);
  run(a, 7);
  run(Cut(a, 0, {1, 3}), 7);
  ASSERT_OK(f.Warm(Cut(Shape::Of(DType::kF32, {4}), 0, 2)));
  EXPECT_EQ(places_->compiles, 7);
}

struct Affine {
  Tensor w, b;
};
auto HawserFields(Affine& l) { return std::tie(l.w, l.b); }

TEST_F(MarksTest, AreOfEveryTensorOfAStructure) {
  const auto f = Jit([](Affine l, std::vector<Tensor> x, Tensor s) {
    return Dot(x[0] + x[1], l.w) + l.b * s;
  });
  const Tensor x = TN<float>({1, 2, 3, 4}, {2, 2});
  const Affine layer{x, T1<float>({1, 1})};
  ExpectCuts("0.0. 0.1. 1.0. 2.0/2 3.0/2 split",
             Literal::Of<float>({17, 23, 33, 47}, {2, 2}), f, Whole(layer),
             Cut(std::vector<Tensor>{x, x}, 0, 2), Whole(3.0f));
  // A scalar has no axis to be whole.
  ExpectCuts("", Literal::Of<float>({17, 23, 33, 47}, {2, 2}), f, layer,
             std::vector<Tensor>{x, x}, Whole(3.0f));
  ExpectCuts("0.0/2 1.0/2 4.0/0 split",
             Literal::Of<float>({17, 23, 33, 47}, {2, 2}), f, Cut(layer, 0, 2),
             std::vector<Tensor>{x, x}, Cut(T1<float>({3, 3}), 0));
}

TEST_F(MarksTest, HoldDonatedAndBatchedAndAreHeldByThem) {
  const auto f =
      Jit([](Tensor a, Tensor b) { return a + b; }, {.batch_buckets = {4}});
  const auto run = f.With({.client = client_});
  const Literal rows = Literal::Of<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  const Literal twice = Literal::Of<float>({2, 4, 6, 8, 10, 12}, {3, 2});
  const Tensor donated = Constant(rows), too = Constant(rows);
  ASSERT_OK_AND_ASSIGN(const Tensor y,
                       run(Cut(Batched(Donate(donated)), 0, 2),
                           Donate(Batched(Cut(Cut(too, 0, 2), 1)))));
  EXPECT_EQ(places_->cut_text(), "0.0/2 1.0/2 1.1/0 split");
  EXPECT_VALUE(y, twice);
  for (const Tensor& gone : {donated, too}) {
    EXPECT_THAT(gone.Fetch(), StatusIs(StatusCode::kFailedPrecondition,
                                       "after it was donated"));
  }
  // The rows of the bucket are cut.
  EXPECT_THAT(run(Batched(Cut(rows, 0, {1, 2})), Batched(rows)),
              StatusIs(StatusCode::kInvalidArgument,
                       "axis 0 of argument 0: sizes 1+2 add up to 3, the axis "
                       "has 4"));
}

TEST_F(MarksTest, AreNothingInsideATrace) {
  const auto f = Jit([&](Tensor a, Tensor b) {
    auto [sum, none] = While(
        std::tuple(Cut(a, 0), 0), [](Tensor, Tensor i) { return Lt(i, 1); },
        [&](Tensor x, Tensor i) {
          return std::tuple(*sum_(Cut(x, 5), Whole(b)), i + 1);
        });
    return sum;
  });
  ExpectCuts("", F({4, 6}), f, T1<float>({1, 2}), T1<float>({3, 4}));
}

TEST_F(MarksTest, WrongOnesAreNamedWithTheirLine) {
  const Tensor a = Constant(Literal::Zeros(Shape::Of(DType::kF32, {4, 3})));
  constexpr int kLineOfGood = __LINE__ + 1;
  const auto good = Cut(a, 0, 2);
  const auto here = [](auto value, int axis, CutParts parts = 0) {
    return Cut(value, axis, std::move(parts), kWrong);
  };
  ExpectRefused("axis 2 of argument 1: it is f32[4,3]", sum_, good, here(a, 2));
  ExpectRefused("axis -3 of argument 0: it is f32[4,3]", sum_, here(a, -3, 2),
                Cut(a, 7));
  ExpectRefused("axis 0 of argument 0: it is f32[]", sum_, here(1.0f, 0), good);
  ExpectRefused("axis 0 of argument 1: cut into -1 parts", sum_, good,
                here(a, 0, -1));
  ExpectRefused("axis 0 of argument 1: sizes 3+2 do not lie within 4", sum_,
                good, here(a, 0, {3, 2}));
  ExpectRefused("axis 0 of argument 1: sizes -1+5 do not lie within 4", sum_,
                good, here(a, 0, {-1, 5}));
  ExpectRefused("axis -1 of argument 0: sizes 1+1 add up to 2, the axis has 3",
                sum_, here(a, -1, {1, 1}), good);
  ExpectRefused("axis 0 of argument 0: sizes  add up to 0, the axis has 4",
                sum_, here(a, 0, {}), good);
  ExpectRefused("axis -2 of argument 0 is cut twice", sum_,
                here(Cut(a, 0), -2, 2), good);
  ExpectRefused("axis 1 of argument 1 is cut twice", sum_, good,
                Whole(Cut(a, 1), kWrong));
  EXPECT_EQ(good.where.line, kLineOfGood);
}

// ---- cuts that come out whole ----------------------------------------------

// Every turn of the loop takes all rows, so a cut of them ends at it.
constexpr int kLineOfLoop = __LINE__ + 3;
Tensor Centred(Tensor x, Tensor y) {
  return y *
         std::get<1>(While(
             std::tuple(0, x), [](Tensor i, Tensor) { return Lt(i, 2); },
             [](Tensor i, Tensor x) { return std::tuple(i + 1, x - Sum(x)); }));
}
std::string RowsAreWhole() {
  return absl::StrCat(
      "axis 0 of argument 0 is whole: while takes all of it (at ", __FILE__,
      ":", kLineOfLoop, ")");
}

// What is logged while f is called twice.
template <typename F, typename... Args>
std::string LogOf(const F& f, const Args&... args) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) EXPECT_OK(f(args...));
  return testing::internal::GetCapturedStderr();
}

TEST_F(MarksTest, ACutThatComesOutWholeIsOneWarning) {
  const Tensor x = TN<float>({1, 2, 3, 4}, {4, 1}), y = T1<float>({1, 2});
  const auto f = Jit(Centred);
  const auto run = f.With({.client = client_});
  EXPECT_EQ(LogOf(run, x, y), "");
  EXPECT_EQ(LogOf(run, x, Cut(y, 0)), "");
  const std::string log = LogOf(run, Cut(x, 0, 2), y);
  EXPECT_THAT(log,
              HasSubstr(absl::StrCat("] calling the function of ", __FILE__)));
  EXPECT_THAT(log, testing::EndsWith(RowsAreWhole() + "\n"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1);
  // Another signature. As many parts as there are places are several.
  EXPECT_THAT(LogOf(run, Cut(x, 0), y), HasSubstr(RowsAreWhole()));
  EXPECT_EQ(LogOf(run, Cut(x, 0, 1), y), "");
  EXPECT_EQ(LogOf(f.With({.client = Client::Cpu()}), Cut(x, 0, 2), y), "");
}

TEST_F(MarksTest, StrictCutsAreAnError) {
  const Tensor x = TN<float>({1, 2, 3, 4}, {4, 1}), y = T1<float>({1, 2});
  const auto f = Jit(Centred, {.strict_cuts = true});
  const auto run = f.With({.client = client_});
  EXPECT_THAT(run(Cut(x, 0, 2), y),
              StatusIs(StatusCode::kInvalidArgument, RowsAreWhole()));
  EXPECT_THAT(run.Warm(Cut(x, 0), Whole(y)),
              StatusIs(StatusCode::kInvalidArgument, RowsAreWhole()));
  EXPECT_EQ(places_->compiles, 0);
  EXPECT_OK(run(x, Cut(y, 0)));
  EXPECT_OK(f.With({.client = Client::Cpu()})(Cut(x, 0, 2), y));
}

TEST_F(MarksTest, WhatNoResultNeedsEndsNoCut) {
  const auto run = Jit(
                       [](Tensor x, Tensor y) {
                         Centred(x, y);
                         return y * 2;
                       },
                       {.strict_cuts = true})
                       .With({.client = client_});
  EXPECT_OK(run(Cut(T1<float>({1, 2, 3}), 0), T1<float>({1})));
}

TEST_F(MarksTest, MorePartsThanTasksAreRefused) {
  const auto run =
      Jit([](Tensor x, Tensor y) {
        return Dot(x, y, {.contract_a = {0, 1}, .contract_b = {0, 1}});
      }).With({.client = client_});
  const Tensor x = Constant(Literal::Zeros(Shape::Of(DType::kF32, {100, 100})));
  EXPECT_THAT(run(Cut(Cut(x, 0, 100), 1, 100), x),
              StatusIs(StatusCode::kInvalidArgument,
                       "the cuts make 10000 tasks, at most 4096 are wanted"));
  EXPECT_THAT(run(Cut(x, 0, 5000), x), IsOk());
}

// ---- calls as tasks
// ----------------------------------------------------------

Tensor SeedFunction(Tensor l, Tensor r) {
  const Tensor left =
      Transpose(l + TN<int32_t>({1}, {1, 1}), std::array<int64_t, 3>{0, 2, 1});
  const Tensor right = Squeeze(r - 1, std::array<int64_t, 2>{0, 1});
  return Dot(left, right, {.contract_a = {2, 1}, .contract_b = {1, 0}});
}
Tensor SeedLeft() { return Iota(DType::kF32, {2, 2, 3}); }
Tensor SeedRight() { return Iota(DType::kS32, {1, 1, 3, 2, 2}) + 10; }
Literal SeedValue() { return Literal::Of<float>({319, 340, 823, 880}, {2, 2}); }

TEST(ShardTest, TheSeedsExample) {
  ASSERT_OK_AND_ASSIGN(const auto call,
                       Shard(SeedFunction, "1.4=1+1")(SeedLeft(), SeedRight()));
  ASSERT_EQ(call.sharding().tasks.size(), 4u);
  EXPECT_EQ(call.Explain(1),
            "(f32[2,2,3], s32[1,1,3,2,2]) -> (f32[2,2]): 4 tasks, 1 modules\n"
            "axis 0.0 r0.0 = 1+1\n"
            "axis 0.1 = 1+1\n"
            "axis 0.2 = 1+1+1\n"
            "axis 1.2 = 1+1+1\n"
            "axis 1.3 = 1+1\n"
            "axis 1.4 r0.1 = 1+1\n"
            "task 0: 0[0:1, 0:2, 0:3] 1[0:1, 0:1, 0:3, 0:2, 0:1] -> "
            "r0[0:1, 0:1]\n"
            "...\n");
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const Tensor y, call.Run());
    EXPECT_VALUE(y, SeedValue());
    EXPECT_EQ(y.ran_on(), "cpu");
  }
}

TEST(ShardTest, TasksTakeWhatOthersGive) {
  ASSERT_OK_AND_ASSIGN(const auto call,
                       Shard(SeedFunction, "0.0* 0.1/2 0.2/3 1.4=1+1 split")(
                           SeedLeft(), SeedRight()));
  EXPECT_EQ(call.sharding().tasks.size(), 28u);
  ASSERT_OK_AND_ASSIGN(const Tensor y, call.Run());
  EXPECT_VALUE(y, SeedValue());
}

TEST(ShardTest, MarksComeBesideTheSpec) {
  ShardSpec spec;
  spec.unnamed = ShardSpec::Unnamed::kWhole;
  const auto shard = Shard(SeedFunction, spec);
  ASSERT_OK_AND_ASSIGN(const auto one, shard(SeedLeft(), SeedRight()));
  EXPECT_EQ(one.sharding().tasks.size(), 1u);
  ASSERT_OK_AND_ASSIGN(const auto two,
                       shard(SeedLeft(), Cut(SeedRight(), -1, 2)));
  EXPECT_EQ(two.sharding().tasks.size(), 2u);
  ASSERT_OK_AND_ASSIGN(const Tensor y, two.Run());
  EXPECT_VALUE(y, SeedValue());
  EXPECT_THAT(shard(SeedLeft(), Cut(SeedRight(), 5)),
              StatusIs(StatusCode::kInvalidArgument, "axis 5 of argument 1"));
  EXPECT_THAT(shard(SeedLeft(), Cut(SeedRight(), 4)),
              StatusIs(StatusCode::kInvalidArgument, "cut into 0 parts"));
  EXPECT_THAT(
      Shard(SeedFunction, "1.4=1+1")(SeedLeft(), Cut(SeedRight(), 4, 2)),
      StatusIs(StatusCode::kInvalidArgument, "axis 4 of argument 1 is cut"));
}

TEST(ShardTest, TakesAndGivesStructures) {
  const auto f = Jit([](Affine l, Tensor x) {
    return std::pair(Affine{l.w * 2, l.b}, Dot(x, l.w) + l.b);
  });
  const Tensor w = TN<float>({1, 2, 3, 4}, {2, 2}), b = T1<float>({1, 1});
  ASSERT_OK_AND_ASSIGN(
      const auto call,
      Shard(f, "2.0/2 0.0.")(Donate(Affine{w, b}), Literal(*w.Fetch())));
  ASSERT_OK_AND_ASSIGN(const auto got, call.Run());
  EXPECT_VALUE(got.first.w, Literal::Of<float>({2, 4, 6, 8}, {2, 2}));
  EXPECT_VALUE(got.first.b, F({1, 1}));
  EXPECT_VALUE(got.second, Literal::Of<float>({8, 11, 16, 23}, {2, 2}));
  EXPECT_VALUE(w, Literal::Of<float>({1, 2, 3, 4}, {2, 2}));  // stays
}

TEST(ShardTest, ShapesAreLookedAtOnly) {
  ASSERT_OK_AND_ASSIGN(
      const auto call,
      Shard(SeedFunction, "1.4=1+1")(SeedLeft(),
                                     Shape::Of(DType::kS32, {1, 1, 3, 2, 2})));
  EXPECT_EQ(call.sharding().tasks.size(), 4u);
  EXPECT_THAT(call.Run(),
              StatusIs(StatusCode::kInvalidArgument, "argument 1 is a Shape"));
}

TEST(ShardTest, EndsByItsDeadline) {
  ASSERT_OK_AND_ASSIGN(
      const auto call,
      Shard(SeedFunction, "")(*SeedLeft().Fetch(), *SeedRight().Fetch()));
  EXPECT_THAT(call.Run({.deadline = absl::ZeroDuration()}),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
}

TEST(ShardTest, WhatIsWrongIsSaid) {
  const Tensor x = TN<float>({1, 2, 3, 4}, {4, 1}), y = T1<float>({1, 2});
  const auto refused = [&](auto spec, absl::string_view what) {
    EXPECT_THAT(Shard(Centred, spec)(x, y),
                StatusIs(StatusCode::kInvalidArgument, what));
  };
  refused("0.0?", "\"0.0?\" is no cut");
  refused("2.0/2", "axis 0 of argument 2: there are 2 arguments");
  refused("0.0=1+2", "sizes 1+2 add up to 3, the axis has 4");
  ShardSpec spec = *ParseShardSpec("0.0/2 1.0.");
  ASSERT_OK_AND_ASSIGN(const auto call, Shard(Centred, spec)(x, y));
  EXPECT_THAT(call.Explain(), HasSubstr("note: " + RowsAreWhole() + "\n"));
  spec.strict = true;
  refused(spec, RowsAreWhole());
  spec = *ParseShardSpec("1.0/2");
  spec.max_tasks = 1;
  refused(spec, absl::StrCat("calling the function of ", __FILE__));
  refused(spec, "axis 0 of argument 1: 2 parts are more than 1 tasks");
  EXPECT_THAT(Shard([](Tensor a, Tensor b) { return Dot(a, b); }, "")(x, x),
              StatusIs(StatusCode::kInvalidArgument, "tracing the function"));
}

}  // namespace
}  // namespace hawser
