// ExpectGolden: what a test got against a file of the tree.
#ifndef HAWSER_TESTS_TESTING_GOLDEN_H_
#define HAWSER_TESTS_TESTING_GOLDEN_H_

#include <string>

namespace hawser {

// Expects that the file `path` of the workspace holds `got`. `bazel run` of the
// test writes the file instead; the test must name it in `data`.
void ExpectGolden(const std::string& path, const std::string& got);

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_GOLDEN_H_
