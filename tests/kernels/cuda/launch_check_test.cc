// Checks that need no device: launches, compile logs, targets.
#include "kernels/cuda/launch_check.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "kernels/cuda/compile/compile_log.h"
#include "kernels/cuda/compile/target.h"

namespace hawser::cuda {
namespace {

using Arg = gpu::KernelArgument;

KernelInfo AddOne() {
  return {.name = "add_one",
          .parameters = std::vector<int64_t>{8, 4},
          .max_threads = 256,
          .static_shared_bytes = 1024};
}

TEST(CheckLaunch, RefusesWhatIsBeyondALimit) {
  const Arg memory = Arg::Range({256}, 4, gpu::Access::kRead);
  const std::vector<Arg> right = {memory, Arg::Scalar(1.0f)};
  const gpu::DeviceFacts facts;
  const int64_t most = facts.max_shared_bytes_per_block - 1024;
  struct Case {
    const char* says;  // nullptr: it is right
    gpu::LaunchShape shape;
    std::vector<Arg> arguments;
  };
  const Case cases[] = {
      {nullptr, {.threads = 256}, right},
      {nullptr, {.grid = {0, 1, 1}, .threads = 32}, right},
      {nullptr, {.threads = 32, .dynamic_shared_bytes = most}, right},
      {"has 2 parameters, not 1", {.threads = 32}, {memory}},
      {"parameter 1 has 4 bytes, its argument 8",
       {.threads = 32},
       {memory, Arg::Scalar(1.0)}},
      {"0 threads a block", {.threads = 0}, right},
      {"33 threads a block", {.threads = 33}, right},
      {"2048 threads a block, not a multiple of 32 up to 1024",
       {.threads = 2048},
       right},
      {"512 threads a block, its bounds are 256", {.threads = 512}, right},
      {"70000 blocks along axis 1, at most 65535",
       {.grid = {1, 70000}, .threads = 32},
       right},
      {"70000 blocks along axis 2",
       {.grid = {1, 1, 70000}, .threads = 32},
       right},
      {"bytes of shared memory",
       {.threads = 32, .dynamic_shared_bytes = most + 1},
       right},
      {"-1 bytes of shared memory",
       {.threads = 32, .dynamic_shared_bytes = -1},
       right},
  };
  for (const Case& c : cases) {
    const absl::Status status =
        CheckLaunch(AddOne(), c.shape, c.arguments, facts);
    if (c.says == nullptr) {
      EXPECT_EQ(status, absl::OkStatus());
      continue;
    }
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.says;
    EXPECT_TRUE(absl::StrContains(status.message(), c.says)) << status;
    EXPECT_TRUE(absl::StartsWith(status.message(), "kernel add_one"));
  }
}

TEST(CheckLaunch, ADriverThatDoesNotTellParametersChecksNone) {
  KernelInfo kernel = AddOne();
  kernel.parameters.reset();
  EXPECT_EQ(CheckLaunch(kernel, {.threads = 32}, {}, {}), absl::OkStatus());
}

TEST(CompileLog, HasEachKernelsResources) {
  const CompileLog log = ReadCompileLog(
      "k.cu(3): warning #177-D: variable \"x\" was declared but never used\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'softmax' for 'sm_90'\n"
      "ptxas info    : Function properties for softmax\n"
      "    8 bytes stack frame, 684 bytes spill stores, 740 bytes spill loads\n"
      "ptxas info    : Used 48 registers, used 1 barriers, 128 bytes smem, "
      "400 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'copy' for 'sm_90'\n"
      "ptxas info    : Function properties for copy\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 0 barriers\n");
  EXPECT_EQ(log.rest,
            "k.cu(3): warning #177-D: variable \"x\" was declared but never "
            "used\n");
  ASSERT_EQ(log.kernels.size(), 2u);
  EXPECT_EQ(log.kernels[0].name, "softmax");
  EXPECT_EQ(log.kernels[0].registers, 48);
  EXPECT_EQ(log.kernels[0].stack_bytes, 8);
  EXPECT_EQ(log.kernels[0].spill_bytes, 684 + 740);
  EXPECT_EQ(log.kernels[0].shared_bytes, 128);
  EXPECT_EQ(log.kernels[1].name, "copy");
  EXPECT_EQ(log.kernels[1].registers, 10);
  EXPECT_EQ(log.kernels[1].spill_bytes, 0);
  EXPECT_EQ(log.kernels[1].shared_bytes, 0);
}

TEST(CompileLog, OfNothingIsEmpty) {
  for (const size_t size : {0, 1, 2}) {  // the library ends it with a NUL
    const CompileLog log = ReadCompileLog(absl::string_view("\n\0", size));
    EXPECT_TRUE(log.kernels.empty());
    EXPECT_EQ(log.rest, "");
  }
}

TEST(ChooseTarget, TheDevicesOwnOrTheNextBest) {
  const std::vector<int> known = {75, 80, 86, 90, 100, 120};
  struct Case {
    int capability;
    const char* target;
  };
  for (const Case& c : std::initializer_list<Case>{{90, "sm_90"},
                                                   {89, "sm_86"},
                                                   {121, "sm_120"},
                                                   {103, "sm_100"},
                                                   {130, "compute_120"},
                                                   {75, "sm_75"}}) {
    const auto target = ChooseTarget(c.capability, known);
    ASSERT_EQ(target.status(), absl::OkStatus()) << c.capability;
    EXPECT_EQ(*target, c.target);
  }
  const absl::Status none = ChooseTarget(70, known).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(none));
  EXPECT_TRUE(absl::StrContains(none.message(), "75, 80")) << none;
  EXPECT_TRUE(absl::StrContains(none.message(), "has 70")) << none;
}

}  // namespace
}  // namespace hawser::cuda
