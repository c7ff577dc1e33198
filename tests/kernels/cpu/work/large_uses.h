// One or more ways to apply every op to very many elements, for tests of what
// a run takes and how it ends.
#ifndef HAWSER_TESTS_KERNELS_CPU_WORK_LARGE_USES_H_
#define HAWSER_TESTS_KERNELS_CPU_WORK_LARGE_USES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/values/literal.h"
#include "core/ir/module.h"

namespace hawser::cpu {

struct LargeUse {
  std::string what;
  Module module;
  std::vector<Shape> arguments;
};

// Of about n elements, of n steps where an op takes many. Empty: the op's row
// is missing here.
std::vector<LargeUse> LargeUsesOf(const OpDef& op, int64_t n);
// Whether the op only passes bytes on or stands for others: it takes no work
// of its own.
bool TakesNoWork(const OpDef& op);

// Zeros, in memory that is cheap to make.
std::vector<Literal> ZerosFor(const LargeUse& use);

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_WORK_LARGE_USES_H_
