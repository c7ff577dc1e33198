// An empty folder for one test, which goes with all that is in it.
#ifndef HAWSER_TESTS_TESTING_PROCESSES_TEMPORARY_FOLDER_H_
#define HAWSER_TESTS_TESTING_PROCESSES_TEMPORARY_FOLDER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hawser {

class TemporaryFolder {
 public:
  // Where a test's files belong: TEST_TMPDIR, else /tmp.
  TemporaryFolder();
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // Of what is, or is to be, in it.
  std::string Path(absl::string_view name) const;
  // Writes a file, makes the folders on its way, and returns its path.
  std::string Write(absl::string_view name, absl::string_view bytes) const;
  // Files below it, relative, sorted.
  std::vector<std::string> Files() const;
  // Paths of those below its folder `folder` whose relative name holds `part`.
  std::vector<std::string> Find(absl::string_view folder,
                                absl::string_view part = "") const;

 private:
  std::string path_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_PROCESSES_TEMPORARY_FOLDER_H_
