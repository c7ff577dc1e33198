// AxisProbe: asks the part rule of one instruction what parts of a result need.
#ifndef HAWSER_CORE_SHARDING_PROBES_AXIS_PROBE_H_
#define HAWSER_CORE_SHARDING_PROBES_AXIS_PROBE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/status.h"
#include "core/ir/module.h"
#include "core/ops/part/box.h"
#include "core/sharding/part/part_plan.h"

namespace hawser {

// Asks for intervals of one axis of one result, of which all else is whole. The
// module outlives it.
class AxisProbe {
 public:
  AxisProbe(const Module& module, const Instruction& instruction, int result,
            int axis)
      : module_(module),
        instruction_(instruction),
        result_(result),
        axis_(axis) {}

  const Shape& shape() const {
    return module_.entry().shape(instruction_.first_result + result_);
  }
  int64_t size() const { return shape().dim(axis_); }
  // Returns the box that is needed of each operand.
  absl::StatusOr<std::vector<MaybeBox>> Ask(Interval interval) const {
    std::vector<MaybeBox> wanted(instruction_.num_results);
    wanted[result_] = WholeBox(shape());
    (*wanted[result_])[axis_] = interval;
    HAWSER_ASSIGN_OR_RETURN(PartAnswer answer, AskPart(module_, module_.entry(),
                                                       instruction_, wanted));
    return std::move(answer.asks);
  }

 private:
  const Module& module_;
  const Instruction& instruction_;
  const int result_;
  const int axis_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_PROBES_AXIS_PROBE_H_
