// Plans of small modules in one line, for tests of what is fused.
#ifndef HAWSER_TESTS_KERNELS_PLAN_FUSION_STEPS_H_
#define HAWSER_TESTS_KERNELS_PLAN_FUSION_STEPS_H_

#include <string>

#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// "loop of 2, row of 3 for 2": kinds of the entry's steps that launch anything,
// how many instructions each stands for, and its results where there are
// several.
std::string Steps(const Module& module, const Target& target);

// A GPU where everything fits, fusing costs nothing and saves much.
Target Free();
// Lanes and bytes take a second each.
Target Counted(double launch_seconds);

}  // namespace hawser::plan
#endif  // HAWSER_TESTS_KERNELS_PLAN_FUSION_STEPS_H_
