// TripCount: how often a loop runs, if its module says so.
#ifndef HAWSER_CORE_OPS_CONTRACTION_TRIP_COUNT_H_
#define HAWSER_CORE_OPS_CONTRACTION_TRIP_COUNT_H_

#include <cstdint>
#include <optional>

#include "core/ir/module.h"

namespace hawser {

// Returns how often the while that is `instruction` of `computation` runs, if
// an integer scalar of its state starts at a constant, goes on by a constant
// and is compared with a constant. nullopt: only a run can say.
std::optional<int64_t> TripCount(const Module& module, int computation,
                                 int instruction);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_CONTRACTION_TRIP_COUNT_H_
