// A GpuClient as the runtime interface has it: values there and back, runs in
// any number at once, who owns which memory.
#include <string>
#include <thread>
#include <vector>

#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "core/runtime/datasets.h"
#include "kernels/emu/emu_device.h"
#include "tests/kernels/gpu/forwarding_device.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/trace_file.h"

namespace hawser::gpu {
namespace {

using runtime::Argument;
using runtime::BufferPtr;
using testing::HasSubstr;

// Notes what it is asked to multiply.
class NotingDevice : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  absl::StatusOr<CallPlan> PlanCall(const LibraryCall& call) override {
    precisions.push_back(std::get<GemmSpec>(call).precision);
    return ForwardingDevice::PlanCall(call);
  }
  std::vector<GemmPrecision> precisions;
};

TEST(GpuClient, OnlyWhoAsksForTf32MayGetLessThanF32) {
  const auto device =
      std::make_shared<NotingDevice>(emu::MakeEmuDevice({.seed = 1}));
  Rig rig(device, {});
  const Literal a = F32({1, 2, 3, 4}, {2, 2});
  for (const auto numerics :
       {runtime::Numerics::kFast, runtime::Numerics::kStrict,
        runtime::Numerics::kTf32}) {
    device->precisions.clear();
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(R"(module "m"
computation @0 "main" (%0: f32[2,2], %1: f32[2,2]) {
  %2: f32[2,2] = dot_general(%0, %1) lhs_batching_dimensions=[]
      lhs_contracting_dimensions=[1] rhs_batching_dimensions=[]
      rhs_contracting_dimensions=[0]
  return %2
}
)",
                                                              numerics));
    const auto want = numerics == runtime::Numerics::kTf32
                          ? GemmPrecision::kTf32
                          : GemmPrecision::kFull;
    EXPECT_THAT(device->precisions, testing::ElementsAre(want));
    ASSERT_OK_AND_ASSIGN(const Values product, RunOn(run, {a, a}));
    EXPECT_THAT(product[0], LiteralEquals(F32({7, 10, 15, 22}, {2, 2})));
  }
}

TEST(GpuClient, AddsTwoVectors) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  const Literal x = F32({1, 2, 3, 4}), y = F32({10, 20, 30, 40});
  ASSERT_OK_AND_ASSIGN(const Values sum, RunOn(add, {x, y}));
  EXPECT_THAT(sum[0], LiteralEquals(F32({11, 22, 33, 44})));
  const BufferPtr there = rig.Put(y);
  ASSERT_OK_AND_ASSIGN(const auto results, add->Execute({{x, there}}, {}));
  EXPECT_EQ(results[0]->ran_on(), "emu");
  EXPECT_EQ(results[0]->client(), &rig.client());
  EXPECT_EQ(results[0]->shape(), x.shape());
  EXPECT_TRUE(*results[0]->Ready({}).Await());
  EXPECT_THAT(*Fetch(results), testing::ElementsAre(LiteralEquals(sum[0])));
}

TEST(GpuClient, IsTracedLaunchByLaunch) {
  const std::string path = testing::TempDir() + "/gpu.json";
  Rig rig;
  ASSERT_OK(StartTrace(path));
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  const Literal x = F32({1, 2, 3, 4});
  ASSERT_OK_AND_ASSIGN(const Values sum, RunOn(add, {x, x}));
  ASSERT_OK(StopTrace());
  const TraceFile trace = TraceFile::Read(path);
  trace.ExpectNested();
  EXPECT_TRUE(trace.IsWithin("fuse", "compile for gpu"));
  EXPECT_EQ(trace.Named("compile kernels").at(0)["args"]["kernels"], 1);
  const auto launches = trace.Named("loop_");
  ASSERT_EQ(launches.size(), 1);
  EXPECT_EQ(launches[0]["args"]["bytes"], 48);
  EXPECT_EQ(launches[0]["args"]["work_streams"], 4);
}

