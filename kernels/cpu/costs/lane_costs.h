// LaneSteps: how long an element of an op takes where lanes compute it; the
// planner, the parts of loops and queues for this device go by it.
#ifndef HAWSER_KERNELS_CPU_COSTS_LANE_COSTS_H_
#define HAWSER_KERNELS_CPU_COSTS_LANE_COSTS_H_

#include "core/base/values/dtype.h"
#include "core/ir/op_def.h"
#include "kernels/cpu/lanes/lanes.h"
#include "kernels/plan/target/target.h"

namespace hawser::cpu {

// Steps, of a nanosecond, of one element on one thread, whose operands are in
// the nearest cache; of a reduction, of one that is folded. `dtype`: the widest
// of operands and results. An op without lanes costs as much as its row.
double LaneSteps(const OpDef& op, DType dtype, Isa isa = ProcessIsa());
// plan::CpuTarget with these costs.
plan::Target MeasuredTarget();

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_COSTS_LANE_COSTS_H_
