// AddSavingLoop: a loop with a known number of iterations that keeps what each
// begins with.
#ifndef HAWSER_CORE_AUTODIFF_SAVING_LOOP_H_
#define HAWSER_CORE_AUTODIFF_SAVING_LOOP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"
#include "core/ops/gradient/gradient.h"

namespace hawser::autodiff {

struct SavingLoop {
  ValueId first_result = kNoValue;  // of the states, as of the loop itself
  // For each state, its values before each iteration, along a new axis 0, and
  // in the end; kNoValue if the pull-back does not look at it.
  std::vector<ValueId> stacks;
};

// Adds a while like `loop` with these operands, which has `turns` iterations
// and keeps the states that the record's pull-back needs. Errors:
// kUnimplemented for more than can be kept.
absl::StatusOr<SavingLoop> AddSavingLoop(const Instruction& loop, int64_t turns,
                                         absl::Span<const ValueId> operands,
                                         const LoopRecord& record,
                                         ComputationBuilder* builder);

}  // namespace hawser::autodiff
#endif  // HAWSER_CORE_AUTODIFF_SAVING_LOOP_H_