TEST(GpuClient, SaysWhatItIs) {
  Rig rig;
  EXPECT_EQ(rig.client().name(), "emu");
  ASSERT_OK_AND_ASSIGN(const auto c, rig.client().capabilities());
  EXPECT_EQ(c.platform, "emu");
  EXPECT_EQ(c.device, rig.device().facts().name);
  EXPECT_EQ(c.memory_bytes, rig.device().facts().memory_bytes);
  EXPECT_THAT(c.ops, testing::IsEmpty());
  EXPECT_OK(rig.client().Ping({}));
}

TEST(GpuClient, ValuesOfEverySizeComeBack) {
  Rig rig;
  uint64_t seed = 0;
  std::vector<std::pair<Literal, BufferPtr>> sent;
  for (const int64_t n : {0, 1, 1023, 1024, 1025, 70001, 3 << 20}) {
    Random random(++seed);
    const Literal value = RandomLiteral(Shape::Of(DType::kU8, {n}), random);
    sent.emplace_back(value, rig.Put(value));
  }
  for (const auto& [value, there] : sent) {
    ASSERT_OK_AND_ASSIGN(const Values back, Fetch({there}));
    EXPECT_TRUE(back[0].BitEquals(value)) << value.shape().ToString();
  }
}

TEST(GpuClient, AChainNeedsNoWaiting) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  const Literal one = F32({1, 1, 1, 1});
  BufferPtr x = rig.Put(one);
  for (int i = 0; i < 300; ++i) x = (*add->Execute({{x, one}}, {}))[0];
  x = (*add->Execute({{x, x}}, {}))[0];
  EXPECT_THAT(*Fetch({x}),
              testing::ElementsAre(LiteralEquals(F32({602, 602, 602, 602}))));
}

