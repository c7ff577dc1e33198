#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/registry.h"
#include "core/wire/codec.h"
#include "core/wire/wire_dtype.h"

namespace hawser {

absl::StatusOr<DType> DTypeFromWire(uint64_t number) {
  if (number == 0) return InvalidArgument("the dtype is missing");
  if (number >= kNumDTypes) {
    return Unimplemented("dtype number ", number, " is not in opset ", kOpset,
                         " of this end");
  }
  const DType dtype = static_cast<DType>(number);
  if (!IsSupported(dtype)) {
    return Unimplemented("dtype ", DTypeName(dtype), " is not in opset ",
                         kOpset, " of this end");
  }
  return dtype;
}

void ToProto(const Shape& shape, v1::ShapeProto* proto) {
  proto->set_dtype(static_cast<uint32_t>(shape.dtype()));
  proto->mutable_dims()->Assign(shape.dims().begin(), shape.dims().end());
}

v1::ShapeProto ToProto(const Shape& shape) {
  v1::ShapeProto proto;
  ToProto(shape, &proto);
  return proto;
}

absl::StatusOr<Shape> FromProto(const v1::ShapeProto& proto) {
  HAWSER_ASSIGN_OR_RETURN(const DType dtype, DTypeFromWire(proto.dtype()));
  return Shape::Make(
      dtype, absl::MakeConstSpan(proto.dims().data(), proto.dims_size()));
}

void ToProto(const Literal& literal, v1::LiteralProto* proto) {
  ToProto(literal.shape(), proto->mutable_shape());
  proto->set_data(literal.bytes().data(), literal.bytes().size());
}

absl::StatusOr<Literal> FromProto(const v1::LiteralProto& proto) {
  HAWSER_ASSIGN_OR_RETURN(const Shape shape, FromProto(proto.shape()));
  return Literal::FromBytes(shape, proto.data());
}

absl::StatusOr<Literal> FromProto(v1::LiteralProto&& proto) {
  HAWSER_ASSIGN_OR_RETURN(const Shape shape, FromProto(proto.shape()));
  HAWSER_RETURN_IF_ERROR(CheckBytes(shape, proto.data()));
  const auto owner =
      std::make_shared<std::string>(std::move(*proto.mutable_data()));
  return Literal::Adopt(shape,
                        std::shared_ptr<const char>(owner, owner->data()));
}

}  // namespace hawser
