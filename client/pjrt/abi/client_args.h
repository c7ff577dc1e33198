// The arguments of entries about errors, events, the plugin and clients, by the
// entries' names.
#ifndef HAWSER_CLIENT_PJRT_ABI_CLIENT_ARGS_H_
#define HAWSER_CLIENT_PJRT_ABI_CLIENT_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "client/pjrt/abi/abi.h"

namespace hawser::pjrt {

struct Error_DestroyArgs {
  Header header;
  Error* error;
};

struct Error_MessageArgs {
  Header header;
  const Error* error;
  const char* message;
  size_t message_size;
};

struct Error_GetCodeArgs {
  Header header;
  const Error* error;
  int code;
};

struct Error_ForEachPayloadArgs {
  Header header;
  const Error* error;
  void* visitor;
  void* user_arg;
};

struct Plugin_InitializeArgs {
  Header header;
};

struct Plugin_AttributesArgs {
  Header header;
  const NamedValue* attributes;
  size_t num_attributes;
};

struct Event_DestroyArgs {
  Header header;
  Event* event;
};

struct Event_IsReadyArgs {
  Header header;
  Event* event;
  bool is_ready;
};

struct Event_ErrorArgs {
  Header header;
  Event* event;
};

struct Event_AwaitArgs {
  Header header;
  Event* event;
};

struct Event_OnReadyArgs {
  Header header;
  Event* event;
  EventCallback callback;
  void* user_arg;
};

struct Event_CreateArgs {
  Header header;
  Event* event;
};

struct Event_SetArgs {
  Header header;
  Event* event;
  int error_code;
  const char* error_message;
  size_t error_message_size;
};

struct Client_CreateArgs {
  Header header;
  const NamedValue* create_options;
  size_t num_options;
  void* kv_get_callback;
  void* kv_get_user_arg;
  void* kv_put_callback;
  void* kv_put_user_arg;
  Client* client;
};

struct Client_DestroyArgs {
  Header header;
  Client* client;
};

struct Client_PlatformNameArgs {
  Header header;
  Client* client;
  const char* platform_name;
  size_t platform_name_size;
};

struct Client_ProcessIndexArgs {
  Header header;
  Client* client;
  int process_index;
};

struct Client_PlatformVersionArgs {
  Header header;
  Client* client;
  const char* platform_version;
  size_t platform_version_size;
};

struct Client_DevicesArgs {
  Header header;
  Client* client;
  Device* const* devices;
  size_t num_devices;
};

struct Client_AddressableDevicesArgs {
  Header header;
  Client* client;
  Device* const* addressable_devices;
  size_t num_addressable_devices;
};

struct Client_LookupDeviceArgs {
  Header header;
  Client* client;
  int id;
  Device* device;
};

struct Client_LookupAddressableDeviceArgs {
  Header header;
  Client* client;
  int local_hardware_id;
  Device* addressable_device;
};

struct Client_AddressableMemoriesArgs {
  Header header;
  Client* client;
  Memory* const* addressable_memories;
  size_t num_addressable_memories;
};

struct Client_CompileArgs {
  Header header;
  Client* client;
  const Program* program;
  const char* compile_options;
  size_t compile_options_size;
  LoadedExecutable* executable;
};

struct Client_DefaultDeviceAssignmentArgs {
  Header header;
  Client* client;
  int num_replicas;
  int num_partitions;
  size_t default_assignment_size;
  int* default_assignment;
};

struct Client_BufferFromHostBufferArgs {
  Header header;
  Client* client;
  const void* data;
  int type;
  const int64_t* dims;
  size_t num_dims;
  const int64_t* byte_strides;
  size_t num_byte_strides;
  int host_buffer_semantics;
  Device* device;
  Memory* memory;
  void* device_layout;
  Event* done_with_host_buffer;
  Buffer* buffer;
};

struct Client_TopologyDescriptionArgs {
  Header header;
  Client* client;
  Topology* topology;
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_ABI_CLIENT_ARGS_H_
