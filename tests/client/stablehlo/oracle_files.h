// StableHLO's own files, which lie outside the tree.
#ifndef HAWSER_TESTS_CLIENT_STABLEHLO_ORACLE_FILES_H_
#define HAWSER_TESTS_CLIENT_STABLEHLO_ORACLE_FILES_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hawser::stablehlo {

// Which files pass; a test that looks for them names it in `data`.
inline constexpr char kOracleList[] = "tests/client/stablehlo/oracle.txt";

// The folder of what lies outside the tree: the one that HAWSER_ORACLE names, or
// ../shared/oracle beside the checkout, of which `file` names one in the test's
// `data`. It need not exist.
inline std::filesystem::path OracleRoot(const std::filesystem::path& file) {
  const char* named = std::getenv("HAWSER_ORACLE");
  if (named != nullptr) return named;
  // A test's data are links to the checkout's files.
  std::error_code error;
  std::filesystem::path checkout = std::filesystem::canonical(file, error);
  for (const auto& part : file) {
    if (!part.empty()) checkout = checkout.parent_path();
  }
  return checkout.parent_path() / "shared" / "oracle";
}

// A folder of StableHLO's files, "testdata" or "artifacts".
inline std::filesystem::path OracleFolder(absl::string_view name) {
  return OracleRoot(kOracleList) / "stablehlo" / std::string(name);
}

// Its programs, sorted; none where there is no folder.
inline std::vector<std::filesystem::path> OraclePrograms(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".mlir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string ContentsOf(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace hawser::stablehlo
#endif  // HAWSER_TESTS_CLIENT_STABLEHLO_ORACLE_FILES_H_
