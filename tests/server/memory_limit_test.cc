#include "server/memory_limit.h"

#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::server {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

// A tree of files as the kernel shows them.
class MemoryLimitTest : public ::testing::Test {
 protected:
  void Write(absl::string_view path, absl::string_view text) {
    folder_.Write(path, text);
  }
  void SetUp() override {
    Write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
  }
  int64_t Had() const { return MemoryToBeHad(folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(MemoryLimitTest, WithoutGroupsItIsTheMachines) {
  EXPECT_EQ(Had(), 16 * kGiB);
}

TEST_F(MemoryLimitTest, NothingSays) {
  EXPECT_EQ(MemoryToBeHad(folder_.path() + "/nowhere"), 0);
}

TEST_F(MemoryLimitTest, Version2AndTheGroupsAbove) {
  Write("proc/self/cgroup", "0::/system.slice/hawserd.service\n");
  Write("sys/fs/cgroup/system.slice/hawserd.service/memory.max", "max\n");
  EXPECT_EQ(Had(), 16 * kGiB);
  Write("sys/fs/cgroup/system.slice/memory.max", "2147483648\n");
  EXPECT_EQ(Had(), 2 * kGiB);
  Write("sys/fs/cgroup/system.slice/hawserd.service/memory.max",
        "1073741824\n");
  EXPECT_EQ(Had(), kGiB);
}

TEST_F(MemoryLimitTest, Version1) {
  Write("proc/self/cgroup", "11:cpuset:/x\n4:cpu,memory:/docker/abc\n0::/\n");
  Write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(Had(), kGiB / 2);
}

TEST_F(MemoryLimitTest, Version1WithoutALimit) {
  Write("proc/self/cgroup", "4:memory:/\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Had(), 16 * kGiB);
}

TEST_F(MemoryLimitTest, InAContainerTheMountIsTheGroups) {
  Write("proc/self/cgroup", "0::/kubepods/not/to/be/seen\n");
  Write("sys/fs/cgroup/memory.max", "3221225472\n");
  EXPECT_EQ(Had(), 3 * kGiB);
}

TEST_F(MemoryLimitTest, WhatIsNoNumberIsNoLimit) {
  Write("proc/self/cgroup", "nonsense\n0::/a\n::\n");
  Write("sys/fs/cgroup/a/memory.max", "many\n");
  EXPECT_EQ(Had(), 16 * kGiB);
}

TEST_F(MemoryLimitTest, ConnectionsCloseOnlyBeyondWhatClientsMayHold) {
  EXPECT_LT(MemoryForClients(kGiB), MemoryToCloseAt(kGiB));
  EXPECT_LT(MemoryToCloseAt(kGiB), kGiB);
}

}  // namespace
}  // namespace hawser::server
