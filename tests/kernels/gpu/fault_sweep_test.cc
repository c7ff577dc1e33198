// One failure at every call that the engine makes of a device, one run each:
// results are right or have a typed status, nothing hangs, nothing leaks, and
// what comes after a lost device is kUnavailable.
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "tests/kernels/gpu/forwarding_device.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

enum class Failure {
  kNoMemory,     // that call alone is kResourceExhausted
  kRefused,      // that call alone is kInvalidArgument
  kFault,        // kInternal, and the end of the device
  kUnreachable,  // kUnavailable, and the end of the device
};

// Fails at call number `at`, from 1. What gives something back is done all the
// same: the driver does it when the process ends.
class SweptDevice : public ForwardingDevice {
 public:
  SweptDevice(std::unique_ptr<Device> device, Failure failure, int64_t at)
      : ForwardingDevice(std::move(device)), failure_(failure), at_(at) {}

  int64_t calls() const { return calls_; }
  bool lost() const { return lost_; }

  absl::Status Health() const override {
    return lost_ ? Unavailable("the device is lost") : absl::OkStatus();
  }

#define SWEPT(Result, Name, Parameters, ...)    \
  Result Name Parameters override {             \
    HAWSER_RETURN_IF_ERROR(Count());            \
    return ForwardingDevice::Name(__VA_ARGS__); \
  }
// Done first, then it may fail.
#define SWEPT_AFTER(Name, Parameters, ...)                         \
  absl::Status Name Parameters override {                          \
    const absl::Status done = ForwardingDevice::Name(__VA_ARGS__); \
    HAWSER_RETURN_IF_ERROR(Count());                               \
    return done;                                                   \
  }
  SWEPT(absl::StatusOr<DeviceAddress>, Allocate, (Stream s, int64_t bytes), s,
        bytes)
  SWEPT_AFTER(Free, (Stream s, DeviceAddress a), s, a)
  SWEPT_AFTER(TrimMemory, ())
  SWEPT(absl::StatusOr<void*>, AllocatePinned, (int64_t bytes), bytes)
  SWEPT_AFTER(FreePinned, (void* memory), memory)
  SWEPT(absl::Status, CopyToDevice,
        (Stream s, DeviceAddress to, const void* from, int64_t bytes), s, to,
        from, bytes)
  SWEPT(absl::Status, CopyToHost,
        (Stream s, void* to, DeviceAddress from, int64_t bytes), s, to, from,
        bytes)
  SWEPT(absl::Status, CopyOnDevice,
        (Stream s, DeviceAddress to, DeviceAddress from, int64_t bytes), s, to,
        from, bytes)
  SWEPT(absl::StatusOr<Stream>, CreateStream, (int priority), priority)
  SWEPT_AFTER(DestroyStream, (Stream s), s)
  SWEPT(absl::StatusOr<Event>, CreateEvent, ())
  SWEPT_AFTER(DestroyEvent, (Event e), e)
  SWEPT(absl::Status, RecordEvent, (Stream s, Event e), s, e)
  SWEPT_AFTER(AwaitEventOn, (Stream s, Event e), s, e)
  SWEPT(absl::StatusOr<bool>, IsDone, (Event e), e)
  SWEPT_AFTER(AwaitEvent, (Event e), e)
  SWEPT_AFTER(AwaitStream, (Stream s), s)
  SWEPT(absl::StatusOr<KernelBinary>, Compile,
        (absl::string_view name, absl::string_view text,
         const CompileOptions& options),
        name, text, options)
  SWEPT(absl::StatusOr<KernelModule>, LoadModule, (absl::string_view bytes),
        bytes)
  SWEPT_AFTER(UnloadModule, (KernelModule module), module)
  SWEPT(absl::StatusOr<Kernel>, FindKernel,
        (KernelModule module, absl::string_view name), module, name)
  SWEPT(absl::Status, Launch,
        (Stream s, Kernel kernel, const LaunchShape& shape,
         absl::Span<const KernelArgument> arguments),
        s, kernel, shape, arguments)
  SWEPT(absl::StatusOr<CallPlan>, PlanCall, (const LibraryCall& call), call)
  SWEPT_AFTER(DestroyCall, (CallPlan plan), plan)
  SWEPT(absl::Status, RunCall,
        (Stream s, CallPlan plan, const CallOperands& operands), s, plan,
        operands)
  SWEPT(absl::Status, BeginCapture, (Stream s), s)
  absl::StatusOr<Graph> EndCapture(Stream s) override {
    // The capture ends either way.
    const auto graph = ForwardingDevice::EndCapture(s);
    const absl::Status failed = Count();
    if (failed.ok() || !graph.ok()) return graph;
    ForwardingDevice::DestroyGraph(*graph).IgnoreError();
    return failed;
  }
  SWEPT_AFTER(DestroyGraph, (Graph graph), graph)
  SWEPT(absl::StatusOr<GraphExec>, Instantiate, (Graph graph), graph)
  SWEPT_AFTER(DestroyGraphExec, (GraphExec exec), exec)
  SWEPT(absl::StatusOr<bool>, Update, (GraphExec exec, Graph graph), exec,
        graph)
  SWEPT(absl::Status, LaunchGraph, (Stream s, GraphExec exec), s, exec)

