// Modules written by hand that together use every form the IR has.
#ifndef HAWSER_TESTS_TESTING_SAMPLE_MODULES_H_
#define HAWSER_TESTS_TESTING_SAMPLE_MODULES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/ir/module.h"

namespace hawser {

// (x: f32[2,3]) -> x + x, and the sum of x's columns: two computations, a
// constant, a region, several results. The one that tests damage.
Module SmallModule();

// Constants of every dtype: scalar, three elements, none, and for floats the
// values that are easily lost (NaN's payload, -0, infinities, subnormals).
Module ConstantsModule();
// Attributes of every kind an op has: ints, int, string, dtype, literal; also
// left out and empty.
Module AttributesModule();
// reduce of two inputs, while with invariants, case, a while inside a while.
Module RegionsModule();
// Names that need escaping or are empty; no result, one result twice.
Module NamesModule();
// `length` adds, each of the one before with itself.
Module ChainModule(int length);

struct NamedModule {
  std::string name;
  Module module;
};
// All of the above.
std::vector<NamedModule> SampleModules();

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_SAMPLE_MODULES_H_
