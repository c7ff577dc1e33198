// The rows of this room share these functions.
#ifndef HAWSER_CLIENT_STABLEHLO_ROWS_CONTRACTION_SHARED_H_
#define HAWSER_CLIENT_STABLEHLO_ROWS_CONTRACTION_SHARED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/tree/tree.h"
#include "core/base/values/dtype.h"
#include "core/base/values/shape.h"
#include "core/ops/expression.h"

namespace hawser::stablehlo {

// Returns the dtype that sums of products are made in: the result's, or the
// operands' where they are wider, and the result is rounded once; kInvalid
// where none holds all values.
DType SumDType(DType lhs, DType rhs, DType result);
// The missing() of a row of two operands whose products have no such dtype.
std::string MissingProduct(const Op& op);
// Converts both operands to `dtype`.
void ConvertOperands(OpContext& context, DType dtype);
// True for HIGH and HIGHEST, "[DEFAULT, #stablehlo<precision HIGHEST>]".
bool WantsAllBits(const Op& op);

// An attribute's `count` numbers, of any sizes: a list, an array, or a tensor
// of s64; `fallback` for each where there is no such attribute. Returns nullopt
// if it holds something else, or another number of them.
std::optional<Dims> NumbersOf(const Op& op, absl::string_view name,
                              size_t count, int64_t fallback);

// These make expressions of values, and values of expressions.
std::vector<Expression> ExpressionsOf(ExpressionScope* scope,
                                      absl::Span<const ValueId> values);
Values ValuesOf(const std::vector<Expression>& expressions);

// Such windows hold all elements of an axis up to a place; reverse: from there
// on.
struct Prefix {
  int64_t axis = 0;
  bool reverse = false;
};
// Returns nullopt if a reduce_window has other windows.
std::optional<Prefix> PrefixOf(const Op& op);
// Lowers a reduce_window of such windows to scans.
absl::StatusOr<Values> LowerPrefix(OpContext& context, const Prefix& prefix,
                                   int called);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_ROWS_CONTRACTION_SHARED_H_
