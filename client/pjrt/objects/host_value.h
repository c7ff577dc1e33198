// HostValue: an array in the memory of the caller, as the C ABI describes it.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_HOST_VALUE_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_HOST_VALUE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "client/pjrt/abi/abi.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"

namespace hawser::pjrt {

// `strides` are bytes from one element to the next on each axis; none: the
// elements lie densely, the last axis the densest.
struct HostValue {
  int type = 0;  // PJRT_Buffer_Type
  const int64_t* dims = nullptr;
  size_t num_dims = 0;
  const void* data = nullptr;
  const int64_t* strides = nullptr;
  size_t num_strides = 0;
};

// Returns a copy. Errors: kUnimplemented for elements that hawser lacks;
// kInvalidArgument for sizes that no shape has, another number of strides, no
// data; kResourceExhausted.
absl::StatusOr<Literal> LiteralOf(const HostValue& value);

// Returns the shape of PJRT_Buffer_Type `type` and these sizes. Errors:
// kUnimplemented for elements that hawser lacks; kInvalidArgument for null and
// for what no shape is.
absl::StatusOr<Shape> ShapeIn(int type, const int64_t* dims, size_t num_dims);

// True if the layout is that of dense elements, the last axis the densest; null
// is. What it says of its own size is not looked at: jaxlib leaves that
// uninitialized.
bool IsRowMajor(const MemoryLayout* layout, const Shape& shape);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_HOST_VALUE_H_
