// sdy: attributes of Shardy's dialect, which say where parts of values lie.
#ifndef HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_SDY_H_
#define HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_SDY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/bytecode/dialects/cursor.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo::sdy {

// The attribute with a number, decoded.
using AttributeAt = absl::FunctionRef<absl::StatusOr<AttributePtr>(size_t)>;

// The text of an attribute: "#sdy.sharding<@mesh, [{"x"}, {}]>", a mesh, or a
// part of them; "" for any other. Errors: kInvalidArgument with the byte.
absl::StatusOr<std::string> TextOf(
    Cursor cursor, const std::vector<absl::string_view>& strings,
    size_t num_attributes, AttributeAt at);

// The attributes that an op declares, in the order of its properties. Null: it
// is not known.
const std::vector<absl::string_view>* DeclaredAttributes(
    absl::string_view name);

}  // namespace hawser::stablehlo::sdy
#endif  // HAWSER_CLIENT_STABLEHLO_BYTECODE_DIALECTS_SDY_H_
