// The arguments of entries about devices, memories and topologies, by the
// entries' names.
#ifndef HAWSER_CLIENT_PJRT_ABI_DEVICE_ARGS_H_
#define HAWSER_CLIENT_PJRT_ABI_DEVICE_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "client/pjrt/abi/abi.h"

namespace hawser::pjrt {

struct DeviceDescription_IdArgs {
  Header header;
  DeviceDescription* device_description;
  int id;
};

struct DeviceDescription_ProcessIndexArgs {
  Header header;
  DeviceDescription* device_description;
  int process_index;
};

struct DeviceDescription_AttributesArgs {
  Header header;
  DeviceDescription* device_description;
  size_t num_attributes;
  const NamedValue* attributes;
};

struct DeviceDescription_KindArgs {
  Header header;
  DeviceDescription* device_description;
  const char* device_kind;
  size_t device_kind_size;
};

struct DeviceDescription_DebugStringArgs {
  Header header;
  DeviceDescription* device_description;
  const char* debug_string;
  size_t debug_string_size;
};

struct DeviceDescription_ToStringArgs {
  Header header;
  DeviceDescription* device_description;
  const char* to_string;
  size_t to_string_size;
};

struct Device_GetDescriptionArgs {
  Header header;
  Device* device;
  DeviceDescription* device_description;
};

struct Device_IsAddressableArgs {
  Header header;
  Device* device;
  bool is_addressable;
};

struct Device_LocalHardwareIdArgs {
  Header header;
  Device* device;
  int local_hardware_id;
};

struct Device_AddressableMemoriesArgs {
  Header header;
  Device* device;
  Memory* const* memories;
  size_t num_memories;
};

struct Device_DefaultMemoryArgs {
  Header header;
  Device* device;
  Memory* memory;
};

// A figure that may be left out.
struct OptionalFigure {
  int64_t value;
  bool is_set;
};

struct Device_MemoryStatsArgs {
  Header header;
  Device* device;
  int64_t bytes_in_use;
  OptionalFigure peak_bytes_in_use;
  OptionalFigure num_allocs;
  OptionalFigure largest_alloc_size;
  OptionalFigure bytes_limit;
  OptionalFigure bytes_reserved;
  OptionalFigure peak_bytes_reserved;
  OptionalFigure bytes_reservable_limit;
  OptionalFigure largest_free_block_bytes;
  OptionalFigure pool_bytes;
  OptionalFigure peak_pool_bytes;
};

struct Device_ClearMemoryStatsArgs {
  Header header;
  Device* device;
};

struct Device_GetAttributesArgs {
  Header header;
  Device* device;
  const NamedValue* attributes;
  size_t num_attributes;
  void* device_attributes;
  void (*attributes_deleter)(void*);
};

struct Memory_IdArgs {
  Header header;
  Memory* memory;
  int id;
};

struct Memory_KindArgs {
  Header header;
  Memory* memory;
  const char* memory_kind;
  size_t memory_kind_size;
};

struct Memory_Kind_IdArgs {
  Header header;
  Memory* memory;
  int kind_id;
};

struct Memory_DebugStringArgs {
  Header header;
  Memory* memory;
  const char* debug_string;
  size_t debug_string_size;
};

struct Memory_ToStringArgs {
  Header header;
  Memory* memory;
  const char* to_string;
  size_t to_string_size;
};

struct Memory_AddressableByDevicesArgs {
  Header header;
  Memory* memory;
  Device* const* devices;
  size_t num_devices;
};

struct TopologyDescription_DestroyArgs {
  Header header;
  Topology* topology;
};

struct TopologyDescription_PlatformNameArgs {
  Header header;
  Topology* topology;
  const char* platform_name;
  size_t platform_name_size;
};

struct TopologyDescription_PlatformVersionArgs {
  Header header;
  Topology* topology;
  const char* platform_version;
  size_t platform_version_size;
};

struct TopologyDescription_GetDeviceDescriptionsArgs {
  Header header;
  Topology* topology;
  DeviceDescription* const* descriptions;
  size_t num_descriptions;
};

struct TopologyDescription_AttributesArgs {
  Header header;
  Topology* topology;
  const NamedValue* attributes;
  size_t num_attributes;
};

struct TopologyDescription_FingerprintArgs {
  Header header;
  Topology* topology;
  uint64_t fingerprint;
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_ABI_DEVICE_ARGS_H_
