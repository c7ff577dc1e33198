// The arguments of entries about buffers, by the entries' names.
#ifndef HAWSER_CLIENT_PJRT_ABI_BUFFER_ARGS_H_
#define HAWSER_CLIENT_PJRT_ABI_BUFFER_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "client/pjrt/abi/abi.h"

namespace hawser::pjrt {

struct Buffer_DestroyArgs {
  Header header;
  Buffer* buffer;
};

struct Buffer_ElementTypeArgs {
  Header header;
  Buffer* buffer;
  int type;
};

struct Buffer_DimensionsArgs {
  Header header;
  Buffer* buffer;
  const int64_t* dims;
  size_t num_dims;
};

struct Buffer_UnpaddedDimensionsArgs {
  Header header;
  Buffer* buffer;
  const int64_t* unpadded_dims;
  size_t num_dims;
};

struct Buffer_UnsafePointerArgs {
  Header header;
  Buffer* buffer;
  uintptr_t buffer_pointer;
};

struct Buffer_DynamicDimensionIndicesArgs {
  Header header;
  Buffer* buffer;
  const size_t* dynamic_dim_indices;
  size_t num_dynamic_dims;
};

struct Buffer_OnDeviceSizeInBytesArgs {
  Header header;
  Buffer* buffer;
  size_t on_device_size_in_bytes;
};

struct Buffer_BitcastArgs {
  Header header;
  Buffer* buffer;
  int type;
  const int64_t* dims;
  size_t num_dims;
  const MemoryLayout* layout;
  Buffer* result;
};

struct Buffer_DeviceArgs {
  Header header;
  Buffer* buffer;
  Device* device;
};

struct Buffer_MemoryArgs {
  Header header;
  Buffer* buffer;
  Memory* memory;
};

struct Buffer_DeleteArgs {
  Header header;
  Buffer* buffer;
};

struct Buffer_IsDeletedArgs {
  Header header;
  Buffer* buffer;
  bool is_deleted;
};

struct Buffer_CopyToDeviceArgs {
  Header header;
  Buffer* buffer;
  Device* dst_device;
  Buffer* dst_buffer;
};

struct Buffer_CopyToMemoryArgs {
  Header header;
  Buffer* buffer;
  Memory* dst_memory;
  Buffer* dst_buffer;
};

struct Buffer_ToHostBufferArgs {
  Header header;
  Buffer* src;
  const MemoryLayout* host_layout;
  void* dst;
  size_t dst_size;
  Event* event;
};

struct Buffer_CopyRawToHostArgs {
  Header header;
  Buffer* buffer;
  void* dst;
  int64_t offset;
  int64_t transfer_size;
  Event* event;
};

struct Buffer_GetMemoryLayoutArgs {
  Header header;
  Buffer* buffer;
  MemoryLayout layout;
};

struct Buffer_IsOnCpuArgs {
  Header header;
  Buffer* buffer;
  bool is_on_cpu;
};

struct Buffer_ReadyEventArgs {
  Header header;
  Buffer* buffer;
  Event* event;
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_ABI_BUFFER_ARGS_H_
