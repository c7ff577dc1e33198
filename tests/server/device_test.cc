// Which device a server computes on.
#include "server/device.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

std::string PlatformOf(const std::string& name) {
  const auto device = MakeComputeDevice({.device = name});
  if (!device.ok()) return device.status().ToString();
  const auto capabilities = device->client->capabilities();
  if (!capabilities.ok()) return capabilities.status().ToString();
  EXPECT_EQ(device->live_buffers(), 0);
  return capabilities->platform;
}

TEST(ComputeDevice, IsTheOneThatIsNamed) {
  EXPECT_EQ(PlatformOf("cpu"), "cpu");
  EXPECT_EQ(PlatformOf("emu"), "emu");
}

TEST(ComputeDevice, IsAGpuWhereThereIsOne) {
  const auto cuda = MakeComputeDevice({.device = "cuda"});
  EXPECT_EQ(PlatformOf("auto"), cuda.ok() ? "cuda" : "cpu");
  if (!cuda.ok()) {
    EXPECT_THAT(cuda, StatusIs(cuda.status().code(), "cuda: "));
    EXPECT_FALSE(absl::IsInvalidArgument(cuda.status()));
  }
}

TEST(ComputeDevice, MustBeOneOfThose) {
  EXPECT_EQ(DeviceNames(), "auto, cuda, cuda:N, cpu, emu");
  for (const char* name : {"abacus", "cuda:", "cuda:x", "cuda:-1", "cuda: 0",
                           "cuda:+1", "cpu:0", "emu:1", "", "cuda:99999"}) {
    EXPECT_THAT(
        MakeComputeDevice({.device = name}),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 absl::StrCat("--device=", name,
                              " is none of auto, cuda, cuda:N, cpu, emu")));
  }
}

TEST(ComputeDevice, SaysWhichGpuThereIsNot) {
  EXPECT_THAT(MakeComputeDevice({.device = "cuda:999"}),
              StatusIs(absl::StatusCode::kUnavailable, "cuda:999: "));
}

TEST(ComputeDevice, TakesNoMoreMemoryThanItMay) {
  EXPECT_THAT(
      MakeComputeDevice({.device = "cpu", .device_memory = 1 << 20}),
      StatusIs(absl::StatusCode::kInvalidArgument, "--device_memory is of a"));
  ASSERT_OK_AND_ASSIGN(
      const ComputeDevice emu,
      MakeComputeDevice({.device = "emu", .device_memory = 1 << 20}));
  ASSERT_OK_AND_ASSIGN(const auto capabilities, emu.client->capabilities());
  EXPECT_EQ(capabilities.memory_bytes, 1 << 20);
  const Literal large = Literal::Zeros(Shape::Of(DType::kF32, {1 << 19}));
  auto buffer = emu.client->Upload(large, {});
  const absl::Status status =
      buffer.ok() ? (*buffer)->Ready({}).Await().status() : buffer.status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, ""));
  // What fits goes on as ever.
  ASSERT_OK_AND_ASSIGN(
      const auto small,
      emu.client->Upload(Literal::Zeros(Shape::Of(DType::kF32, {8})), {}));
  EXPECT_OK(small->Fetch({}).Await());
}

TEST(ComputeDevice, EmulatedSaysThatItNeedsACompiler) {
  const std::string path = std::getenv("PATH");
  // Nothing is compiled there yet.
  const std::string folder = ::testing::TempDir() + "/empty";
  std::filesystem::create_directory(folder);
  setenv("PATH", "/nowhere", 1);
  setenv("TEST_TMPDIR", folder.c_str(), 1);
  const auto device = MakeComputeDevice({.device = "emu"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(device, StatusIs(absl::StatusCode::kFailedPrecondition,
                               "cannot run g++"));
}

}  // namespace
}  // namespace hawser::server
