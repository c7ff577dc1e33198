#include "kernels/cpu/client/cpu_client.h"

#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/runtime/datasets.h"
#include "kernels/cpu/libraries/blas.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

// Long enough that what is started after it finds it running.
constexpr int64_t kSomeTurns = 20000;
constexpr int64_t kEndless = int64_t{1} << 60;

class CpuClientTest : public testing::Test {
 protected:
  std::shared_ptr<runtime::Executable> Compile(Module module) {
    auto executable =
        client_->Compile(std::make_shared<Module>(std::move(module)), {}, {});
    EXPECT_OK(executable);
    return *executable;
  }
  // x + y of s64[n]
  std::shared_ptr<runtime::Executable> CompileAdd(int64_t n) {
    const Shape shape = Shape::Of(DType::kS64, {n});
    return Compile(OpModule(kAdd, {shape, shape}));
  }
  std::shared_ptr<runtime::Executable> CompileCount() {
    return Compile(CountModule());
  }
  static std::vector<BufferPtr> Run(
      const std::shared_ptr<runtime::Executable>& executable,
      const std::vector<Argument>& arguments,
      const runtime::ExecuteOptions& options = {}) {
    auto results = executable->Execute(arguments, options);
    EXPECT_OK(results);
    return *std::move(results);
  }
  // A scalar s64 that is there only after some turns of a loop.
  BufferPtr Later(int64_t turns, const runtime::ExecuteOptions& options = {}) {
    return Run(CompileCount(),
               {Literal::Scalar<int64_t>(0), Literal::Scalar(turns)},
               options)[0];
  }
  static absl::StatusOr<Literal> Get(const BufferPtr& buffer) {
    return buffer->Fetch({}).Await(absl::Now() + absl::Seconds(30));
  }

  std::shared_ptr<CpuClient> client_ = MakeCpuClient({.threads = 2});
};

TEST_F(CpuClientTest, SaysWhatItIs) {
  EXPECT_EQ(client_->name(), "cpu");
  ASSERT_OK_AND_ASSIGN(const runtime::Capabilities c, client_->capabilities());
  EXPECT_EQ(c.platform, "cpu");
  EXPECT_THAT(c.device, testing::ContainsRegex("core"));
  const Blas* blas = FindBlas();
  EXPECT_THAT(c.engine_id, testing::StartsWith("cpu, "));
  EXPECT_THAT(c.engine_id, testing::HasSubstr(blas == nullptr ? "own products"
                                                              : blas->name));
  EXPECT_GT(c.memory_bytes, 0);
  EXPECT_EQ(c.opset, 1);
  EXPECT_THAT(c.ops, testing::IsEmpty());
}

TEST_F(CpuClientTest, SmallExecutablesAreDoneWhenExecuteReturns) {
  const auto add = CompileAdd(2);
  const BufferPtr sum = Run(add, {Literal::Vector<int64_t>({1, 2}),
                                  Literal::Vector<int64_t>({3, 4})})[0];
  EXPECT_TRUE(sum->Fetch({}).ready());
  EXPECT_EQ(sum->ran_on(), "cpu");
  EXPECT_EQ(sum->client(), client_.get());
  EXPECT_EQ(sum->shape(), Shape::Of(DType::kS64, {2}));
  EXPECT_THAT(*Get(sum), LiteralEquals(Literal::Vector<int64_t>({4, 6})));
}

TEST_F(CpuClientTest, LargeExecutablesRunElsewhere) {
  const int64_t n = 1 << 20;
  const auto add = CompileAdd(n);
  const Literal one = Full<int64_t>(1, {n});
  EXPECT_THAT(*Get(Run(add, {one, one})[0]),
              LiteralEquals(Full<int64_t>(2, {n})));
}

// Clients without threads of their own share the process's, so that ten of them
// keep no more cores busy than one.
TEST_F(CpuClientTest, ClientsShareThreads) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         {});
  };
  const int64_t n = 1 << 20;
  const Literal one = Full<int64_t>(1, {n});
  std::vector<std::shared_ptr<CpuClient>> clients = {MakeCpuClient()};
  const auto before = threads();
  while (clients.size() < 10) clients.push_back(MakeCpuClient());
  std::vector<BufferPtr> sums;
  for (const auto& client : clients) {
    const auto module = std::make_shared<const Module>(
        OpModule(kAdd, {one.shape(), one.shape()}));
    ASSERT_OK_AND_ASSIGN(const auto add, client->Compile(module, {}, {}));
    sums.push_back(Run(add, {one, one})[0]);
  }
  clients.clear();  // each waits for its own work alone
  for (const BufferPtr& sum : sums) {
    EXPECT_THAT(*Get(sum), LiteralEquals(Full<int64_t>(2, {n})));
  }
  EXPECT_EQ(threads(), before);
}

