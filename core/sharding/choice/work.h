// Work: the amount of work in a module, as far as its ops' axes tell.
#ifndef HAWSER_CORE_SHARDING_CHOICE_WORK_H_
#define HAWSER_CORE_SHARDING_CHOICE_WORK_H_

#include <cstdint>

#include "core/ir/module.h"

namespace hawser {

struct Work {
  double steps = 0;  // multiplications and the like
  double bytes = 0;  // read and written
};

// Returns the work of the entry, with what it calls once. An op that contracts
// axes does a step for each index of all of its axes, any other one for each
// element.
Work WorkOf(const Module& module);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_CHOICE_WORK_H_
