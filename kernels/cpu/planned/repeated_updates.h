// FindRepeatedUpdates: updates of scatters that are one number, repeated.
#ifndef HAWSER_KERNELS_CPU_PLANNED_REPEATED_UPDATES_H_
#define HAWSER_KERNELS_CPU_PLANNED_REPEATED_UPDATES_H_

#include <vector>

#include "core/ir/module.h"

namespace hawser::cpu {

// For each instruction of the computation: true if its only result repeats one
// number and only scatters read it, as updates of windows of one element. There
// is a first element, which is then enough for them (ValueUse::one_update).
// Empty where nothing is scattered.
std::vector<bool> FindRepeatedUpdates(const Module& module,
                                      const Computation& computation);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PLANNED_REPEATED_UPDATES_H_
