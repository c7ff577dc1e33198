#include "server/datasets/storage/file_io.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/large_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kPage = 4096;
constexpr absl::string_view kAbc = "abc", kDef = "def";

// Pages that begin where a page does.
class Pages {
 public:
  explicit Pages(size_t bytes) : bytes_(bytes), begin_(MapLarge(bytes)) {
    for (size_t i = 0; i < bytes; ++i) begin_[i] = static_cast<char>(i * 7 / 5);
  }
  ~Pages() { UnmapLarge(begin_, bytes_); }
  absl::Span<char> Part(size_t from, size_t size) const {
    return absl::MakeSpan(begin_, bytes_).subspan(from, size);
  }

 private:
  const size_t bytes_;
  char* const begin_;
};

// Some of these go past the page cache, whole or up to a last page, where the
// folder's file system has that.
TEST(FileIo, BytesComeBackFromAnyPlaceInMemoryAndFile) {
  const TemporaryFolder folder;
  const Pages from(4 << 20), to(4 << 20);
  const struct {
    size_t front;      // bytes before these in the file
    size_t unaligned;  // of memory
    size_t size;
  } kCases[] = {
      {0, 0, 0},
      {0, 0, 1},
      {kPage, 0, 1 << 20},
      {kPage, 0, (1 << 20) + 1},
      {kPage, 64, 1 << 20},
      {100, 0, 1 << 20},
      {kPage, 0, 255 << 10},
      {0, 0, (3 << 20) - 1},
      {3 * kPage, 8, (2 << 20) + 5},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(absl::StrCat(c.front, " ", c.unaligned, " ", c.size));
    const std::string path = folder.Path("file"), front(c.front, 'f');
    const absl::Span<const char> bytes = from.Part(c.unaligned, c.size);
    ASSERT_OK(WriteFile(path, {front, bytes}));
    ASSERT_OK_AND_ASSIGN(const std::string all, ReadFile(path));
    EXPECT_TRUE(all == front + std::string(bytes.begin(), bytes.end()));
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const absl::Span<char> back = to.Part(c.unaligned, c.size);
    std::fill(back.begin(), back.end(), '?');
    ASSERT_OK(ReadExactly(file.get(), c.front, back, path));
    EXPECT_TRUE(back == bytes);
    if (c.size == 0) continue;
    EXPECT_THAT(ReadExactly(file.get(), c.front + 1, back, path),
                StatusIs(absl::StatusCode::kDataLoss,
                         absl::StrCat("ends at byte ", c.front + c.size)));
  }
}

TEST(FileIo, ANewFileHasItsNameOnlyOnceItIsKept) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("file");
  ASSERT_OK_AND_ASSIGN(auto file, NewFile::Write(path, {kAbc}));
  EXPECT_THAT(*ListFolder(folder.path()), ElementsAre("file.tmp"));
  ASSERT_OK(file->Keep());
  EXPECT_THAT(*ListFolder(folder.path()), ElementsAre("file"));
  file = nullptr;
  EXPECT_EQ(*ReadFile(path), kAbc);
  // What is not kept leaves what was there.
  ASSERT_OK(NewFile::Write(path, {kDef}));
  EXPECT_THAT(*ListFolder(folder.path()), ElementsAre("file"));
  EXPECT_EQ(*ReadFile(path), kAbc);
}

TEST(FileIo, WhatCannotBeWrittenNamesTheFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(MakeFolder(folder.Path("no/such")),
              StatusIs(absl::StatusCode::kNotFound,
                       "cannot make folder " + folder.Path("no/such")));
  const std::string path = folder.Path("no/such/file");
  EXPECT_THAT(NewFile::Write(path, {"abc"}),
              StatusIs(absl::StatusCode::kNotFound, path));
  EXPECT_THAT(*ListFolder(folder.path()), IsEmpty());
  // Its place was taken by a folder meanwhile.
  ASSERT_OK_AND_ASSIGN(auto file, NewFile::Write(folder.Path("x"), {kAbc}));
  ASSERT_OK(MakeFolder(folder.Path("x")));
  EXPECT_THAT(file->Keep(), StatusIs(absl::StatusCode::kInternal, "rename"));
  file = nullptr;
  EXPECT_THAT(*ListFolder(folder.path()), ElementsAre("x"));
}

}  // namespace
}  // namespace hawser::server