 private:
  absl::Status Count() {
    const bool fails = ++calls_ == at_;
    if (!fails) return Health();
    switch (failure_) {
      case Failure::kNoMemory:
        return ResourceExhausted("a planned want of memory");
      case Failure::kRefused:
        return InvalidArgument("a planned refusal");
      case Failure::kFault:
        lost_ = true;
        return Internal("a planned fault");
      case Failure::kUnreachable:
        lost_ = true;
        return Unavailable("a planned end");
    }
    return absl::OkStatus();
  }

  const Failure failure_;
  const int64_t at_;
  std::atomic<int64_t> calls_{0};
  std::atomic<bool> lost_{false};
};

// A product with a tail, a reduction, a step of two launches, and a value that
// a loop of unknown length makes.
constexpr char kText[] = R"(module "swept"
computation @0 "more" (%0: s32[], %1: s32[]) {
  %2: bool[] = compare(%0, %1) direction="LT"
  return %2
}
computation @1 "next" (%0: s32[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {1}
  %3: s32[] = add(%0, %2)
  return %3
}
computation @2 "main" (%0: f32[2,2], %1: f32[2,2], %2: s32[], %3: s32[]) {
  %4: f32[2,2] = dot_general(%0, %1) lhs_batching_dimensions=[] lhs_contracting_dimensions=[1] rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]
  %5: f32[2,2] = add(%4, %1)
  %6: f32[2,2] = tanh(%5)
  %7: s32[] = while(%2, %3) num_invariant=1 @0 @1
  return %5, %6, %7
}
)";
constexpr char kStraight[] = R"(module "straight"
computation @0 "main" (%0: f32[2,2], %1: f32[2,2]) {
  %2: f32[2,2] = dot_general(%0, %1) lhs_batching_dimensions=[] lhs_contracting_dimensions=[1] rhs_batching_dimensions=[] rhs_contracting_dimensions=[0]
  %3: f32[2,2] = add(%2, %1)
  %4: f32[2,2] = tanh(%3)
  return %3, %4
}
)";

// A transform, and a factor that takes a thread of its own.
constexpr char kLibrary[] = R"(module "library"
computation @0 "main" (%0: f32[2,2]) {
  %1: c64[2,2] = fft(%0) fft_length=[2] fft_type="RFFT"
  %2: f32[2,2] = fft(%1) fft_length=[2] fft_type="IRFFT"
  %3: f32[2,2] = cholesky(%2) lower=true
  return %1, %3
}
)";

struct Outcome {
  absl::Status status;
  Values values;
};

