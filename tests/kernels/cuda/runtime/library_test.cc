// Libraries are looked for in a fixed order, and what is missing is named.
#include "kernels/cuda/runtime/library.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

extern "C" int hawser_fake_answer();
extern "C" int hawser_fake_missing();

namespace hawser::cuda {
namespace {

constexpr absl::string_view kSonames[] = {"libhawserfake.so.13",
                                          "libhawserfake.so.12"};

// The library that the BUILD file makes for this test.
std::string Fake() {
  return absl::StrCat(std::getenv("TEST_SRCDIR"), "/",
                      std::getenv("TEST_WORKSPACE"),
                      "/tests/kernels/cuda/runtime/libfake.so");
}

// A new folder and the files that a test puts there.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(absl::StrCat(::testing::TempDir(), "/",
                           ::testing::UnitTest::GetInstance()
                               ->current_test_info()
                               ->name(),
                           "-", name)) {
    mkdir(path_.c_str(), 0777);
  }
  const std::string& path() const { return path_; }
  Folder& Sub(const std::string& name) {
    path_ += "/" + name;
    mkdir(path_.c_str(), 0777);
    return *this;
  }
  std::string PutLibrary(const std::string& name) const {
    const std::string to = path_ + "/" + name;
    std::ofstream(to, std::ios::binary)
        << std::ifstream(Fake(), std::ios::binary).rdbuf();
    return to;
  }
  std::string PutText(const std::string& name) const {
    const std::string to = path_ + "/" + name;
    std::ofstream(to) << "no library";
    return to;
  }

 private:
  std::string path_;
};

TEST(LibraryCandidates, ListedFoldersThenEachNameEverywhere) {
  Folder python("python");
  Folder(python).Sub("nvidia").Sub("cu13").Sub("lib");
  Folder(python).Sub("nvidia").Sub("cudnn").Sub("lib");
  const LibraryPlaces places{.listed = {"/one", "/two"},
                             .toolkits = {"/kit"},
                             .python = {python.path(), "/no-such-folder"}};
  const std::string wheels = python.path() + "/nvidia/";
  EXPECT_EQ(LibraryCandidates(places, {"a.13", "a.12"}),
            (std::vector<std::string>{
                "/one/a.13", "/one/a.12", "/two/a.13", "/two/a.12",  //
                "a.13", "/kit/lib64/a.13", wheels + "cu13/lib/a.13",
                wheels + "cudnn/lib/a.13",  //
                "a.12", "/kit/lib64/a.12", wheels + "cu13/lib/a.12",
                wheels + "cudnn/lib/a.12"}));
}

TEST(LibraryPlaces, ComeFromTheEnvironment) {
  Folder root("env");
  Folder(root).Sub("lib").Sub("python3.11").Sub("site-packages");
  setenv("HAWSER_CUDA_LIBS", "/a::/b", 1);
  setenv("CUDA_PATH", "/path", 1);
  setenv("CUDA_HOME", "/home-of-cuda", 1);
  setenv("VIRTUAL_ENV", root.path().c_str(), 1);
  setenv("PYTHONPATH", "/packages", 1);
  const LibraryPlaces places = LibraryPlaces::FromEnvironment();
  for (const char* name : {"HAWSER_CUDA_LIBS", "CUDA_PATH", "CUDA_HOME",
                           "VIRTUAL_ENV", "PYTHONPATH"}) {
    unsetenv(name);
  }
  EXPECT_EQ(places.listed, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(places.toolkits, (std::vector<std::string>{
                                 "/path", "/home-of-cuda", "/usr/local/cuda"}));
  ASSERT_GE(places.python.size(), 2u);
  EXPECT_EQ(places.python[0], "/packages");
  EXPECT_EQ(places.python[1],
            root.path() + "/lib/python3.11/site-packages");
  EXPECT_EQ(LibraryPlaces::FromEnvironment().toolkits,
            std::vector<std::string>{"/usr/local/cuda"});
}

TEST(Library, TheFirstThatLoadsIsTaken) {
  Folder first("first"), second("second"), kit("kit");
  const std::string broken = first.PutText("libhawserfake.so.13");
  const std::string older = second.PutLibrary("libhawserfake.so.12");
  const std::string newest =
      Folder(kit).Sub("lib64").PutLibrary("libhawserfake.so.13");
  const auto listed = Library::Open(
      {.listed = {first.path(), second.path()}, .toolkits = {kit.path()}},
      kSonames);
  ASSERT_EQ(listed.status(), absl::OkStatus());
  EXPECT_EQ(listed->path(), older);
  const auto unlisted = Library::Open({.toolkits = {kit.path()}}, kSonames);
  ASSERT_EQ(unlisted.status(), absl::OkStatus());
  EXPECT_EQ(unlisted->path(), newest);
  EXPECT_GT(unlisted->file_bytes(), 0);
}

TEST(Library, SaysWhatItLookedForWhere) {
  Folder folder("only");
  const std::string broken = folder.PutText("libhawserfake.so.13");
  const absl::Status status =
      Library::Open({.listed = {folder.path()}, .toolkits = {"/kit"}},
                    kSonames)
          .status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  for (const std::string& part :
       {std::string("libhawserfake.so.13 or libhawserfake.so.12"), broken,
        folder.path() + "/libhawserfake.so.12",
        std::string("/kit/lib64/libhawserfake.so.12"),
        std::string("HAWSER_CUDA_LIBS"),
        // The loader's text about the file that exists.
        std::string("file too short")}) {
    EXPECT_TRUE(absl::StrContains(status.message(), part))
        << part << " in " << status;
  }
}

#define FAKE_FUNCTIONS(X) X(hawser_fake_answer)
#define MORE_FUNCTIONS(X) X(hawser_fake_answer) X(hawser_fake_missing)
HAWSER_CUDA_FUNCTION_TABLE(FakeTable, FAKE_FUNCTIONS);
HAWSER_CUDA_FUNCTION_TABLE(MoreTable, MORE_FUNCTIONS);

TEST(Library, TablesAreResolvedWhole) {
  Folder folder("table");
  folder.PutLibrary("libhawserfake.so.13");
  const auto library = Library::Open({.listed = {folder.path()}}, kSonames);
  ASSERT_EQ(library.status(), absl::OkStatus());
  FakeTable table;
  ASSERT_EQ(table.Load(*library), absl::OkStatus());
  EXPECT_EQ(table.hawser_fake_answer(), 42);
  MoreTable more;
  const absl::Status status = more.Load(*library);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(),
            library->path() + " has no function hawser_fake_missing");
}

TEST(Library, ACompanionComesFromTheSameFolder) {
  Folder folder("companion");
  folder.PutLibrary("libhawserfake.so.13");
  folder.PutLibrary("libhawsercompanion.so");
  const auto library = Library::Open({.listed = {folder.path()}}, kSonames);
  ASSERT_EQ(library.status(), absl::OkStatus());
  EXPECT_EQ(library->LoadCompanion("libhawsercompanion.so"),
            absl::OkStatus());
  const absl::Status absent = library->LoadCompanion("libhawserno.so");
  EXPECT_TRUE(absl::IsFailedPrecondition(absent));
  EXPECT_TRUE(absl::StrContains(absent.message(),
                                folder.path() + "/libhawserno.so"))
      << absent;
}

}  // namespace
}  // namespace hawser::cuda
