// What goes wrong on a device, and who is told.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"
#include "tests/kernels/gpu/failing_device.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

using runtime::BufferPtr;

class FailuresTest : public testing::Test {
 protected:
  const std::shared_ptr<FailingDevice> device_ =
      std::make_shared<FailingDevice>(
          emu::MakeEmuDevice({.seed = 1, .memory_bytes = int64_t{1} << 20}));
  Rig rig_{device_, {}};
  const Literal x_ = F32({1, 2, 3, 4});

  std::string AddOf(int64_t n) {
    return absl::StrCat("module \"m\"\ncomputation @0 \"main\" (%0: f32[", n,
                        "], %1: f32[", n, "]) {\n  %2: f32[", n,
                        "] = add(%0, %1)\n  return %2\n}\n");
  }
};

TEST_F(FailuresTest, AModuleThatCannotFitIsRefusedWithItsSizes) {
  // A product of 600 x 600 between two that are small.
  EXPECT_THAT(rig_.Compile(R"(module "m"
computation @0 "main" (%0: f32[600], %1: f32[600]) {
  %2: f32[600,600] = dot_general(%0, %1) lhs_batching_dimensions=[]
      lhs_contracting_dimensions=[] rhs_batching_dimensions=[]
      rhs_contracting_dimensions=[]
  %3: f32[600] = dot_general(%2, %1) lhs_batching_dimensions=[]
      lhs_contracting_dimensions=[1] rhs_batching_dimensions=[]
      rhs_contracting_dimensions=[0]
  return %3
}
)"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "needs 1440000 bytes for temporary values and 0 for "
                       "constants; emulated device has 1048576"));
}

TEST_F(FailuresTest, TooLittleMemoryPoisonsTheResultsAndNothingElse) {
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig_.Compile(AddOf(50000)));
  const Literal big = Literal::Zeros(Shape::Of(DType::kF32, {50000}));
  std::vector<BufferPtr> held = {rig_.Put(big)};
  absl::Status first;
  while (first.ok() && held.size() < 20) {
    held.push_back((*add->Execute({{held[0], held[0]}}, {}))[0]);
    first = Fetch({held.back()}).status();
  }
  EXPECT_THAT(first, StatusIs(absl::StatusCode::kResourceExhausted,
                              "instruction %2 (add): no memory for "
                              "f32[50000]: device memory: 200000 bytes asked "
                              "for"));
  const auto after = *add->Execute({{held.back(), held[0]}}, {});
  EXPECT_EQ(Fetch(after).status(), first);
  held.resize(1);
  EXPECT_OK(RunOn(add, {held[0], held[0]}));
}

// Memory that is kept for reuse makes room: arenas, arrays of datasets.
TEST_F(FailuresTest, MemoryThatIsOnlyKeptMakesRoom) {
  const Literal big = Literal::Zeros(Shape::Of(DType::kF32, {100000}));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       rig_.client().datasets().Put({{{"x", big}}}, {}));
  const std::string negate =
      "module \"m\"\ncomputation @0 \"main\" (%0: f32[100000]) {\n"
      "  %1: f32[100000] = negate(%0)\n  return %1\n}\n";
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig_.Compile(negate));
  {
    ASSERT_OK_AND_ASSIGN(const BufferPtr array,
                         rig_.client().datasets().Open({info.token, "x"}, {}));
    ASSERT_OK(RunOn(run, {array}));
  }
  const BufferPtr a = rig_.Put(big), b = rig_.Put(big);
  EXPECT_OK(Fetch({a, b}));
}

TEST_F(FailuresTest, AnAllocationThatFailsOnceIsTriedAgain) {
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig_.Compile(kAddText));
  device_->FailNext("Allocate", ResourceExhausted("no"));
  EXPECT_OK(RunOn(add, {x_, x_}));
  device_->FailNext("Allocate", ResourceExhausted("3 bytes, 2 free"), 99);
  EXPECT_THAT(rig_.client().Upload(x_, {}),
              StatusIs(absl::StatusCode::kResourceExhausted, "2 free"));
  device_->FailWith({});
  EXPECT_OK(RunOn(add, {x_, x_}));
}

