// Parts and tasks run on the CPU, and compared with the whole.
#ifndef HAWSER_TESTS_CORE_SHARDING_RUN_PARTS_H_
#define HAWSER_TESTS_CORE_SHARDING_RUN_PARTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/values/compare.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/ops/part/part.h"
#include "core/sharding/shard.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {

absl::StatusOr<std::vector<Literal>> RunModule(
    const Module& module, absl::Span<const Literal> arguments);

// The elements in `box`, one by one, so that it shares nothing with what it
// checks.
Literal CutOf(const Literal& whole, const Box& box);

// The arguments of a part: its pieces, then its offsets.
std::vector<Literal> ArgumentsOf(absl::Span<const Piece> takes,
                                 absl::Span<const int64_t> offsets,
                                 absl::Span<const Literal> arguments);

// Whether a part may add floats up in another order than the whole.
bool SumsFloats(const Module& module);
// As much as that may matter; else nothing but -0 and NaN.
Tolerance ToleranceOf(const Module& module);

// Runs every task in their order and puts their results together. Errors:
// theirs; kInternal for an element of a result that is given twice or never,
// and for a value between tasks that is not covered by whole pieces given
// before it is taken, or of which a piece is not taken at all.
// The values between tasks go to `between`.
absl::StatusOr<std::vector<Literal>> RunTasks(
    const Sharding& sharding, absl::Span<const Literal> arguments,
    std::vector<Literal>* between = nullptr);

// Cuts of some axes of the parameters: uneven, empty ones, every index, split.
ShardSpec RandomSpec(const Signature& signature, Random& random);

// Draws arguments and expects the tasks to give what the module gives, within
// ToleranceOf or `tolerance`.
void ExpectWhole(const Module& module, const Sharding& sharding, uint64_t seed);
void ExpectWhole(const Module& module, const Sharding& sharding, uint64_t seed,
                 const Tolerance& tolerance);

// The example that sharding began with: l f32[2,2,3] and r s32[1,1,3,2,2], of
// which the product is [[319, 340], [823, 880]].
Module SeedModule();
std::vector<Literal> SeedArguments();

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_SHARDING_RUN_PARTS_H_
