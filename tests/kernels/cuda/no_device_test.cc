// On a machine without a GPU, or in a build without CUDA, errors say so and
// nothing is left behind. With a device the tests are skipped.
#include <dirent.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "kernels/cuda/cuda_device.h"

namespace hawser::cuda {
namespace {

// Descriptors or threads of this process.
int Count(const char* folder) {
  DIR* const directory = opendir(folder);
  int count = 0;
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

TEST(NoDevice, IsUnavailableInTheDriversWords) {
  const absl::StatusOr<int> count = CudaDeviceCount();
  if (count.ok()) GTEST_SKIP() << *count << " devices";
  EXPECT_TRUE(absl::IsUnavailable(count.status()));
#ifdef HAWSER_HAVE_CUDA
  EXPECT_TRUE(absl::StrContains(count.status().message(), "no CUDA device: "));
  EXPECT_TRUE(absl::StrContains(count.status().message(), "(cudaError"));
  EXPECT_TRUE(absl::StrContains(count.status().message(), "driver"));
#else
  EXPECT_EQ(count.status().message(), "this build of hawser has no CUDA");
#endif
  EXPECT_EQ(MakeCudaDevice(0).status(), count.status());
}

TEST(NoDevice, LeavesNoDescriptorAndNoThreadBehind) {
  if (CudaDeviceCount().ok()) GTEST_SKIP() << "there is a device";
  const int descriptors = Count("/proc/self/fd");
  const int threads = Count("/proc/self/task");
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(absl::IsUnavailable(MakeCudaDevice(i).status()));
  }
  EXPECT_EQ(Count("/proc/self/fd"), descriptors);
  EXPECT_EQ(Count("/proc/self/task"), threads);
}

}  // namespace
}  // namespace hawser::cuda
