// Calls of the file system that fail, one kind of file and one call at a time:
// what a disk does not give out costs what it holds and nothing else, and what
// it did not take was never there.
#include <cerrno>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/faulty_files.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SetFileFaults;

std::string Always(absl::string_view call, absl::string_view path, int error) {
  return absl::StrCat(call, " ", path, " ", error, " 100 0;");
}

class FileFaultsTest : public StoreTest {
 protected:
  ~FileFaultsTest() override { SetFileFaults(""); }

  // Two datasets of "a", one of "b"; both tenants have a tag, "a" has a pin.
  void SetUp() override {
    Open();
    one_ = Put(store(), "a", Alone(SomeBytes(100, 1)))->token;
    two_ = Put(store(), "a", Alone(SomeBytes(100, 2)))->token;
    other_ = Put(store(), "b", Alone(SomeBytes(100, 3)))->token;
    ASSERT_OK(Tag("a", "@x", one_));
    ASSERT_OK(Tag("b", "@y", other_));
    ASSERT_OK(Pin(one_, absl::InfiniteDuration()));
  }
  absl::Status Tag(absl::string_view tenant, const std::string& name,
                   const std::string& token,
                   std::optional<std::string> expected = std::nullopt) {
    return Told([&](auto done) {
      store().Tag(tenant, {name, token, std::move(expected)}, done);
    });
  }
  absl::Status Pin(const std::string& token, absl::Duration ttl) {
    return Told([&](auto done) {
      store().Pin("a", token, ttl,
                  [done](const auto& info) { done(info.status()); });
    });
  }
  absl::Status Delete(const std::string& token) {
    return Told([&](auto done) { store().Delete("a", token, done); });
  }
  using Done = std::function<void(const absl::Status&)>;
  static absl::Status Told(const std::function<void(Done)>& ask) {
    Promise<bool> promise;
    ask([&](const absl::Status& status) {
      status.ok() ? promise.Set(true)
                  : promise.Set(absl::StatusOr<bool>(status));
    });
    return promise.future().Await().status();
  }
  // The file of a kind that belongs to `one_`, or to the names of "a".
  std::string FileOf(const std::string& kind) {
    if (kind == "datasets") return folder_.Find(kind, one_).at(0);
    const std::string name =
        kind == "chunks" ? ManifestOf(Alone(SomeBytes(100, 1)), 1)
                               .arrays[0]
                               .chunks[0]
                               .ToHex()
                         : Sha256(std::string("a")).ToHex().substr(0, 16);
    return folder_.Find(kind, name).at(0);
  }
  void Reopen() {
    SetFileFaults("");
    Open();
  }
  // What does not lie in the file of `kind` is as it was.
  void ExpectTheRest(const std::string& kind) {
    EXPECT_OK(LoadArray(store(), "a", two_));
    EXPECT_OK(LoadArray(store(), "b", other_));
    EXPECT_EQ(store().Stat("b", "@y")->token, other_);
    EXPECT_EQ(LoadArray(store(), "a", one_).ok(), kind == "names");
    EXPECT_EQ(store().Stat("a", one_).ok(), kind != "datasets");
    EXPECT_EQ(store().Stat("a", "@x").ok(), kind == "chunks");
  }

  std::string one_, two_, other_;
};

// ---- reading at the start

struct ReadFault {
  const char* call;
  int error;
};
constexpr ReadFault kFileIsBad[] = {
    {"open", EIO},  {"open", EACCES},   {"open", ELOOP},    {"open", ESTALE},
    {"pread", EIO}, {"pread", EBADMSG}, {"pread", EUCLEAN}, {"fstat", EIO}};
constexpr const char* kKinds[] = {"chunks", "datasets", "names"};

TEST_F(FileFaultsTest, AFileThatCannotBeReadCostsWhatItHolds) {
  int rows = 0;
  for (const std::string kind : kKinds) {
    const std::string path = FileOf(kind);
    for (const ReadFault& fault : kFileIsBad) {
      SCOPED_TRACE(absl::StrCat(kind, " ", fault.call, " ", fault.error));
      store_->Stop(absl::InfiniteFuture());
      SetFileFaults(Always(fault.call, path + "$", fault.error));
      Open();
      ASSERT_NE(store_, nullptr);
      EXPECT_EQ(store().statistics().bad_files, 1);
      ExpectTheRest(kind);
      // Its chunks stay for the start that can read what names them.
      now_ += absl::Hours(1);
      store().Sweep();
      EXPECT_EQ(FileOf(kind), path) << "it is not set aside";
      Reopen();
      EXPECT_EQ(store().statistics().bad_files, 0);
      EXPECT_OK(LoadArray(store(), "a", one_));
      EXPECT_EQ(store().Stat("a", "@x")->token, one_);
      ++rows;
    }
  }
  std::cout << rows << " files that cannot be read\n";
}