TEST_F(FailuresTest, ALaunchThatIsRefusedPoisonsItsResultsOnly) {
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig_.Compile(kAddText));
  device_->FailNext("Launch", InvalidArgument("too many threads"));
  const BufferPtr bad = (*add->Execute({{x_, x_}}, {}))[0];
  EXPECT_THAT(Fetch({bad}),
              StatusIs(absl::StatusCode::kInvalidArgument, "too many"));
  EXPECT_THAT(bad->Ready({}).Await(),
              StatusIs(absl::StatusCode::kInvalidArgument, "too many"));
  EXPECT_OK(RunOn(add, {x_, x_}));
}

TEST_F(FailuresTest, TransfersThatFailSaySo) {
  device_->FailNext("CopyToDevice", Unavailable("the device is lost"));
  EXPECT_THAT(rig_.client().Upload(x_, {}),
              StatusIs(absl::StatusCode::kUnavailable, "lost"));
  const BufferPtr x = rig_.Put(x_);
  device_->FailNext("CopyToHost", Unavailable("the device is lost"));
  EXPECT_THAT(Fetch({x}), StatusIs(absl::StatusCode::kUnavailable, "lost"));
  EXPECT_OK(Fetch({x}));
}

TEST_F(FailuresTest, TextThatDoesNotCompileIsOurBug) {
  device_->FailNext("Compile", InvalidArgument("k.cu:1: no such thing"));
  EXPECT_THAT(rig_.Compile(kAddText),
              StatusIs(absl::StatusCode::kInternal, "no such thing"));
  EXPECT_OK(rig_.Compile(kAddText));
  device_->FailNext("Compile", FailedPrecondition("no compiler"));
  EXPECT_THAT(rig_.Compile(AddOf(5)),
              StatusIs(absl::StatusCode::kFailedPrecondition, "no compiler"));
  device_->FailNext("LoadModule", ResourceExhausted("no room for code"));
  EXPECT_THAT(rig_.Compile(AddOf(5)),
              StatusIs(absl::StatusCode::kResourceExhausted, "no room"));
  EXPECT_OK(rig_.Compile(AddOf(5)));
}

TEST_F(FailuresTest, AProductNoLibraryTakesIsComputedAllTheSame) {
  const std::string dot =
      "module \"m\"\ncomputation @0 \"main\" (%0: f32[2,2], %1: f32[2,2]) {\n"
      "  %2: f32[2,2] = dot_general(%0, %1) lhs_batching_dimensions=[] "
      "lhs_contracting_dimensions=[1] rhs_batching_dimensions=[] "
      "rhs_contracting_dimensions=[0]\n  return %2\n}\n";
  device_->FailNext("PlanCall", Unimplemented("not these"));
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig_.Compile(dot));
  const Literal a = F32({1, 2, 3, 4}, {2, 2});
  ASSERT_OK_AND_ASSIGN(const Values product, RunOn(run, {a, a}));
  EXPECT_THAT(product[0], LiteralEquals(F32({7, 10, 15, 22}, {2, 2})));
  device_->FailNext("PlanCall", FailedPrecondition("no libcublasLt"));
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr slow, rig_.Compile(dot));
  ASSERT_OK_AND_ASSIGN(const Values same, RunOn(slow, {a, a}));
  EXPECT_THAT(same[0], LiteralEquals(product[0]));
  // A library that is there, and fails, is no reason for the slow way.
  device_->FailNext("PlanCall", Unavailable("the device is lost"), 9);
  EXPECT_THAT(rig_.Compile(dot),
              StatusIs(absl::StatusCode::kUnavailable, "lost"));
}

