#include "client/pjrt/objects/host_value.h"

#include <cstring>

#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

// Copies elements whose axes lie so many bytes apart to where they lie densely.
void CopyStrided(const char* from, const Shape& shape, const int64_t* strides,
                 int axis, char** to) {
  const int64_t width = ByteWidth(shape.dtype());
  if (axis == shape.rank()) {
    std::memcpy(*to, from, static_cast<size_t>(width));
    *to += width;
    return;
  }
  const int64_t size = shape.dim(axis);
  if (axis == shape.rank() - 1 && strides[axis] == width) {
    std::memcpy(*to, from, static_cast<size_t>(size * width));
    *to += size * width;
    return;
  }
  for (int64_t i = 0; i < size; ++i) {
    CopyStrided(from + i * strides[axis], shape, strides, axis + 1, to);
  }
}

}  // namespace

bool IsRowMajor(const MemoryLayout* layout, const Shape& shape) {
  if (layout == nullptr) return true;
  const auto rank = static_cast<size_t>(shape.rank());
  if (layout->type == 1) {
    int64_t stride = ByteWidth(shape.dtype());
    for (size_t i = layout->strides.num_byte_strides; i-- > 0;) {
      if (layout->strides.byte_strides[i] != stride) return false;
      stride *= shape.dim(static_cast<int>(i));
    }
    return layout->strides.num_byte_strides == rank;
  }
  if (layout->tiled.num_tiles != 0) return false;
  for (size_t i = 0; i < layout->tiled.minor_to_major_size; ++i) {
    if (layout->tiled.minor_to_major[i] != static_cast<int64_t>(rank - 1 - i)) {
      return false;
    }
  }
  return layout->tiled.minor_to_major_size == rank;
}

absl::StatusOr<Shape> ShapeIn(int type, const int64_t* dims, size_t num_dims) {
  const DType dtype = DTypeOf(type);
  if (dtype == DType::kInvalid) {
    return Unimplemented("hawser has no elements of PJRT_Buffer_Type ", type);
  }
  if (num_dims != 0) {
    HAWSER_RETURN_IF_ERROR(CheckHandle(dims, "list of sizes"));
  }
  return Shape::Make(dtype, Dims(dims, dims + num_dims));
}

absl::StatusOr<Literal> LiteralOf(const HostValue& value) {
  HAWSER_ASSIGN_OR_RETURN(const Shape shape,
                          ShapeIn(value.type, value.dims, value.num_dims));
  if (value.num_strides != 0) {
    HAWSER_RETURN_IF_ERROR(CheckHandle(value.strides, "list of strides"));
  }
  if (value.num_strides != 0 && value.num_strides != value.num_dims) {
    return InvalidArgument(value.num_strides, " strides for ",
                           shape.ToString());
  }
  HAWSER_ASSIGN_OR_RETURN(Literal literal, Literal::Allocate(shape));
  if (shape.num_elements() == 0) return literal;
  HAWSER_RETURN_IF_ERROR(CheckHandle(value.data, "data"));
  const absl::Span<char> bytes = literal.mutable_bytes();
  if (value.num_strides == 0) {
    std::memcpy(bytes.data(), value.data, bytes.size());
  } else {
    char* to = bytes.data();
    CopyStrided(static_cast<const char*>(value.data), shape, value.strides, 0,
                &to);
  }
  if (shape.dtype() == DType::kBool) {
    for (char& byte : bytes) byte = byte != 0;
  }
  return literal;
}

}  // namespace hawser::pjrt
