// Spans of threads, and the file they come to.
#include "core/base/trace/trace.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/trace_file.h"

namespace hawser {
namespace {

using absl::StatusCode;

std::string Path(const std::string& name) {
  return absl::StrCat(::testing::TempDir(), "/", name);
}

TEST(Trace, SpansNestAndCarryNumbers) {
  const std::string path = Path("nested.json");
  ASSERT_OK(StartTrace(path));
  {
    const TraceSpan outer("test", "outer");
    TraceSpan inner("test", "inner \"quoted\"\n\\");
    inner.Add("bytes", 1 << 20);
    inner.Add("lanes", -3);
  }
  std::thread([] { const TraceSpan other("test", "other"); }).join();
  ASSERT_OK(StopTrace());
  const TraceFile file = TraceFile::Read(path);
  file.ExpectNested();
  EXPECT_TRUE(file.IsWithin("inner \"quoted\"\n\\", "outer"));
  EXPECT_FALSE(file.IsWithin("outer", "inner"));
  EXPECT_FALSE(file.IsWithin("other", "outer"));
  const auto inner = file.Named("inner").at(0);
  EXPECT_EQ(inner["cat"], "test");
  EXPECT_EQ(inner["args"]["bytes"], 1 << 20);
  EXPECT_EQ(inner["args"]["lanes"], -3);
  EXPECT_NE(inner["tid"], file.Named("other").at(0)["tid"]);
  EXPECT_EQ(file.dropped(), 0);
}

TEST(Trace, FlightsMayEndOnOtherThreads) {
  const std::string path = Path("flights.json");
  ASSERT_OK(StartTrace(path));
  TraceFlight request("wire", "fetch");
  request.Add("bytes", 7);
  std::thread([there = std::move(request)]() mutable { there.Land(); }).join();
  TraceFlight replaced("wire", "first");
  replaced = TraceFlight("wire", "second");
  ASSERT_OK(StopTrace());
  const TraceFile file = TraceFile::Read(path);
  const auto fetch = file.Named("fetch");
  ASSERT_EQ(fetch.size(), 2);
  EXPECT_EQ(fetch[0]["ph"], "b");
  EXPECT_EQ(fetch[1]["ph"], "e");
  EXPECT_EQ(fetch[0]["id"], fetch[1]["id"]);
  EXPECT_EQ(fetch[0]["args"]["bytes"], 7);
  EXPECT_EQ(file.Named("first").size(), 2);
  // Had not ended.
  EXPECT_EQ(file.Named("second").size(), 0);
}

TEST(Trace, RecordsNothingBeforeAndAfter) {
  EXPECT_FALSE(IsTraced());
  EXPECT_OK(StopTrace());
  auto before = std::make_unique<TraceSpan>("test", "before");
  const std::string path = Path("between.json");
  ASSERT_OK(StartTrace(path));
  EXPECT_TRUE(IsTraced());
  before.reset();
  auto open = std::make_unique<TraceSpan>("test", "open");
  ASSERT_OK(StopTrace());
  EXPECT_FALSE(IsTraced());
  ASSERT_OK(StartTrace(path));
  open.reset();  // of the trace before
  ASSERT_OK(StopTrace());
  EXPECT_EQ(TraceFile::Read(path).whole["traceEvents"].size(), 1);
}

TEST(Trace, CountsWhatItHasNoRoomFor) {
  const std::string path = Path("full.json");
  ASSERT_OK(StartTrace(path));
  for (int64_t n = 0; n < kMaxTraceEvents + 5; ++n) {
    const TraceSpan span("test", "");
  }
  ASSERT_OK(StopTrace());
  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_THAT(text, ::testing::EndsWith("\"otherData\":{\"dropped\":5}}\n"));
}

// While it lives no file of this process grows beyond `bytes`: what writes more
// is told so, as on a full disk.
class FilesOfAtMost {
 public:
  explicit FilesOfAtMost(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FilesOfAtMost() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FilesOfAtMost(const FilesOfAtMost&) = delete;
  FilesOfAtMost& operator=(const FilesOfAtMost&) = delete;

 private:
  rlimit before_ = {};
  void (*handler_)(int) = SIG_DFL;
};

TEST(Trace, SaysWhatCannotBeWritten) {
  EXPECT_THAT(StartTrace("/no/such/folder/x.json"),
              StatusIs(StatusCode::kFailedPrecondition,
                       "/no/such/folder/x.json cannot be written: No such"));
  EXPECT_FALSE(IsTraced());
  const std::string full = Path("full.json");
  ASSERT_OK(StartTrace(full));
  EXPECT_THAT(StartTrace(Path("second.json")),
              StatusIs(StatusCode::kFailedPrecondition,
                       absl::StrCat("recorded already, for ", full)));
  {
    const FilesOfAtMost none(0);
    EXPECT_THAT(StopTrace(),
                StatusIs(StatusCode::kFailedPrecondition,
                         absl::StrCat(full, " could not be written")));
  }
  ASSERT_OK(StartTrace(Path("%p.json")));
  ASSERT_OK(StopTrace());
  EXPECT_EQ(TraceFile::Read(Path(absl::StrCat(getpid(), ".json"))).dropped(),
            0);
}

}  // namespace
}  // namespace hawser
