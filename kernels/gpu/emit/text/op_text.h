// OpText: the table of ops of one element as expressions of the dialect.
#ifndef HAWSER_KERNELS_GPU_EMIT_TEXT_OP_TEXT_H_
#define HAWSER_KERNELS_GPU_EMIT_TEXT_OP_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "kernels/gpu/emit/text/text_writer.h"
#include "kernels/gpu/emit/text/value_text.h"

namespace hawser::gpu {

// True if the table has a row for it.
bool HasOpText(const OpDef& op);
// Result `0` of `instruction`, of dtype `result`, for these operands. If
// `strict`, a half is rounded. Errors: kUnimplemented where the table has no
// row, or none for the dtype.
absl::StatusOr<ValueText> OpText(const Instruction& instruction, DType result,
                                 absl::Span<const ValueText> operands,
                                 bool strict);

// Returns the values of a computation of scalars (a reduction's, a scatter's)
// for these arguments; intermediate values are written to `writer`, in
// variables whose names begin with `prefix`. Errors: as OpText.
absl::StatusOr<std::vector<ValueText>> ScalarValuesText(
    const Computation& computation, absl::Span<const ValueId> wanted,
    absl::Span<const ValueText> arguments, bool strict,
    absl::string_view prefix, TextWriter* writer);
// The same of its results.
absl::StatusOr<std::vector<ValueText>> ScalarComputationText(
    const Computation& computation, absl::Span<const ValueText> arguments,
    bool strict, absl::string_view prefix, TextWriter* writer);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_TEXT_OP_TEXT_H_