// Compiles, runs one module with a loop, and another often enough to be
// captured, launched as a graph and updated, and one of library calls;
// transfers small and large values.
std::vector<Outcome> Scenario(Rig& rig) {
  std::vector<Outcome> outcomes;
  const auto note = [&](absl::StatusOr<Values> got) {
    outcomes.push_back({got.status(), got.ok() ? *std::move(got) : Values()});
  };
  const Literal a = F32({1, 2, 3, 4}, {2, 2}), b = F32({1, 0, 2, 1}, {2, 2});
  const Literal large = Literal::Zeros(Shape::Of(DType::kF32, {3000}));
  const auto put = rig.client().Upload(large, {});
  note(put.ok() ? Fetch({*put}) : absl::StatusOr<Values>(put.status()));
  const auto loop = rig.Compile(kText);
  note(loop.ok() ? RunOn(*loop, {a, b, Literal::Scalar(int32_t{0}),
                                 Literal::Scalar(int32_t{2})})
                 : absl::StatusOr<Values>(loop.status()));
  const auto straight = rig.Compile(kStraight);
  for (int run = 0; run < 4; ++run) {
    note(straight.ok() ? RunOn(*straight, {a, b})
                       : absl::StatusOr<Values>(straight.status()));
  }
  const auto library = rig.Compile(kLibrary);
  note(library.ok() ? RunOn(*library, {F32({4, 2, 2, 5}, {2, 2})})
                    : absl::StatusOr<Values>(library.status()));
  return outcomes;
}

bool IsTyped(const absl::Status& status, Failure failure) {
  switch (failure) {
    case Failure::kNoMemory:
      return absl::IsResourceExhausted(status);
    case Failure::kRefused:
      // Text of ours that a compiler refuses is our bug.
      return absl::IsInvalidArgument(status) || absl::IsInternal(status);
    case Failure::kFault:
      return absl::IsInternal(status) || absl::IsUnavailable(status);
    case Failure::kUnreachable:
      return absl::IsUnavailable(status);
  }
  return false;
}

class FaultSweep : public testing::TestWithParam<Failure> {};

TEST_P(FaultSweep, EveryCallOfTheDevice) {
  const Failure failure = GetParam();
  std::vector<Outcome> want;
  int64_t calls = 0;
  for (int64_t at = 0; at == 0 || at <= calls; ++at) {
    SCOPED_TRACE(absl::StrCat("call ", at, " of ", calls));
    const auto device = std::make_shared<SweptDevice>(
        emu::MakeEmuDevice({.seed = 1}), failure, at);
    auto client = GpuClient::Make(device, {});
    if (!client.ok()) {
      EXPECT_NE(at, 0);
      EXPECT_TRUE(IsTyped(client.status(), failure)) << client.status();
    } else {
      Rig rig(*std::move(client), device);
      client = absl::CancelledError("the rig has it");
      const std::vector<Outcome> got = Scenario(rig);
      if (at == 0) want = got;
      ASSERT_EQ(got.size(), want.size());
      for (size_t k = 0; k < got.size(); ++k) {
        if (!got[k].status.ok()) {
          ASSERT_NE(at, 0) << got[k].status;
          EXPECT_TRUE(IsTyped(got[k].status, failure)) << got[k].status;
          continue;
        }
        ASSERT_EQ(got[k].values.size(), want[k].values.size());
        for (size_t r = 0; r < got[k].values.size(); ++r) {
          EXPECT_THAT(got[k].values[r], LiteralEquals(want[k].values[r]));
        }
      }
      if (device->lost()) {
        EXPECT_TRUE(absl::IsUnavailable(rig.client().Ping({})));
        EXPECT_TRUE(
            absl::IsUnavailable(rig.client().Upload(F32({1, 2}), {}).status()));
        EXPECT_TRUE(absl::IsUnavailable(rig.Compile(kAddText).status()));
      } else if (device->calls() > at) {
        // It was that one call.
        EXPECT_OK(rig.client().Ping({}));
        const auto add = rig.Compile(kAddText);
        EXPECT_OK(add);
        if (add.ok()) {
          EXPECT_OK(RunOn(*add, {F32({1, 2, 3, 4}), F32({1, 2, 3, 4})}));
        }
      }
    }
    EXPECT_EQ(device->memory().live_allocations, 0);
    EXPECT_EQ(device.use_count(), 1);
    if (at == 0) calls = device->calls();
    if (HasFailure()) return;
  }
  EXPECT_GT(calls, 150);
}

INSTANTIATE_TEST_SUITE_P(Failures, FaultSweep,
                         testing::Values(Failure::kNoMemory, Failure::kRefused,
                                         Failure::kFault,
                                         Failure::kUnreachable));

}  // namespace
}  // namespace hawser::gpu