TEST(GpuClient, RunsOfManyThreadsDoNotMix) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr count, rig.Compile(kCountText));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto step = static_cast<float>(t);
      const Literal by = F32({step, step, step, step});
      BufferPtr x = rig.Put(by);
      for (int i = 0; i < 25; ++i) x = (*add->Execute({{x, by}}, {}))[0];
      const auto counted =
          RunOn(count, {Literal::Scalar<int32_t>(t), Literal::Scalar(20)});
      ASSERT_OK(counted);
      EXPECT_EQ((*counted)[0].data<int32_t>()[0], 20);
      const auto value = Fetch({x});
      ASSERT_OK(value);
      EXPECT_EQ((*value)[0].data<float>()[3], 26 * step);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(GpuClient, WrongArgumentsAreRefusedAtOnce) {
  Rig rig, other;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  const Literal x = F32({1, 2, 3, 4});
  EXPECT_THAT(add->Execute({{x}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(add->Execute({{x, F32({1})}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(add->Execute({{x, other.Put(x)}}, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "argument 1"));
  EXPECT_THAT(add->Execute({{x, x}}, {.donated = {2}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "donated"));
}

TEST(GpuClient, AnExecutableMayGoBeforeItsRunsAreDone) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Rig rig({.device = {.seed = seed}});
    auto add = rig.Compile(R"(module "m"
computation @0 "main" (%0: f32[4]) {
  %1: f32[4] = constant() value=f32[4] {1, 2, 3, 4}
  %2: f32[4] = add(%0, %1)
  return %2
}
)");
    ASSERT_OK(add);
    const auto sum = *(*add)->Execute({{F32({1, 1, 1, 1})}}, {});
    add->reset();
    EXPECT_THAT(*Fetch(sum),
                testing::ElementsAre(LiteralEquals(F32({2, 3, 4, 5}))));
    EXPECT_OK(rig.client().Ping({}));
  }
}

TEST(GpuClient, OutlivedByItsBuffers) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  const Literal x = F32({1, 2, 3, 4});
  const auto sum = *add->Execute({{x, x}}, {});
  rig.DropClient();
  EXPECT_THAT(*Fetch(sum),
              testing::ElementsAre(LiteralEquals(F32({2, 4, 6, 8}))));
  EXPECT_EQ(sum[0]->client(), nullptr);
  EXPECT_THAT(add->Execute({{x, x}}, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "gone"));
}

// ---- memory -----------------------------------------------------------------

TEST(GpuMemory, ReturnsWithTheLastBuffer) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  const Literal one = F32({1, 1, 1, 1});
  ASSERT_OK(RunOn(add, {one, one}));
  rig.client().TrimMemory();
  const MemoryUse before = rig.device().memory();
  {
    std::vector<BufferPtr> held = {rig.Put(one)};
    for (int i = 0; i < 40; ++i) {
      held.push_back((*add->Execute({{held.back(), one}}, {}))[0]);
    }
    EXPECT_EQ(rig.client().live_buffers(), 41);
    EXPECT_GT(rig.device().memory().live_allocations,
              before.live_allocations + 40);
    ASSERT_OK(Fetch({held[20]}));
  }
  EXPECT_EQ(rig.client().live_buffers(), 0);
  rig.client().TrimMemory();
  EXPECT_EQ(rig.device().memory().live_allocations, before.live_allocations);
  EXPECT_EQ(rig.device().memory().live_bytes, before.live_bytes);
  EXPECT_OK(rig.client().Ping({}));
}

// 30 steps of x + y, with x given away; the memory that all of it takes.
int64_t BytesOfAChain(bool keep_a_copy) {
  Rig rig;
  const int64_t n = 1 << 14;
  const auto add = rig.Compile(absl::StrCat(
      "module \"m\"\ncomputation @0 \"main\" (%0: f32[", n, "], %1: f32[", n,
      "]) {\n  %2: f32[", n, "] = add(%0, %1)\n  return %2\n}\n"));
  EXPECT_OK(add);
  const Literal one = Literal::Of<float>(std::vector<float>(n, 1), {n});
  const BufferPtr y = rig.Put(one);
  EXPECT_OK(Fetch({y}));
  // Queued by this thread, as all steps are: another one that makes a value or
  // fetches it may hold it a moment longer.
  BufferPtr x = (*(*add)->Execute({{y, y}}, {}))[0];
  std::vector<BufferPtr> kept;
  for (int i = 0; i < 30; ++i) {
    if (keep_a_copy) kept.push_back(x);
    std::vector<Argument> arguments = {std::move(x), y};
    x = (*(*add)->Execute(arguments, {.donated = {0}}))[0];
  }
  const auto value = Fetch({x});
  EXPECT_OK(value);
  EXPECT_EQ((*value)[0].data<float>()[n - 1], 32);
  if (keep_a_copy) {
    EXPECT_EQ((*Fetch({kept[7]}))[0].data<float>()[0], 9);
  }
  return rig.device().memory().peak_bytes / (n * 4);
}

TEST(GpuMemory, ADonatedArgumentIsWrittenOver) {
  EXPECT_EQ(BytesOfAChain(false), 2);
}
TEST(GpuMemory, AnArgumentThatIsStillHeldIsNot) {
  EXPECT_GE(BytesOfAChain(true), 31);
}

TEST(GpuMemory, ADonatedBufferIsGone) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  const Literal x = F32({1, 2, 3, 4});
  std::vector<Argument> arguments = {rig.Put(x), x};
  ASSERT_OK(add->Execute(arguments, {.donated = {0}}));
  EXPECT_THAT(Fetch({std::get<BufferPtr>(arguments[0])}),
              StatusIs(absl::StatusCode::kFailedPrecondition, "donated"));
}

TEST(GpuMemory, ResultsThatAreArgumentsShareTheirMemory) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr same, rig.Compile(R"(module "same"
computation @0 "main" (%0: f32[4], %1: f32[4]) {
  %2: f32[4] = add(%0, %1)
  %3: f32[2,2] = reshape(%0) dims=[2,2]
  %4: f32[2] = constant() value=f32[2] {5, 6}
  return %0, %2, %2, %3, %4, %1
}
)"));
  const Literal x = F32({1, 2, 3, 4}), y = F32({1, 1, 1, 1});
  std::vector<BufferPtr> results;
  {
    std::vector<Argument> arguments = {rig.Put(x), rig.Put(y)};
    results = *same->Execute(arguments, {.donated = {0, 1}});
  }
  ASSERT_OK_AND_ASSIGN(const Values values, Fetch(results));
  EXPECT_THAT(values[0], LiteralEquals(x));
  EXPECT_THAT(values[1], LiteralEquals(F32({2, 3, 4, 5})));
  EXPECT_THAT(values[2], LiteralEquals(values[1]));
  EXPECT_THAT(values[3], LiteralEquals(F32({1, 2, 3, 4}, {2, 2})));
  EXPECT_THAT(values[4], LiteralEquals(F32({5, 6})));
  EXPECT_THAT(values[5], LiteralEquals(y));
  // A shared buffer is not given away while it has another owner.
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  std::vector<Argument> arguments = {std::move(results[1]), y};
  ASSERT_OK(RunOn(add, arguments, {.donated = {0}}));
  EXPECT_THAT((*Fetch({results[2]}))[0], LiteralEquals(values[1]));
}

// ---- deadlines --------------------------------------------------------------

TEST(GpuClient, ACancelEndsALoop) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr count, rig.Compile(kCountText));
  const CancelToken token = CancelToken::WithFlag();
  const auto endless = *count->Execute(
      {{Literal::Scalar<int32_t>(0), Literal::Scalar(2000000000)}},
      {.call = {.cancel = token}});
  EXPECT_THAT(
      endless[0]->Fetch({.attempt_timeout = absl::Milliseconds(20)}).Await(),
      StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  token.Cancel();
  EXPECT_THAT(Fetch(endless), StatusIs(absl::StatusCode::kCancelled, ""));
  // What hangs on it says the same.
  const auto after =
      *count->Execute({{endless[0], Literal::Scalar<int32_t>(1)}}, {});
  EXPECT_THAT(Fetch(after), StatusIs(absl::StatusCode::kCancelled, ""));
}

