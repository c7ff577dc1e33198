// CutToAnswer: where an op that moves elements lets a cut of its operands go.
#ifndef HAWSER_CORE_SHARDING_PROBES_AXIS_CUTTER_H_
#define HAWSER_CORE_SHARDING_PROBES_AXIS_CUTTER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/sharding/probes/axis_probe.h"

namespace hawser {

// An axis of an operand of which different parts of a result need different
// parts.
struct AnsweringAxis {
  int operand;
  int axis;
  absl::Span<const int64_t> boundaries;  // at which it is cut, ascending
};

// Returns the indices at which the probed axis is cut so that each part needs
// one part of every answering axis, and no two parts need the same ones;
// nullopt: it cannot be cut so, or not at a reasonable price.
absl::StatusOr<std::optional<std::vector<int64_t>>> CutToAnswer(
    const AxisProbe& probe, absl::Span<const AnsweringAxis> answering);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_PROBES_AXIS_CUTTER_H_
