// Every public function says what it does in the house's fixed order: what,
// arguments, result, then Errors:, Grad:, Source:.
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

struct Declared {
  std::string name;
  std::string comment;  // the lines above it, joined
};

// The name a line of a header declares as a function that gives tensors.
std::string NameIn(absl::string_view line) {
  for (absl::string_view result :
       {"Tensor ", "auto ", "std::pair<Tensor, Tensor> ",
        "sdk::Traced_t<State> ", "WithCut<T> "}) {
    if (!absl::ConsumePrefix(&line, result)) continue;
    const size_t end = line.find('(');
    if (end == absl::string_view::npos) return "";
    const absl::string_view name = line.substr(0, end);
    return absl::StrContains(name, " ") ? "" : std::string(name);
  }
  return "";
}

std::vector<Declared> FunctionsIn(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<Declared> found;
  std::string comment;
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, "//")) {
      absl::StrAppend(&comment, line.substr(std::min<size_t>(line.size(), 2)));
    } else if (absl::StartsWith(line, "template <") ||
               absl::StartsWith(line, "  requires ")) {
      continue;
    } else {
      const std::string name = NameIn(line);
      const bool overload =
          comment.empty() && !found.empty() && found.back().name == name;
      if (!name.empty() && !overload) found.push_back({name, comment});
      comment.clear();
    }
  }
  return found;
}

TEST(Docstrings, ComeInTheFixedOrder) {
  size_t functions = 0;
  for (const char* header :
       {"ops/create",
        "ops/indexing/diagonal",
        "ops/dot",
        "ops/elementwise/compare",
        "ops/elementwise/elementwise",
        "ops/elementwise/logic",
        "ops/elementwise/math",
        "ops/elementwise/special",
        "ops/indexing/edge",
        "ops/indexing/index",
        "ops/linalg/decompositions",
        "ops/linalg/norms",
        "ops/linalg/solve",
        "ops/reduce",
        "ops/shape",
        "ops/statistics",
        "ops/windows/window",
        "ops/windows/conv",
        "functions/control_flow",
        "functions/grad",
        "functions/batch/jacobian",
        "functions/shard",
        "functions/batch/vmap",
        "marks",
        "probes/print",
        "ops/linalg/attention",
        "ops/linalg/einsum",
        "ops/linalg/fft"}) {
    for (const Declared& f :
         FunctionsIn(absl::StrCat("client/sdk/", header, ".h"))) {
      ++functions;
      size_t at = 0;
      for (const char* part : {"Result:", "Errors:", "Grad:", "Source:"}) {
        const size_t next = f.comment.find(part, at);
        EXPECT_NE(next, std::string::npos)
            << header << ".h: " << f.name << " has no " << part
            << " in its place in: " << f.comment;
        if (next != std::string::npos) at = next;
      }
    }
  }
  EXPECT_GT(functions, 130u);
}

}  // namespace
}  // namespace hawser