TEST_F(FileFaultsTest, WhatCannotBeReadIsHealedByPuttingAgain) {
  for (const std::string kind : kKinds) {
    SCOPED_TRACE(kind);
    store_->Stop(absl::InfiniteFuture());
    SetFileFaults(Always("pread", FileOf(kind) + "$", EIO));
    Open();
    ASSERT_OK(Put(store(), "a", Alone(SomeBytes(100, 1))));
    ASSERT_OK(Tag("a", "@x", one_));
    Reopen();
    EXPECT_OK(LoadArray(store(), "a", one_));
    EXPECT_EQ(store().Stat("a", "@x")->token, one_);
  }
  // The names that could not be read are there for a look.
  EXPECT_EQ(folder_.Find("names", ".bad").size(), 1u);
}

TEST_F(FileFaultsTest, AProcessThatMayOpenNothingDoesNotStart) {
  int rows = 0;
  for (const std::string kind : kKinds) {
    const std::string path = FileOf(kind);
    std::vector<std::string> faults = {Always("readdir", "/" + kind + "$", EIO),
                                       Always("fsync", "/" + kind + "$", EIO)};
    for (const int error : {EMFILE, ENFILE, ENOMEM}) {
      faults.push_back(Always("open", path + "$", error));
    }
    for (const std::string& fault : faults) {
      SCOPED_TRACE(fault);
      store_->Stop(absl::InfiniteFuture());
      store_ = nullptr;
      SetFileFaults(fault);
      const auto opened = DatasetStore::Open({.data_dir = folder_.path()});
      EXPECT_THAT(opened.status().message(), HasSubstr("/" + kind));
      EXPECT_FALSE(opened.ok());
      Reopen();
      EXPECT_OK(LoadArray(store(), "a", one_)) << "nothing is set aside";
      ++rows;
    }
  }
  std::cout << rows << " starts that are refused\n";
}

// ---- writing

class WriteFaultsTest : public FileFaultsTest {
 protected:
  struct Verb {
    const char* name;
    std::function<absl::Status()> ask;
  };
  std::vector<Verb> Names() {
    return {
        {"tag", [this] { return Tag("a", "@new", one_); }},
        {"move", [this] { return Tag("a", "@x", two_); }},
        {"drop", [this] { return Tag("a", "@x", ""); }},
        {"swap", [this] { return Tag("a", "@x", two_, one_); }},
        {"first", [this] { return Tag("a", "@new", two_, ""); }},
        {"pin", [this] { return Pin(two_, absl::InfiniteDuration()); }},
        {"pin for a time", [this] { return Pin(two_, absl::Hours(9)); }},
        {"unpin", [this] { return Pin(one_, absl::ZeroDuration()); }},
    };
  }
  void ExpectAsBefore() {
    EXPECT_EQ(store().Stat("a", "@x")->token, one_);
    EXPECT_FALSE(store().Stat("a", "@new").ok());
    EXPECT_THAT(store().Stat("a", one_)->tags, ElementsAre("@x"));
    EXPECT_THAT(store().Stat("a", two_)->tags, IsEmpty());
    EXPECT_EQ(store().Stat("a", one_)->pinned_until, absl::InfiniteFuture());
    EXPECT_EQ(store().Stat("a", two_)->pinned_until, absl::InfinitePast());
    EXPECT_EQ(store().List("a", {}).datasets.size(), 2u);
  }
};

// G4: the writer was told "done", and a restart brought the old value back.
TEST_F(WriteFaultsTest, ANameThatWasNotWrittenWasNeverThere) {
  const std::string kFaults[] = {
      Always("open", "/names/", ENOSPC), Always("open", "/names/", EIO),
      Always("fsync", "/names/", EIO),   Always("fsync", "/names/", ENOSPC),
      Always("rename", "/names/", EIO),  Always("fsync", "/names$", EIO),
  };
  int rows = 0;
  for (const std::string& fault : kFaults) {
    for (const Verb& verb : Names()) {
      SCOPED_TRACE(absl::StrCat(verb.name, ": ", fault));
      SetFileFaults(fault);
      const absl::Status told = verb.ask();
      EXPECT_THAT(told.message(), HasSubstr("tags and pins are as they were"));
      ExpectAsBefore();
      // A healthy disk, and a second look: what the file may hold is undone.
      SetFileFaults("");
      now_ += absl::Minutes(1);
      store().Sweep();
      Reopen();
      ExpectAsBefore();
      ++rows;
    }
  }
  std::cout << rows << " names that were not written\n";
}

