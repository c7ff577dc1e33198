#include "core/base/process/own_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(OwnFolder, IsMadeForThisUserAlone) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/own/deep");
  EXPECT_THAT(CheckOwnFolder(folder), StatusIs(StatusCode::kNotFound, folder));
  ASSERT_OK(MakeOwnFolder(folder));
  struct stat info;
  ASSERT_EQ(stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700);
  EXPECT_OK(MakeOwnFolder(folder));
}

TEST(OwnFolder, IsNotOneThatOthersWriteTo) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/shared");
  ASSERT_OK(MakeOwnFolder(folder));
  for (const int mode : {0777, 0770, 0720, 0702, 01777}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_THAT(CheckOwnFolder(folder),
                StatusIs(StatusCode::kFailedPrecondition,
                         absl::StrCat(folder, ": others may write to it")))
        << mode;
  }
  for (const int mode : {0700, 0750, 0755}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_OK(CheckOwnFolder(folder));
  }
}

TEST(OwnFolder, IsNoFileAndNotAnothersFolder) {
  const std::string file = absl::StrCat(::testing::TempDir(), "/file");
  std::ofstream(file) << "x";
  EXPECT_THAT(CheckOwnFolder(file),
              StatusIs(StatusCode::kFailedPrecondition, "is no folder"));
  if (geteuid() != 0) {
    EXPECT_THAT(CheckOwnFolder("/"),
                StatusIs(StatusCode::kFailedPrecondition, "belongs to user 0"));
    return;
  }
  const std::string folder = absl::StrCat(::testing::TempDir(), "/others");
  ASSERT_OK(MakeOwnFolder(folder));
  ASSERT_EQ(chown(folder.c_str(), 12345, 12345), 0);
  EXPECT_THAT(CheckOwnFolder(folder), StatusIs(StatusCode::kFailedPrecondition,
                                               "belongs to user 12345"));
}

}  // namespace
}  // namespace hawser
