// Files for tests of commands, in the test's own folder.
#ifndef HAWSER_TESTS_CLIENT_CLI_FILES_H_
#define HAWSER_TESTS_CLIENT_CLI_FILES_H_

#include <fstream>
#include <string>

#include "client/formats/numpy/npy.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::cli {

inline std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

inline std::string NpyFile(const std::string& name, const Literal& value) {
  const std::string path = TempPath(name);
  EXPECT_OK(WriteNpy(path, value));
  return path;
}

inline std::string TextFile(const std::string& name, const std::string& text) {
  const std::string path = TempPath(name);
  std::ofstream(path) << text;
  return path;
}

}  // namespace hawser::cli
#endif  // HAWSER_TESTS_CLIENT_CLI_FILES_H_
