#include "server/datasets/storage/disk_writer.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

// What a writer did, in order. Thread-safe.
class Journal {
 public:
  void Add(std::string event) {
    MutexLock lock(&mu_);
    events_.push_back(std::move(event));
  }
  std::vector<std::string> events() const {
    MutexLock lock(&mu_);
    return events_;
  }

 private:
  mutable Mutex mu_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mu_);
};

class DiskWriterTest : public ::testing::Test {
 protected:
  DiskWriter::Task Writes(const std::string& name,
                          absl::Status status = absl::OkStatus()) {
    return {[this, name, status] {
              journal_.Add("write " + name);
              return status;
            },
            [this, name](const absl::Status& result) {
              journal_.Add(absl::StrCat(
                  "done ", name, " ", absl::StatusCodeToString(result.code())));
            }};
  }
  // The writer stays inside this task until opened_ is set.
  DiskWriter::Task Blocks() {
    DiskWriter::Task task = Writes("blocked");
    task.write = [this] {
      entered_.Set(true);
      return opened_.future().Await().status();
    };
    return task;
  }

  Journal journal_;
  Promise<bool> entered_, opened_;
  absl::Status flush_status_;
  DiskWriter writer_{
      [this] {
        journal_.Add("flush");
        return flush_status_;
      },
      [this] { journal_.Add(writer_.idle() ? "idle" : "more"); }};
};

TEST_F(DiskWriterTest, WritesInOrderFlushesThenSaysDone) {
  writer_.Add(Blocks());
  ASSERT_OK(entered_.future().Await());
  EXPECT_FALSE(writer_.idle());
  writer_.Add(Writes("a"));
  writer_.Add(Writes("b", Internal("sick")));
  opened_.Set(true);
  EXPECT_EQ(writer_.Stop(absl::InfiniteFuture()), 0);
  writer_.Join();
  EXPECT_THAT(
      journal_.events(),
      ElementsAre("flush", "done blocked OK", "more", "write a", "write b",
                  "flush", "done a OK", "done b INTERNAL", "idle"));
}

TEST_F(DiskWriterTest, PreparesABatchBeforeItWritesAnyOfIt) {
  writer_.Add(Blocks());
  ASSERT_OK(entered_.future().Await());
  for (const char* name : {"a", "b"}) {
    DiskWriter::Task task = Writes(name);
    task.prepare = [this, name] {
      journal_.Add(absl::StrCat("prepare ", name));
    };
    writer_.Add(std::move(task));
  }
  opened_.Set(true);
  EXPECT_EQ(writer_.Stop(absl::InfiniteFuture()), 0);
  writer_.Join();
  EXPECT_THAT(journal_.events(),
              ElementsAre("flush", "done blocked OK", "more", "prepare a",
                          "prepare b", "write a", "write b", "flush",
                          "done a OK", "done b OK", "idle"));
}

// Else it could have no room yet, or be the file that the removal is about.
TEST_F(DiskWriterTest, PreparesNothingBeforeAnEarlierRemoval) {
  writer_.Add(Blocks());
  ASSERT_OK(entered_.future().Await());
  DiskWriter::Task remove = Writes("remove");
  remove.removes = true;
  writer_.Add(std::move(remove));
  writer_.Add(Writes("record"));
  DiskWriter::Task chunk = Writes("chunk");
  chunk.prepare = [this] { journal_.Add("prepare chunk"); };
  writer_.Add(std::move(chunk));
  opened_.Set(true);
  EXPECT_EQ(writer_.Stop(absl::InfiniteFuture()), 0);
  writer_.Join();
  EXPECT_THAT(
      journal_.events(),
      ElementsAre("flush", "done blocked OK", "more", "write remove",
                  "write record", "flush", "done remove OK", "done record OK",
                  "more", "prepare chunk", "write chunk", "flush",
                  "done chunk OK", "idle"));
}

TEST_F(DiskWriterTest, SomeComeFirst) {
  writer_.Add(Blocks());
  ASSERT_OK(entered_.future().Await());
  writer_.Add(Writes("a"));
  writer_.Add(Writes("b"), /*first=*/true);
  opened_.Set(true);
  EXPECT_EQ(writer_.Stop(absl::InfiniteFuture()), 0);
  writer_.Join();
  EXPECT_THAT(
      journal_.events(),
      ElementsAre("flush", "done blocked OK", "more", "write b", "write a",
                  "flush", "done b OK", "done a OK", "idle"));
}

TEST_F(DiskWriterTest, NothingIsDoneThatCouldNotBeFlushed) {
  flush_status_ = ResourceExhausted("full");
  writer_.Add(Writes("a"));
  EXPECT_EQ(writer_.Stop(absl::InfiniteFuture()), 0);
  writer_.Join();
  EXPECT_THAT(
      journal_.events(),
      ElementsAre("write a", "flush", "done a RESOURCE_EXHAUSTED", "idle"));
}

TEST_F(DiskWriterTest, AStopGivesUpWhatIsLeftAtItsDeadline) {
  writer_.Add(Blocks());
  ASSERT_OK(entered_.future().Await());
  writer_.Add(Writes("a"));
  EXPECT_EQ(writer_.Stop(absl::InfinitePast()), 1);
  EXPECT_FALSE(writer_.Add(Writes("b")));
  EXPECT_THAT(journal_.events(), ElementsAre("done a UNAVAILABLE"));
  opened_.Set(true);
  writer_.Join();
  EXPECT_THAT(journal_.events(), ElementsAre("done a UNAVAILABLE", "flush",
                                             "done blocked OK", "idle"));
}

TEST_F(DiskWriterTest, JoinsTwiceAndUnused) {
  writer_.Join();
  writer_.Join();
  EXPECT_FALSE(writer_.Add(Writes("a")));
  EXPECT_TRUE(writer_.idle());
}

}  // namespace
}  // namespace hawser::server
