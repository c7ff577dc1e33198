// Rewrites the op table of core/ops/README.md in the checkout:
// bazel run //core/ops:op_table
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "core/ops/op_table.h"

int main() {
  const char* root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string path =
      std::string(root == nullptr ? "." : root) + "/core/ops/README.md";
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const auto updated = hawser::WithOpTable(text.str());
  if (!in || !updated.ok()) {
    std::cerr << path << ": " << updated.status() << "\n";
    return 1;
  }
  std::ofstream out(path);
  out << *updated;
  out.close();
  std::cout << (out ? "wrote " : "cannot write ") << path << "\n";
  return out ? 0 : 1;
}