TEST_F(CpuClientTest, AChainWaitsForItsArguments) {
  BufferPtr x = Later(kSomeTurns);
  const auto add = Compile(
      OpModule(kAdd, {Shape::Scalar(DType::kS64), Shape::Scalar(DType::kS64)}));
  for (int i = 0; i < 1000; ++i) {
    x = Run(add, {x, Literal::Scalar<int64_t>(1)})[0];
  }
  // Both arguments at once, twice the same buffer.
  x = Run(add, {x, x})[0];
  EXPECT_THAT(*Get(x),
              LiteralEquals(Literal::Scalar<int64_t>(2 * (kSomeTurns + 1000))));
}

TEST_F(CpuClientTest, TheFirstErrorTravelsToTheEnd) {
  const auto small = MakeCpuClient({.threads = 1, .memory_limit = 1000});
  const Shape shape = Shape::Of(DType::kS64, {});
  auto compile = [&](Module module) {
    return *small->Compile(std::make_shared<Module>(std::move(module)), {}, {});
  };
  const auto big = compile(OpModule(kIota, {},
                                    {{"dims", Dims{1000}},
                                     {"dtype", DType::kS64},
                                     {"iota_dimension", int64_t{0}}}));
  const auto reshape = compile(OpModule(
      kReshape, {Shape::Of(DType::kS64, {1000})}, {{"dims", Dims{10, 100}}}));
  BufferPtr x = Run(reshape, {Run(big, {})[0]})[0];
  EXPECT_THAT(Get(x), StatusIs(absl::StatusCode::kResourceExhausted,
                               "instruction %0 (iota): no memory for "
                               "s64[1000]"));
  // The same when the argument fails only after it was used.
  const auto pick = Compile(OpModule(kAdd, {shape, shape}));
  const CancelToken token = CancelToken::WithFlag();
  const BufferPtr slow = Later(kEndless, {.call = {.cancel = token}});
  const BufferPtr after = Run(pick, {Literal::Scalar<int64_t>(1), slow})[0];
  token.Cancel();
  EXPECT_THAT(Get(after), StatusIs(absl::StatusCode::kCancelled,
                                   "cancelled by the caller"));
}

TEST_F(CpuClientTest, ACancelEndsALoopSoon) {
  const CancelToken token = CancelToken::WithFlag();
  const BufferPtr x = Later(kEndless, {.call = {.cancel = token}});
  const Future<Literal> value = x->Fetch({});
  absl::SleepFor(absl::Milliseconds(5));
  EXPECT_FALSE(value.ready());
  const absl::Time start = absl::Now();
  token.Cancel();
  EXPECT_THAT(Get(x), StatusIs(absl::StatusCode::kCancelled, ""));
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
}