// Ordinary memory does; what else is wrong is told.
TEST_F(FailuresTest, TransfersDoWithoutPinnedMemory) {
  device_->FailNext("AllocatePinned", ResourceExhausted("none left"), 99);
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig_.Compile(kAddText));
  ASSERT_OK_AND_ASSIGN(const Values sum, RunOn(add, {x_, x_}));
  EXPECT_THAT(sum[0], LiteralEquals(F32({2, 4, 6, 8})));
  const Literal large = Literal::Zeros(Shape::Of(DType::kF32, {20000}));
  ASSERT_OK_AND_ASSIGN(const Values back, Fetch({rig_.Put(large)}));
  EXPECT_THAT(back[0], LiteralEquals(large));
}

TEST_F(FailuresTest, PinnedMemoryOfALostDeviceIsNotReplaced) {
  device_->FailNext("AllocatePinned", Unavailable("the device is lost"));
  EXPECT_THAT(rig_.client().Upload(x_, {}),
              StatusIs(absl::StatusCode::kUnavailable, "lost"));
  EXPECT_OK(rig_.client().Upload(x_, {}));
}

TEST_F(FailuresTest, ACaptureThatIsRefusedIsDoneWithout) {
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr swap, rig_.Compile(R"(module "m"
computation @0 "main" (%0: f32[4], %1: f32[1,4]) {
  %2: f32[4] = sqrt(%0)
  %3: f32[4] = constant() value=f32[4] {1, 2, 3, 4}
  return %2, %3
}
)"));
  const Literal y = F32({1, 2, 3, 4}, {1, 4});
  device_->FailNext("BeginCapture", FailedPrecondition("not now"));
  for (int run = 0; run < 5; ++run) EXPECT_OK(RunOn(swap, {x_, y}));
  EXPECT_EQ(swap->graph_counts().captured, 1);
  EXPECT_EQ(swap->graph_counts().queued, 5);
}

TEST_F(FailuresTest, ADeviceWithoutStreamsIsNoClient) {
  device_->FailNext("CreateStream", Unavailable("no device"));
  EXPECT_THAT(GpuClient::Make(device_, {}).status(),
              StatusIs(absl::StatusCode::kUnavailable, "no device"));
}

// The end of an emulated device is a kernel that does what it may not: here a
// use of memory that the test has freed behind the engine's back.
TEST_F(FailuresTest, AfterAFaultEverythingIsUnavailableAndSaysWhatItWas) {
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr add, rig_.Compile(kAddText));
  const BufferPtr good = rig_.Put(x_);
  ASSERT_OK(Fetch({good}));
  ASSERT_OK_AND_ASSIGN(const Stream stream, device_->CreateStream(0));
  ASSERT_OK(device_->Fill(stream, DeviceAddress{4096}, 0, 1));
  const absl::Status fault = device_->AwaitStream(stream);
  ASSERT_THAT(fault, StatusIs(absl::StatusCode::kInternal, "not allocated"));
  const absl::Status lost = rig_.client().Ping({});
  EXPECT_THAT(lost, StatusIs(absl::StatusCode::kUnavailable,
                             std::string(fault.message())));
  EXPECT_EQ(Fetch({good}).status(), lost);
  EXPECT_EQ(RunOn(add, {good, good}).status(), lost);
  EXPECT_EQ(rig_.client().Upload(x_, {}).status(), lost);
  EXPECT_EQ(rig_.Compile(AddOf(7)).status(), lost);
}

TEST(Emulated, WithoutACompilerThereIsOneError) {
  Rig rig({.device = {.folder = ::testing::TempDir() + "/none",
                      .compiler = "no-such-compiler"}});
  EXPECT_THAT(
      rig.Compile(kAddText),
      StatusIs(absl::StatusCode::kFailedPrecondition, "no-such-compiler"));
}

TEST(WithoutAHost, WhatNoKernelDoesIsUnimplemented) {
  Rig rig({.has_host = false});
  EXPECT_OK(rig.Compile(kAddText));
  EXPECT_THAT(rig.Compile(kHostText), StatusIs(absl::StatusCode::kUnimplemented,
                                               "%1 (negate while)"));
}

}  // namespace
}  // namespace hawser::gpu
