// For every op with a gradient rule, small computations around it at places
// where it is smooth.
#ifndef HAWSER_TESTS_CORE_AUTODIFF_OP_CASES_H_
#define HAWSER_TESTS_CORE_AUTODIFF_OP_CASES_H_

#include <string>
#include <vector>

#include "core/ir/module.h"
#include "tests/core/autodiff/differentiate.h"

namespace hawser {

struct OpCase {
  std::string name;
  Arguments arguments;
  std::vector<int> by;  // the parameters to differentiate by
  Module module;        // gives the op's results
};

// The cases of `op` with floating or complex numbers of `dtype`; none when the
// op has none for it. An op without a row: EXPECT fails, naming the file.
std::vector<OpCase> CasesOf(const OpDef& op, DType dtype);

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_AUTODIFF_OP_CASES_H_