TEST_F(CpuClientTest, ADeadlineAnswersWhatIsStillQueued) {
  // Both threads are busy; the third would not run for a long time.
  const CancelToken stop = CancelToken::WithFlag();
  const BufferPtr a = Later(kEndless, {.call = {.cancel = stop}});
  const BufferPtr b = Later(kEndless, {.call = {.cancel = stop}});
  const BufferPtr c =
      Later(kSomeTurns, {.call = {.attempt_timeout = absl::Milliseconds(20)}});
  EXPECT_THAT(Get(c), StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  // A fetch of its own deadline leaves the value on its way.
  const Future<Literal> fetch =
      a->Fetch({.attempt_timeout = absl::Milliseconds(20)});
  EXPECT_THAT(fetch.Await(), StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  EXPECT_FALSE(a->Fetch({}).ready());
  stop.Cancel();
  EXPECT_THAT(Get(b), StatusIs(absl::StatusCode::kCancelled, ""));
}

TEST_F(CpuClientTest, DonatedMemoryIsReused) {
  const int64_t n = 1 << 17;
  const auto add = CompileAdd(n);
  const Literal one = Full<int64_t>(1, {n});
  BufferPtr x = Run(add, {one, one})[0];
  const char* memory = Get(x)->bytes().data();
  // A reference that is left keeps the bytes as they are.
  BufferPtr y = Run(add, {x, one}, {.donated = {0}})[0];
  EXPECT_THAT(*Get(y), LiteralEquals(Full<int64_t>(3, {n})));
  EXPECT_THAT(*Get(x), LiteralEquals(Full<int64_t>(2, {n})));
  EXPECT_NE(Get(y)->bytes().data(), memory);
  // The last reference gone, the sum takes its place. Both threads are busy
  // until then.
  const BufferPtr wait1 = Later(kSomeTurns);
  const BufferPtr wait2 = Later(kSomeTurns);
  std::vector<Argument> arguments = {std::move(x), one};
  y = (*add->Execute(arguments, {.donated = {0}}))[0];
  arguments.clear();
  EXPECT_EQ(Get(y)->bytes().data(), memory);
  EXPECT_THAT(*Get(y), LiteralEquals(Full<int64_t>(3, {n})));
}

TEST_F(CpuClientTest, NotDonatedMemoryIsLeftAlone) {
  const int64_t n = 1 << 17;
  const auto add = CompileAdd(n);
  const Literal one = Full<int64_t>(1, {n});
  const BufferPtr uploaded = *client_->Upload(one, {});
  EXPECT_THAT(*Get(Run(add, {uploaded, uploaded})[0]),
              LiteralEquals(Full<int64_t>(2, {n})));
  EXPECT_THAT(*Get(uploaded), LiteralEquals(Full<int64_t>(1, {n})));
  EXPECT_EQ(Get(uploaded)->bytes().data(), one.bytes().data());  // shared
}

TEST_F(CpuClientTest, LocalErrorsComeFromExecute) {
  const auto add = CompileAdd(2);
  const Literal x = Literal::Vector<int64_t>({1, 2});
  auto execute = [&](std::vector<Argument> arguments,
                     std::vector<int> donated = {}) {
    return add->Execute(arguments, {.donated = std::move(donated)}).status();
  };
  EXPECT_THAT(execute({x}), StatusIs(absl::StatusCode::kInvalidArgument,
                                     "takes 2 arguments, got 1"));
  EXPECT_THAT(execute({x, Literal::Scalar<int64_t>(1)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "argument 1 is s64[], must be s64[2]"));
  EXPECT_THAT(
      execute({x, BufferPtr()}),
      StatusIs(absl::StatusCode::kInvalidArgument, "argument 1 is no buffer"));
  EXPECT_THAT(execute({x, x}, {2}), StatusIs(absl::StatusCode::kInvalidArgument,
                                             "donated argument 2"));
  const auto other = MakeCpuClient({.threads = 1});
  EXPECT_THAT(execute({x, *other->Upload(x, {})}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "argument 1 is a buffer of another client"));
}

TEST_F(CpuClientTest, CallGivesValues) {
  const auto add = CompileAdd(2);
  const Literal x = Literal::Vector<int64_t>({1, 2});
  auto now = add->Call({Argument(x), Argument(x)}, {});
  EXPECT_TRUE(now.ready());
  EXPECT_THAT(now.Await()->values[0],
              LiteralEquals(Literal::Vector<int64_t>({2, 4})));
  EXPECT_THAT(add->Call({Argument(x)}, {}).Await(),
              StatusIs(absl::StatusCode::kInvalidArgument, "got 1"));
  const auto count = CompileCount();
  EXPECT_THAT(count
                  ->Call({Argument(Literal::Scalar<int64_t>(0)),
                          Argument(Literal::Scalar<int64_t>(9))},
                         {})
                  .Await()
                  ->values[0],
              LiteralEquals(Literal::Scalar<int64_t>(9)));
}

TEST_F(CpuClientTest, CompileRefusesWhatItCannotRun) {
  EXPECT_THAT(client_->Compile(nullptr, {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no module"));
  EXPECT_THAT(client_->Compile(std::make_shared<Module>("empty"), {}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no computation"));
  const auto strict = MakeCpuClient({.limits = {.instructions = 2}});
  EXPECT_THAT(strict->Compile(std::make_shared<Module>(CountModule()), {}, {}),
              StatusIs(absl::StatusCode::kResourceExhausted, "the limit is 2"));
}

TEST_F(CpuClientTest, BuffersAndMemoryComeBack) {
  {
    const BufferPtr later = Later(kSomeTurns);
    const BufferPtr x = *client_->Upload(Literal::Scalar(1.0f), {});
    EXPECT_EQ(client_->live_buffers(), 2);
    ASSERT_OK(Get(later));
  }
  // The thread that ran the loop lets go a moment after the answer.
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (client_->live_buffers() + client_->live_bytes() > 0 &&
         absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(client_->live_buffers(), 0);
  EXPECT_EQ(client_->live_bytes(), 0);
}

TEST_F(CpuClientTest, TheDestructorWaitsAndBuffersOutliveIt) {
  const auto count = CompileCount();
  const BufferPtr later = Later(kSomeTurns);
  const auto add = Compile(
      OpModule(kAdd, {Shape::Scalar(DType::kS64), Shape::Scalar(DType::kS64)}));
  const BufferPtr sum = Run(add, {later, later})[0];
  client_.reset();
  EXPECT_TRUE(sum->Fetch({}).ready());
  EXPECT_THAT(*Get(sum),
              LiteralEquals(Literal::Scalar<int64_t>(2 * kSomeTurns)));
  EXPECT_EQ(sum->client(), nullptr);
  EXPECT_THAT(
      count->Execute({Argument(Literal::Scalar<int64_t>(0)),
                      Argument(Literal::Scalar<int64_t>(1))},
                     {}),
      StatusIs(absl::StatusCode::kFailedPrecondition, "client is gone"));
}

TEST_F(CpuClientTest, ACallbackMayDropTheLastReference) {
  const BufferPtr later = Later(kSomeTurns);
  std::atomic<bool> dropped{false};
  later->Fetch({}).OnReady(
      [client = std::move(client_), &dropped](const auto&) mutable {
        client.reset();
        dropped = true;
      });
  ASSERT_OK(Get(later));
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (!dropped && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(dropped);
}

TEST_F(CpuClientTest, ManyThreadsShareOneExecutable) {
  const auto add = CompileAdd(40000);  // too much to run at once
  const Literal one = Full<int64_t>(1, {40000});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      BufferPtr x = *client_->Upload(one, {});
      for (int i = 0; i < 50; ++i) {
        x = Run(add, {std::move(x), one}, {.donated = {0}})[0];
      }
      EXPECT_EQ(Get(x)->data<int64_t>()[39999], 51);
    });
  }
  for (std::thread& t : threads) t.join();
}

class CpuDatasetTest : public CpuClientTest {
 protected:
  const Literal images_ = Literal::Of<float>({1, 2, 3, 4}, {2, 2});
  const Literal labels_ = Literal::Vector<uint8_t>({7, 9});
};

TEST_F(CpuDatasetTest, PutStatAndUse) {
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      client_->datasets().Put({{{"y", labels_}, {"x", images_}}}, {}));
  EXPECT_EQ(info.token.substr(0, 4), "hw1-");
  EXPECT_EQ(info.bytes, 18);
  EXPECT_EQ(info.sent_bytes, 0);
  EXPECT_EQ(info.Find("x")->shape, images_.shape());
  ASSERT_OK_AND_ASSIGN(const DatasetInfo again,
                       client_->datasets().Ask(StatDataset{info.token}, {}));
  EXPECT_EQ(again.token, info.token);
  EXPECT_EQ(again.arrays.size(), 2);
  ASSERT_OK_AND_ASSIGN(const BufferPtr x,
                       client_->datasets().Open({info.token, "x"}, {}));
  EXPECT_THAT(*Get(x), LiteralBitEquals(images_));
  const auto negate = Compile(OpModule(kNegate, {images_.shape()}));
  EXPECT_THAT(*Get(Run(negate, {x})[0]),
              LiteralEquals(Literal::Of<float>({-1, -2, -3, -4}, {2, 2})));
  EXPECT_THAT(*Get(x), LiteralBitEquals(images_));
}

TEST_F(CpuDatasetTest, OneUnnamedArrayIsKnownByItsContent) {
  const DatasetInfo a = *client_->datasets().Put({{{"", images_}}}, {});
  const auto other = MakeCpuClient({.threads = 1});
  EXPECT_EQ(other->datasets().Put({{{"", images_}}}, {})->token, a.token);
  EXPECT_NE(other->datasets().Put({{{"x", images_}}}, {})->token, a.token);
  EXPECT_THAT(*Get(*client_->datasets().Open({a.token, ""}, {})),
              LiteralBitEquals(images_));
}

TEST_F(CpuDatasetTest, Errors) {
  const DatasetInfo info = *client_->datasets().Put({{{"x", images_}}}, {});
  EXPECT_THAT(client_->datasets().Open({info.token, "z"}, {}),
              StatusIs(absl::StatusCode::kNotFound,
                       info.token + " has no array \"z\""));
  const std::string unknown = TokenOf(Digest());
  EXPECT_THAT(client_->datasets().Ask(StatDataset{unknown}, {}),
              StatusIs(absl::StatusCode::kNotFound, unknown));
  EXPECT_THAT(client_->datasets().Open({unknown, "x"}, {}),
              StatusIs(absl::StatusCode::kNotFound, unknown));
  EXPECT_THAT(client_->datasets().Ask(StatDataset{"nonsense"}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "nonsense"));
  EXPECT_THAT(client_->datasets().Put({}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no array"));
  EXPECT_THAT(client_->datasets().Put({{{"x", images_}, {"x", labels_}}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "two arrays"));
  EXPECT_THAT(client_->Upload(Literal(), {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no value"));
}

}  // namespace
}  // namespace hawser::cpu
