#include "client/cli/put/file_list.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "core/base/status.h"

namespace hawser::cli {
namespace {

namespace fs = std::filesystem;

using Wanted = absl::FunctionRef<absl::StatusOr<bool>(const std::string& path)>;

bool IsHidden(const fs::path& path) {
  return absl::StartsWith(path.filename().string(), ".");
}

absl::Status FileSystemError(const std::string& path, std::error_code error) {
  return absl::ErrnoToStatus(error.value(), path);
}

absl::StatusOr<std::vector<std::string>> FilesIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator();
       at.increment(error)) {
    if (IsHidden(at->path())) {
      at.disable_recursion_pending();
    } else if (std::error_code gone; at->is_regular_file(gone)) {
      paths.push_back(at->path().string());
    }
  }
  if (error) return FileSystemError(folder, error);
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::Status AddFolder(const std::string& folder, Wanted wanted,
                       FileList* list) {
  HAWSER_ASSIGN_OR_RETURN(const auto paths, FilesIn(folder));
  const size_t before = list->paths.size();
  for (const std::string& path : paths) {
    HAWSER_ASSIGN_OR_RETURN(const bool take, wanted(path));
    (take ? list->paths : list->skipped).push_back(path);
  }
  if (list->paths.size() > before) return absl::OkStatus();
  return NotFound(folder, ": holds no files of arrays");
}

// The paths that match, sorted.
std::vector<std::string> Matches(const std::string& pattern) {
  glob_t found = {};
  auto free = absl::MakeCleanup([&found] { ::globfree(&found); });
  if (::glob(pattern.c_str(), 0, nullptr, &found) != 0) return {};
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

}  // namespace

absl::StatusOr<FileList> ListFiles(absl::Span<const std::string> words,
                                   Wanted wanted) {
  FileList list;
  bool only_files = true;
  const auto add = [&](const std::string& path) {
    std::error_code none;
    if (fs::is_directory(path, none)) {
      only_files = false;
      return AddFolder(path, wanted, &list);
    }
    list.paths.push_back(path);
    return absl::OkStatus();
  };
  for (const std::string& word : words) {
    std::error_code error;
    if (fs::exists(word, error)) {
      HAWSER_RETURN_IF_ERROR(add(word));
      continue;
    }
    if (error) return FileSystemError(word, error);
    const std::vector<std::string> paths = Matches(word);
    if (paths.empty()) return NotFound(word, ": no such file, no file matches");
    only_files = false;
    for (const std::string& path : paths) HAWSER_RETURN_IF_ERROR(add(path));
  }
  list.one_file = only_files && words.size() == 1;
  return list;
}

}  // namespace hawser::cli