TEST(GpuClient, EndlessLoopsDoNotHoldUpTheRest) {
  Rig rig;
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr count, rig.Compile(kCountText));
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  const CancelToken token = CancelToken::WithFlag();
  std::vector<BufferPtr> endless;
  for (int i = 0; i < 6; ++i) {
    endless.push_back((*count->Execute(
        {{Literal::Scalar<int32_t>(0), Literal::Scalar(2000000000)}},
        {.call = {.cancel = token}}))[0]);
  }
  const Literal x = F32({1, 2, 3, 4});
  EXPECT_OK(RunOn(add, {x, x}));
  token.Cancel();
  for (const BufferPtr& b : endless) EXPECT_FALSE(Fetch({b}).ok());
}

// ---- datasets ---------------------------------------------------------------

TEST(GpuDatasets, AreUploadedWhenTheyAreUsedAndDroppedWhenMemoryIsShort) {
  Rig rig;
  GpuClient& client = rig.client();
  const Literal x = F32({1, 2, 3, 4});
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client.datasets().Put({{{"x", x}}}, {}));
  const int64_t before = rig.device().memory().live_allocations;
  ASSERT_OK_AND_ASSIGN(BufferPtr there,
                       client.datasets().Open({info.token, "x"}, {}));
  EXPECT_THAT((*Fetch({there}))[0], LiteralEquals(x));
  EXPECT_EQ(rig.device().memory().live_allocations, before);
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig.Compile(kAddText));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const Values twice, RunOn(add, {there, there}));
    EXPECT_THAT(twice[0], LiteralEquals(F32({2, 4, 6, 8})));
  }
  there.reset();
  EXPECT_EQ(client.live_buffers(), 0);
  EXPECT_GT(rig.device().memory().live_allocations, before);
  client.TrimMemory();
  EXPECT_EQ(rig.device().memory().live_allocations, before);
  ASSERT_OK_AND_ASSIGN(
      const BufferPtr rows,
      client.datasets().Open({info.token, "x", RowRange{1, 2}}, {}));
  EXPECT_THAT((*Fetch({rows}))[0], LiteralEquals(F32({2, 3})));
  EXPECT_OK(client.datasets().Ask(DeleteDataset{info.token}, {}));
  EXPECT_THAT(client.datasets().Open({info.token, "x"}, {}),
              StatusIs(absl::StatusCode::kNotFound, "on emu"));
}

}  // namespace
}  // namespace hawser::gpu
