#include "core/base/process/mapped_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

constexpr size_t kLarge = size_t{3} << 20;

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(::testing::TempDir(), "/mapped");
    unlink(path_.c_str());
  }
  void Write(size_t size, char byte) {
    std::ofstream(path_, std::ios::binary) << std::string(size, byte);
  }
  // As a program that writes into the file that is there.
  void Overwrite(size_t at, const std::string& bytes) {
    absl::SleepFor(absl::Milliseconds(10));
    const int fd = open(path_.c_str(), O_WRONLY);
    EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
    close(fd);
  }
  std::string path_;
};

TEST_F(MappedFileTest, HasTheBytesOfSmallAndLargeFiles) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{1} << 20,
                            kLarge, kLarge + 1}) {
    Write(size, 'a');
    const auto file = MappedFile::Open(path_);
    ASSERT_OK(file);
    EXPECT_EQ(std::string((*file)->bytes().begin(), (*file)->bytes().end()),
              std::string(size, 'a'));
    EXPECT_OK((*file)->CheckUnchanged());
    EXPECT_OK(CheckUnchanged((*file)->bytes()));
  }
}

TEST_F(MappedFileTest, CutShortReadsZerosAndSaysSo) {
  for (const size_t left : {size_t{0}, size_t{4096}, kLarge - 1}) {
    Write(kLarge, 'a');
    const auto file = MappedFile::Open(path_);
    ASSERT_OK(file);
    ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(left)), 0);
    size_t sum = 0;
    for (const char c : (*file)->bytes()) sum += c == 'a' ? 1 : 0;
    EXPECT_EQ(sum, left);
    EXPECT_THAT(CheckUnchanged((*file)->bytes().subspan(kLarge / 2)),
                StatusIs(StatusCode::kAborted,
                         absl::StrCat(path_, ": changed while it was read")));
  }
}

TEST_F(MappedFileTest, OverwrittenInPlaceSaysSo) {
  Write(kLarge, 'a');
  const auto file = MappedFile::Open(path_);
  ASSERT_OK(file);
  Overwrite(kLarge / 2, "b");
  EXPECT_THAT((*file)->CheckUnchanged(), StatusIs(StatusCode::kAborted, path_));
}

TEST_F(MappedFileTest, GrownSaysSo) {
  Write(kLarge, 'a');
  const auto file = MappedFile::Open(path_);
  ASSERT_OK(file);
  Overwrite(kLarge, "more");
  EXPECT_THAT((*file)->CheckUnchanged(), StatusIs(StatusCode::kAborted, path_));
}

TEST_F(MappedFileTest, ReplacedOrRemovedIsAsItWas) {
  Write(kLarge, 'a');
  const auto file = MappedFile::Open(path_);
  ASSERT_OK(file);
  const std::string other = path_ + ".other";
  std::ofstream(other) << "other";
  ASSERT_EQ(rename(other.c_str(), path_.c_str()), 0);
  EXPECT_OK((*file)->CheckUnchanged());
  EXPECT_EQ((*file)->bytes()[kLarge - 1], 'a');
  ASSERT_EQ(unlink(path_.c_str()), 0);
  EXPECT_OK((*file)->CheckUnchanged());
}

TEST_F(MappedFileTest, OnlyRegularFilesAreMapped) {
  EXPECT_THAT(MappedFile::Open(path_).status(),
              StatusIs(StatusCode::kNotFound, path_));
  EXPECT_THAT(MappedFile::Open(::testing::TempDir()).status(),
              StatusIs(StatusCode::kInvalidArgument, "not a regular file"));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(MappedFile::Open(path_).status(),
              StatusIs(StatusCode::kInvalidArgument, "not a regular file"));
}

TEST_F(MappedFileTest, BytesOfNoFileAreUnchanged) {
  Write(kLarge, 'a');
  const auto file = MappedFile::Open(path_);
  ASSERT_OK(file);
  const std::string own(100, 'x');
  EXPECT_OK(CheckUnchanged(own));
  EXPECT_OK(CheckUnchanged({}));
}

}  // namespace
}  // namespace hawser
