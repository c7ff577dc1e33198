// Pretty forms that have a grammar of their own.
#ifndef HAWSER_CLIENT_STABLEHLO_TEXT_STRUCTURED_FORM_H_
#define HAWSER_CLIENT_STABLEHLO_TEXT_STRUCTURED_FORM_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

class OpReader;
using StructuredForm = absl::Status (*)(OpReader& reader, Op* op);

// Returns the reader of the rest of an op of that name, or nullptr.
StructuredForm FindStructuredForm(absl::string_view name);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TEXT_STRUCTURED_FORM_H_
