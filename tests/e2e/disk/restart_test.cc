// A server over a thousand datasets starts again: all are there, at once.
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "core/base/status.h"
#include "gtest/gtest.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr int kDatasets = 1000;
constexpr int kThreads = 8;
constexpr int64_t kBytes = 1000;  // and as many more as its number

class RestartTest : public ::testing::Test {
 protected:
  static std::vector<DatasetSource::Array> Arrays(int number) {
    return {{"", SeededBytes(kBytes + number, number)}};
  }
  // Every kThreads-th from `first` on.
  void PutSome(int first, std::vector<std::string>* tokens) {
    for (int i = first; i < kDatasets; i += kThreads) {
      const auto put = server_.client().Put(Arrays(i));
      EXPECT_OK(put);
      if (!put.ok()) return;
      (*tokens)[i] = put->token();
    }
  }
  // From the start of the process until a client has had its first answer.
  absl::StatusOr<absl::Duration> TimeToStart() {
    const absl::Time start = absl::Now();
    HAWSER_RETURN_IF_ERROR(server_.Start());
    HAWSER_RETURN_IF_ERROR(server_.client().Usage().status());
    return absl::Now() - start;
  }

  const TemporaryFolder folder_;
  DataServer server_{folder_.path()};
};

TEST_F(RestartTest, FindsAThousandDatasets) {
  ASSERT_OK_AND_ASSIGN(const absl::Duration empty, TimeToStart());
  std::vector<std::string> tokens(kDatasets);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &tokens] { PutSome(t, &tokens); });
  }
  for (std::thread& thread : threads) thread.join();
  server_.Kill();
  ASSERT_OK_AND_ASSIGN(const absl::Duration full, TimeToStart());
  std::printf("ready after %s over nothing, %s over %d datasets\n",
              absl::FormatDuration(empty).c_str(),
              absl::FormatDuration(full).c_str(), kDatasets);
  ASSERT_OK_AND_ASSIGN(const auto listed, server_.client().List());
  std::set<std::string> found;
  for (const DatasetInfo& info : listed) {
    EXPECT_TRUE(info.durable) << info.token;
    found.insert(info.token);
  }
  EXPECT_EQ(found, std::set<std::string>(tokens.begin(), tokens.end()));
  for (int i = 0; i < kDatasets; i += 37) {
    ASSERT_OK_AND_ASSIGN(const Dataset data,
                         server_.client().Dataset(tokens[i]));
    ASSERT_OK_AND_ASSIGN(const Literal got, data().Fetch());
    EXPECT_TRUE(got.BitEquals(Arrays(i)[0].value)) << i;
  }
  EXPECT_EQ(server_.BadFiles(), 0);
}

}  // namespace
}  // namespace hawser::testing
