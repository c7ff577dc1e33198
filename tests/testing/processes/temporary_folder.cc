#include "tests/testing/processes/temporary_folder.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {
namespace {

namespace fs = std::filesystem;

std::string OwnParent() {
  const char* const folder = getenv("TEST_TMPDIR");
  return folder != nullptr ? folder : "/tmp";
}

}  // namespace

TemporaryFolder::TemporaryFolder() : TemporaryFolder(OwnParent()) {}

TemporaryFolder::TemporaryFolder(const std::string& parent)
    : path_(parent + "/hawser.XXXXXX") {
  HAWSER_CHECK(mkdtemp(path_.data()) != nullptr);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::Path(absl::string_view name) const {
  return absl::StrCat(path_, "/", name);
}

std::string TemporaryFolder::Write(absl::string_view name,
                                   absl::string_view bytes) const {
  const std::string path = Path(name);
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  HAWSER_CHECK(out.good());
  return path;
}

std::vector<std::string> TemporaryFolder::Files() const {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    if (entry.is_directory()) continue;
    files.push_back(fs::relative(entry.path(), path_).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> TemporaryFolder::Find(absl::string_view folder,
                                               absl::string_view part) const {
  std::vector<std::string> found;
  for (const std::string& file : Files()) {
    if (absl::StartsWith(file, absl::StrCat(folder, "/")) &&
        absl::StrContains(file, part)) {
      found.push_back(Path(file));
    }
  }
  return found;
}

}  // namespace hawser
