// A path under the test's own folder, and a file's bytes.
#ifndef HAWSER_TESTS_CLIENT_FORMATS_TEMPORARY_FILE_H_
#define HAWSER_TESTS_CLIENT_FORMATS_TEMPORARY_FILE_H_

#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

namespace hawser {

inline std::string TemporaryPath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

inline std::string WriteBytes(const std::string& name,
                              const std::string& bytes) {
  const std::string path = TemporaryPath(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_FORMATS_TEMPORARY_FILE_H_
