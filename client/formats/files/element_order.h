// Elements as other writers lay them out: big-endian, column-major.
#ifndef HAWSER_CLIENT_FORMATS_FILES_ELEMENT_ORDER_H_
#define HAWSER_CLIENT_FORMATS_FILES_ELEMENT_ORDER_H_

#include "absl/types/span.h"
#include "core/base/values/shape.h"

namespace hawser {

// Turns big-endian elements into little-endian ones, in place; in a complex
// number each of its two parts.
void SwapElementBytes(DType dtype, absl::Span<char> bytes);

// Copies elements of `shape` from column-major (Fortran) order, in which the
// first axis is dense, to row-major order. Both hold shape.byte_size() bytes.
void FromColumnMajor(const Shape& shape, absl::Span<const char> from,
                     absl::Span<char> to);

}  // namespace hawser
#endif  // HAWSER_CLIENT_FORMATS_FILES_ELEMENT_ORDER_H_
