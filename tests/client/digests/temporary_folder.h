// An empty folder for one test, and files in it that did not change lately.
#ifndef HAWSER_TESTS_CLIENT_DIGESTS_TEMPORARY_FOLDER_H_
#define HAWSER_TESTS_CLIENT_DIGESTS_TEMPORARY_FOLDER_H_

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace hawser {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(::testing::TempDir() + "/digests.XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  size_t Files(const std::string& folder) const {
    size_t count = 0;
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator(Path(folder), none)) {
      count += entry.is_regular_file();
    }
    return count;
  }

 private:
  std::string path_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_DIGESTS_TEMPORARY_FOLDER_H_
