// Buffers: values on devices.
#include <cstring>
#include <memory>
#include <utility>

#include "client/pjrt/entries.h"
#include "client/pjrt/objects/brief_wait.h"
#include "client/pjrt/objects/buffer.h"
#include "client/pjrt/objects/host_value.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

// Copies some of its bytes to `to` when they are there.
absl::StatusOr<Event*> CopyOut(Buffer* buffer, size_t offset, size_t size,
                               void* to) {
  HAWSER_ASSIGN_OR_RETURN(const auto fetched, buffer->Fetch());
  BriefWait::OfProcess().For(fetched);
  auto copied = std::make_shared<Promise<bool>>();
  auto event = std::make_unique<Event>(copied->future());
  fetched.OnReady(
      [copied, offset, size, to](const absl::StatusOr<Literal>& literal) {
        if (!literal.ok()) {
          copied->Set(literal.status());
          return;
        }
        if (size != 0) {
          std::memcpy(to, literal->bytes().data() + offset, size);
        }
        copied->Set(true);
      });
  return event.release();
}

absl::StatusOr<Buffer*> CopyTo(Buffer* buffer, Device* device) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(device, "device"));
  HAWSER_RETURN_IF_ERROR(CheckHandle(buffer, "buffer"));
  HAWSER_ASSIGN_OR_RETURN(Held held, buffer->Get());
  if (device != buffer->device && !held.here.valid()) {
    HAWSER_ASSIGN_OR_RETURN(const auto fetched, buffer->Fetch());
    HAWSER_ASSIGN_OR_RETURN(Literal literal, fetched.Await());
    held = {.here = std::move(literal)};
  }
  return new Buffer(buffer->devices, device, buffer->shape, std::move(held));
}

}  // namespace

absl::Status Buffer_Destroy(Buffer_DestroyArgs* args) {
  delete args->buffer;
  return absl::OkStatus();
}

absl::Status Buffer_ElementType(Buffer_ElementTypeArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  args->type = TypeOf(args->buffer->shape.dtype());
  return absl::OkStatus();
}

absl::Status Buffer_Dimensions(Buffer_DimensionsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  args->dims = args->buffer->dims.data();
  args->num_dims = args->buffer->dims.size();
  return absl::OkStatus();
}

absl::Status Buffer_UnpaddedDimensions(Buffer_UnpaddedDimensionsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  args->unpadded_dims = args->buffer->dims.data();
  args->num_dims = args->buffer->dims.size();
  return absl::OkStatus();
}

absl::Status Buffer_DynamicDimensionIndices(
    Buffer_DynamicDimensionIndicesArgs* args) {
  args->dynamic_dim_indices = nullptr;
  args->num_dynamic_dims = 0;
  return absl::OkStatus();
}

absl::Status Buffer_OnDeviceSizeInBytes(Buffer_OnDeviceSizeInBytesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  args->on_device_size_in_bytes =
      static_cast<size_t>(args->buffer->shape.byte_size());
  return absl::OkStatus();
}

absl::Status Buffer_Device(Buffer_DeviceArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  args->device = args->buffer->device;
  return absl::OkStatus();
}

absl::Status Buffer_Memory(Buffer_MemoryArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  args->memory = &args->buffer->device->memory;
  return absl::OkStatus();
}

absl::Status Buffer_Delete(Buffer_DeleteArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  args->buffer->Drop();
  return absl::OkStatus();
}

absl::Status Buffer_IsDeleted(Buffer_IsDeletedArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  args->is_deleted = !args->buffer->Usable().ok();
  return absl::OkStatus();
}

absl::Status Buffer_CopyToDevice(Buffer_CopyToDeviceArgs* args) {
  HAWSER_ASSIGN_OR_RETURN(args->dst_buffer,
                          CopyTo(args->buffer, args->dst_device));
  return absl::OkStatus();
}

absl::Status Buffer_CopyToMemory(Buffer_CopyToMemoryArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->dst_memory, "memory"));
  HAWSER_ASSIGN_OR_RETURN(args->dst_buffer,
                          CopyTo(args->buffer, args->dst_memory->device));
  return absl::OkStatus();
}

absl::Status Buffer_ToHostBuffer(Buffer_ToHostBufferArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->src, "buffer"));
  HAWSER_RETURN_IF_ERROR(args->src->Usable());
  const Shape& shape = args->src->shape;
  const auto size = static_cast<size_t>(shape.byte_size());
  if (args->dst == nullptr) {
    args->dst_size = size;
    return absl::OkStatus();
  }
  if (args->dst_size < size) {
    return InvalidArgument(shape.ToString(), " does not fit ", args->dst_size,
                           " bytes");
  }
  if (!IsRowMajor(args->host_layout, shape)) {
    return Unimplemented("a host layout that is not row-major");
  }
  HAWSER_ASSIGN_OR_RETURN(args->event, CopyOut(args->src, 0, size, args->dst));
  return absl::OkStatus();
}

absl::Status Buffer_CopyRawToHost(Buffer_CopyRawToHostArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  HAWSER_RETURN_IF_ERROR(args->buffer->Usable());
  const int64_t size = args->buffer->shape.byte_size();
  if (args->offset < 0 || args->offset > size || args->transfer_size < 0 ||
      args->transfer_size > size - args->offset) {
    return InvalidArgument(args->transfer_size, " bytes from ", args->offset,
                           " on, of ", size);
  }
  if (args->transfer_size != 0) {
    HAWSER_RETURN_IF_ERROR(CheckHandle(args->dst, "destination"));
  }
  HAWSER_ASSIGN_OR_RETURN(
      args->event,
      CopyOut(args->buffer, static_cast<size_t>(args->offset),
              static_cast<size_t>(args->transfer_size), args->dst));
  return absl::OkStatus();
}

absl::Status Buffer_GetMemoryLayout(Buffer_GetMemoryLayoutArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  const std::vector<int64_t>& axes = args->buffer->minor_to_major;
  args->layout.type = 0;
  args->layout.tiled = {.header = {sizeof(args->layout.tiled), nullptr},
                        .minor_to_major = axes.data(),
                        .minor_to_major_size = axes.size(),
                        .tile_dims = nullptr,
                        .tile_dim_sizes = nullptr,
                        .num_tiles = 0};
  return absl::OkStatus();
}

absl::Status Buffer_IsOnCpu(Buffer_IsOnCpuArgs* args) {
  args->is_on_cpu = false;
  return absl::OkStatus();
}

// No address of memory, which lies elsewhere: the handle itself, by which the
// extension knows the buffer.
absl::Status Buffer_UnsafePointer(Buffer_UnsafePointerArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  HAWSER_RETURN_IF_ERROR(args->buffer->Usable());
  args->buffer_pointer = reinterpret_cast<uintptr_t>(args->buffer);
  return absl::OkStatus();
}

absl::Status Buffer_ReadyEvent(Buffer_ReadyEventArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->buffer, "buffer"));
  HAWSER_ASSIGN_OR_RETURN(auto ready, args->buffer->Ready());
  BriefWait::OfProcess().For(ready);
  args->event = new Event(std::move(ready));
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
