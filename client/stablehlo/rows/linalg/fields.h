// FieldText: an entry of the dictionary that jax.ffi's attributes become.
#ifndef HAWSER_CLIENT_STABLEHLO_ROWS_LINALG_FIELDS_H_
#define HAWSER_CLIENT_STABLEHLO_ROWS_LINALG_FIELDS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"
#include "core/base/status.h"

namespace hawser::stablehlo {

// Its text: "true", "76". Errors: kInvalidArgument, there is none of that name.
inline absl::StatusOr<absl::string_view> FieldText(const Op& op,
                                                   absl::string_view name) {
  const Attribute* config = FindAttribute(op, "mhlo.backend_config");
  if (config == nullptr) config = FindAttribute(op, "backend_config");
  if (config != nullptr) {
    for (const NamedAttribute& field : config->fields) {
      if (field.name == name) return field.value->text;
    }
  }
  return InvalidArgument("has no ", name);
}

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_ROWS_LINALG_FIELDS_H_
