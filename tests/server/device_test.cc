// Which device a server computes on.
#include "server/device.h"

#include <cstdlib>
#include <filesystem>
#include <string>

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
  EXPECT_EQ(DeviceNames(), "auto, cuda, cpu, emu");
  EXPECT_THAT(MakeComputeDevice({.device = "abacus"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--device=abacus is none of auto, cuda, cpu, emu"));
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
