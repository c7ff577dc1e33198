#include "tests/testing/golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace hawser {

void ExpectGolden(const std::string& path, const std::string& got) {
  if (const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY")) {
    std::ofstream(std::string(workspace) + "/" + path) << got;
    return;
  }
  std::ifstream in(path);
  std::stringstream want;
  want << in.rdbuf();
  EXPECT_EQ(want.str(), got) << path;
}

}  // namespace hawser