TEST_F(WriteFaultsTest, ADatasetThatWasNotDeletedIsThere) {
  int rows = 0;
  for (const int error : {EIO, EROFS, EACCES, ENOSPC}) {
    for (const char* fault : {"unlink /datasets/", "fsync /datasets$"}) {
      for (const std::string& name : {two_, std::string("@x")}) {
        SCOPED_TRACE(absl::StrCat(fault, " ", error, " ", name));
        SetFileFaults(absl::StrCat(fault, " ", error, " 100 0"));
        EXPECT_THAT(Delete(name).message(), HasSubstr("was not deleted"));
        ExpectAsBefore();
        SetFileFaults("");
        now_ += absl::Minutes(1);
        store().Sweep();
        Reopen();
        ExpectAsBefore();
        EXPECT_OK(LoadArray(store(), "a", two_));
        ++rows;
      }
    }
  }
  std::cout << rows << " deletions that failed\n";
}

// ---- what is seen meanwhile

TEST_F(WriteFaultsTest, WhatIsBeingWrittenIsNotSeen) {
  const std::string slow = "fsync /names/ 0 100 300";
  for (const Verb& verb : Names()) {
    SCOPED_TRACE(verb.name);
    SetFileFaults(slow);
    std::thread writer([&] { EXPECT_OK(verb.ask()); });
    absl::SleepFor(absl::Milliseconds(100));
    ExpectAsBefore();
    writer.join();
    SetFileFaults("");
    ASSERT_OK(Tag("a", "@x", one_));
    ASSERT_OK(Tag("a", "@new", ""));
    ASSERT_OK(Pin(one_, absl::InfiniteDuration()));
    ASSERT_OK(Pin(two_, absl::ZeroDuration()));
  }
}

// An answer that an undecided write is the reason for waits for it.
TEST_F(WriteFaultsTest, ARefusalWaitsForTheWriteThatIsItsReason) {
  for (const bool fails : {false, true}) {
    SCOPED_TRACE(fails);
    SetFileFaults(absl::StrCat("fsync /names/ ", fails ? EIO : 0, " 100 300"));
    std::thread first(
        [&] { EXPECT_EQ(Tag("a", "@x", two_, one_).ok(), !fails); });
    absl::SleepFor(absl::Milliseconds(100));
    // Its turn comes after the write; with a disk that fails it fails as well.
    const absl::Status second = Tag("a", "@x", two_, one_);
    EXPECT_EQ(second.code(),
              fails ? StatusCode::kInternal : StatusCode::kAborted);
    EXPECT_EQ(store().Stat("a", "@x")->token, fails ? one_ : two_);
    first.join();
    SetFileFaults("");
    ASSERT_OK(Tag("a", "@x", one_));
  }
}

TEST_F(WriteFaultsTest, ADatasetIsThereUntilItsDeletionIsDurable) {
  SetFileFaults("fsync /datasets$ 0 100 300");
  std::thread first([&] { EXPECT_OK(Delete(two_)); });
  absl::SleepFor(absl::Milliseconds(100));
  EXPECT_OK(store().Stat("a", two_));
  EXPECT_EQ(store().List("a", {}).datasets.size(), 2u);
  // The second deletion comes too late, and hears so when that is certain.
  EXPECT_THAT(Delete(two_), StatusIs(StatusCode::kNotFound, two_));
  EXPECT_FALSE(store().Stat("a", two_).ok());
  first.join();
  EXPECT_EQ(store().Usage("a").bytes, 100);
}

TEST_F(WriteFaultsTest, PutAgainWhileItIsBeingDeletedItStays) {
  SetFileFaults("fsync /datasets$ 0 100 200");
  std::thread first([&] { EXPECT_OK(Delete(two_)); });
  absl::SleepFor(absl::Milliseconds(100));
  ASSERT_OK(Put(store(), "a", Alone(SomeBytes(100, 2))));
  first.join();
  EXPECT_EQ(store().Usage("a").datasets, 2);
  Reopen();
  EXPECT_OK(LoadArray(store(), "a", two_));
}

}  // namespace
}  // namespace hawser::server
