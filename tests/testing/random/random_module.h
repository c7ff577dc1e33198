// Seeded random graphs over the registry, for property and differential tests.
#ifndef HAWSER_TESTS_TESTING_RANDOM_RANDOM_MODULE_H_
#define HAWSER_TESTS_TESTING_RANDOM_RANDOM_MODULE_H_

#include <cstdint>
#include <vector>

#include "core/base/values/dtype.h"
#include "core/ir/module.h"

namespace hawser {

struct RandomModuleOptions {
  int parameters = 3;
  int instructions = 24;  // of the entry, beside parameters and constants
  int max_rank = 4;
  int64_t max_elements = 256;     // of any one value
  DTypeSet dtypes = kAnyDType;    // of parameters and constants
  bool regions = true;            // while, case, reduce
  // One axis in so many of parameters and constants has no entries.
  int empty_axes = 24;
  std::vector<const OpDef*> ops;  // to draw from; empty: the whole registry
};

// Every op of the registry is drawn equally often. How its operands and
// attributes are proposed is a row in random_proposals.cc, or the elementwise
// default; what InferShapes refuses is proposed anew. Operands are drawn from
// all values, so nodes are shared; what is not used becomes a result. Loops
// end after at most three turns. Reductions fold with neutral initial values.
Module RandomModule(uint64_t seed, const RandomModuleOptions& options = {});

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_RANDOM_RANDOM_MODULE_H_
