// Values in a kernel's text: their types, constants, and the two forms that a
// half has.
#ifndef HAWSER_KERNELS_GPU_EMIT_TEXT_VALUE_TEXT_H_
#define HAWSER_KERNELS_GPU_EMIT_TEXT_VALUE_TEXT_H_

#include <cstdint>
#include <string>

#include "core/base/values/dtype.h"
#include "core/base/values/literal.h"

namespace hawser::gpu {

// Returns the type that memory holds: "bf16", "float", "s32", "c64".
std::string TypeName(DType dtype);
// Returns the type that is computed in: "float" for halves.
std::string ComputeTypeName(DType dtype);

// An expression of one element. `stored`: it has the type of memory, else the
// one it is computed in; they differ for halves alone. Moved halves stay
// stored, so that a copy keeps every bit.
struct ValueText {
  std::string text;
  DType dtype = DType::kInvalid;
  bool stored = true;

  std::string Computed() const;
  std::string Stored() const;
  std::string type() const {
    return stored ? TypeName(dtype) : ComputeTypeName(dtype);
  }
};

// `expression` of type ComputeTypeName(from) as `to`, rounded to what memory
// holds.
ValueText ConvertedText(const std::string& expression, DType from, DType to);

// The bits of element 0, as an expression that needs no variable.
ValueText ConstantText(const Literal& value);
// The 0 of a stored value.
std::string ZeroText(DType dtype);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_TEXT_VALUE_TEXT_H_
