// Elements and literals as the text form writes them: bit for bit.
#ifndef HAWSER_CORE_IR_ELEMENT_TEXT_H_
#define HAWSER_CORE_IR_ELEMENT_TEXT_H_

#include <cstdint>
#include <string>

#include "core/base/values/literal.h"

namespace hawser {

// Appends ElementToString, except for a NaN that is not the one `nan` stands
// for (positive, quiet, payload 0): it is written with its bits,
// "nan(0xffc00000)". Arithmetic on x86 makes the negative one.
void AppendElement(const Literal& literal, int64_t index, std::string* out);

// "f32[2] {1, -0}", all elements.
void AppendLiteral(const Literal& literal, std::string* out);

}  // namespace hawser
#endif  // HAWSER_CORE_IR_ELEMENT_TEXT_H_
