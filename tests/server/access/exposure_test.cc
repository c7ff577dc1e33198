#include "server/access/exposure.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Who may do what is said by POSIX: 020 and 002 write, 040 and 004 read.
TEST(Exposure, SaysWhatTheModeLetsOthersDo) {
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0700), 0);
  const std::string file = folder.Write("file", "x");
  const std::string inner = folder.Path("inner");
  ASSERT_EQ(mkdir(inner.c_str(), 0700), 0);
  int rows = 0;
  for (const std::string& path : {file, inner}) {
    for (const bool secret : {true, false}) {
      for (const unsigned mode : {0600u, 0700u, 0640u, 0604u, 0644u, 0660u,
                                  0602u, 0666u, 0711u, 0755u, 0777u, 01777u}) {
        ASSERT_EQ(chmod(path.c_str(), mode), 0);
        const auto said = Exposures({{"--flag", path, secret}});
        const bool writes = (mode & 022) != 0;
        const bool reads = secret && (mode & 044) != 0;
        SCOPED_TRACE(absl::StrFormat("%s %o", path, mode));
        ++rows;
        if (!writes && !reads) {
          EXPECT_THAT(said, IsEmpty());
          continue;
        }
        EXPECT_THAT(
            said,
            ElementsAre(AllOf(
                HasSubstr(
                    absl::StrFormat("--flag %s has mode %04o", path, mode)),
                HasSubstr(writes ? "others may change it" : "others may read"),
                HasSubstr(absl::StrCat(
                    "chmod ", path == inner ? "0700 " : "0600 ", path)))));
      }
    }
  }
  std::cout << rows << " modes\n";
}

TEST(Exposure, AFolderAroundThatOthersMayChangeIsAnotherWay) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("file", "x");
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  for (const unsigned mode : {0700u, 0755u, 01777u}) {
    ASSERT_EQ(chmod(folder.path().c_str(), mode), 0);
    EXPECT_THAT(Exposures({{"--f", file}}), IsEmpty()) << mode;
  }
  for (const unsigned mode : {0777u, 0775u, 0722u}) {
    ASSERT_EQ(chmod(folder.path().c_str(), mode), 0);
    EXPECT_THAT(Exposures({{"--f", file}}),
                ElementsAre(AllOf(HasSubstr("--f " + file + " lies in"),
                                  HasSubstr("chmod go-w " + folder.path()))));
  }
  ASSERT_EQ(chmod(folder.path().c_str(), 0700), 0);
}

TEST(Exposure, NothingIsSaidOfWhatIsNotThere) {
  EXPECT_THAT(Exposures({{"--a", ""}, {"--b", "/no/such/file"}}), IsEmpty());
}

TEST(Exposure, SomebodyElsesFileIsTheirsToChange) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TemporaryFolder folder;
  const std::string file = folder.Write("file", "x");
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  EXPECT_THAT(Exposures({{"--f", file}}),
              ElementsAre(HasSubstr("belongs to user 12345")));
}

TEST(Exposure, RootAndCapabilitiesAreNamed) {
  const std::string none = "Name:\thawserd\nCapEff:\t0000000000000000\n";
  const std::string all =
      "CapPrm:\t0\nCapEff:\t000001ffffffffff\nNoNewPrivs:\t0";
  const std::string one = "CapEff:\t0000000000000400\n";
  EXPECT_EQ(PrivilegeOf(1000, none), "");
  EXPECT_EQ(PrivilegeOf(1000, ""), "");
  EXPECT_THAT(PrivilegeOf(0, all),
              AllOf(HasSubstr("user 0 with capabilities 1ffffffffff"),
                    HasSubstr("DynamicUser=yes")));
  EXPECT_THAT(PrivilegeOf(0, none), HasSubstr("user 0"));
  EXPECT_THAT(PrivilegeOf(1000, one), HasSubstr("capabilities 400"));
}

TEST(Exposure, PrivilegesThatAreRenouncedStayAway) {
  RenouncePrivileges();
  EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
}

}  // namespace
}  // namespace hawser::server
