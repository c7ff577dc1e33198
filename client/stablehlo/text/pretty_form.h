// Pretty forms: what stands after the name of an op that is not in quotes.
#ifndef HAWSER_CLIENT_STABLEHLO_TEXT_PRETTY_FORM_H_
#define HAWSER_CLIENT_STABLEHLO_TEXT_PRETTY_FORM_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

class OpReader;

// Reads the rest of `op`, whose results and name are read, and gives its
// attributes the names they have in the generic form. One loose form takes all
// ops, those too that are not known here: values, words, `key = value`, lists,
// a dict of attributes, in any order, then types. A row of a table says how an
// op's words and keys are called in the generic form; the few ops with a
// grammar of their own have a function (structured_form.h).
absl::Status ReadPretty(OpReader& reader, Op* op);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TEXT_PRETTY_FORM_H_
