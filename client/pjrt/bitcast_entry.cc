// Bitcast: a buffer's bytes as those of another shape, where they are.
#include <cstdint>
#include <memory>
#include <utility>

#include "client/pjrt/entries.h"
#include "client/pjrt/objects/buffer.h"
#include "client/pjrt/objects/host_value.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/movement/shape.h"

namespace hawser::pjrt {
namespace {

// Returns the shape that the caller asks for.
absl::StatusOr<Shape> WantedShape(const Buffer_BitcastArgs& args) {
  HAWSER_ASSIGN_OR_RETURN(const Shape to,
                          ShapeIn(args.type, args.dims, args.num_dims));
  const Shape& from = args.buffer->shape;
  if (to.byte_size() != from.byte_size()) {
    return InvalidArgument(from.ToString(), " has ", from.byte_size(),
                           " bytes, ", to.ToString(), " has ", to.byte_size());
  }
  if (!IsRowMajor(args.layout, to)) {
    return Unimplemented("a layout on the device that is not row-major");
  }
  return to;
}

// A bool is a byte in memory, and a bit to the op.
absl::Status CheckDTypes(DType from, DType to) {
  if (from == to || (from != DType::kBool && to != DType::kBool)) {
    return absl::OkStatus();
  }
  return Unimplemented("the bytes of ", DTypeName(from), " as ", DTypeName(to));
}

// A program that gives the bytes of a value as another shape.
absl::StatusOr<Module> BitcastModule(const Shape& from, const Shape& to) {
  Module module("bitcast");
  ComputationBuilder builder(&module, "main");
  ValueId value = builder.Parameter(from);
  if (from.dtype() != to.dtype()) {
    // Wider elements are made of a last axis, narrower ones become one.
    const int64_t made_of = ByteWidth(to.dtype()) / ByteWidth(from.dtype());
    Dims flat = {made_of > 1 ? to.num_elements() : from.num_elements()};
    if (made_of > 1) flat.push_back(made_of);
    value = builder.Add(kReshape, {value}, {{"dims", flat}});
    value = builder.Add(kBitcastConvert, {value}, {{"dtype", to.dtype()}});
  }
  const Dims dims(to.dims().begin(), to.dims().end());
  value = builder.Add(kReshape, {value}, {{"dims", dims}});
  HAWSER_RETURN_IF_ERROR(builder.Finish({value}).status());
  return module;
}

absl::StatusOr<runtime::BufferPtr> Bitcast(const runtime::BufferPtr& value,
                                           const Shape& to) {
  HAWSER_ASSIGN_OR_RETURN(Module module, BitcastModule(value->shape(), to));
  HAWSER_ASSIGN_OR_RETURN(
      const auto program,
      value->client()->Compile(
          std::make_shared<const Module>(std::move(module)), {}, {}));
  HAWSER_ASSIGN_OR_RETURN(auto results, program->Execute({value}, {}));
  return std::move(results[0]);
}

}  // namespace

// The buffer itself stays as it is, since values do not change.
absl::Status Buffer_Bitcast(Buffer_BitcastArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  Buffer& buffer = *args->buffer;
  HAWSER_ASSIGN_OR_RETURN(const Shape to, WantedShape(*args));
  HAWSER_RETURN_IF_ERROR(CheckDTypes(buffer.shape.dtype(), to.dtype()));
  HAWSER_ASSIGN_OR_RETURN(const runtime::BufferPtr value, buffer.OnDevice());
  HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr result, Bitcast(value, to));
  args->result = new Buffer(buffer.devices, buffer.device, to,
                            {.there = std::move(result)});
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
