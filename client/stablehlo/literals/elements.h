// Reads the elements of dense<...> into a Literal.
#ifndef HAWSER_CLIENT_STABLEHLO_LITERALS_ELEMENTS_H_
#define HAWSER_CLIENT_STABLEHLO_LITERALS_ELEMENTS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/source.h"
#include "client/stablehlo/tree/tree.h"

namespace hawser::stablehlo {

// Reads `body`, what stands between the angle brackets, which is of `source`:
// nothing, one element (a splat), lists of lists of elements, or raw bytes as a
// string of hexadecimal digits. Elements are written where they stay; nothing
// is taken for more of them than the text can hold. A type that hawser has no
// dtype or no sizes for is not read, and stays not valid.
// Errors (kInvalidArgument, with line and column): what is no element of the
// type, lists of other sizes, another number of bytes.
absl::Status ReadElements(const Source& source, absl::string_view body,
                          Elements* elements);

// Does what ReadElements does with a string: `digits` are the bytes of the
// elements.
absl::Status ReadRawElements(const Source& source, absl::string_view digits,
                             Elements* elements);

// Likewise, of the bytes themselves.
absl::Status ReadRawBytes(const Source& source, absl::string_view bytes,
                          Elements* elements);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_LITERALS_ELEMENTS_H_
