// Devices, their descriptions and memories, and the topology that they make.
#include "client/pjrt/entries.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"

namespace hawser::pjrt {

// ---- descriptions -----------------------------------------------------------

absl::Status DeviceDescription_Id(DeviceDescription_IdArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device_description, "device"));
  args->id = args->device_description->id;
  return absl::OkStatus();
}

absl::Status DeviceDescription_ProcessIndex(
    DeviceDescription_ProcessIndexArgs* args) {
  args->process_index = 0;
  return absl::OkStatus();
}

absl::Status DeviceDescription_Attributes(
    DeviceDescription_AttributesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device_description, "device"));
  args->attributes = &args->device_description->client;
  args->num_attributes = 1;
  return absl::OkStatus();
}

absl::Status DeviceDescription_Kind(DeviceDescription_KindArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device_description, "device"));
  args->device_kind = args->device_description->kind.data();
  args->device_kind_size = args->device_description->kind.size();
  return absl::OkStatus();
}

absl::Status DeviceDescription_DebugString(
    DeviceDescription_DebugStringArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device_description, "device"));
  args->debug_string = args->device_description->text.data();
  args->debug_string_size = args->device_description->text.size();
  return absl::OkStatus();
}

absl::Status DeviceDescription_ToString(DeviceDescription_ToStringArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device_description, "device"));
  args->to_string = args->device_description->text.data();
  args->to_string_size = args->device_description->text.size();
  return absl::OkStatus();
}

// ---- devices ----------------------------------------------------------------

absl::Status Device_GetDescription(Device_GetDescriptionArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device, "device"));
  args->device_description = &args->device->description;
  return absl::OkStatus();
}

absl::Status Device_IsAddressable(Device_IsAddressableArgs* args) {
  args->is_addressable = true;
  return absl::OkStatus();
}

absl::Status Device_LocalHardwareId(Device_LocalHardwareIdArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device, "device"));
  args->local_hardware_id = args->device->description.id;
  return absl::OkStatus();
}

absl::Status Device_AddressableMemories(Device_AddressableMemoriesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device, "device"));
  args->memories = args->device->memories.data();
  args->num_memories = args->device->memories.size();
  return absl::OkStatus();
}

absl::Status Device_DefaultMemory(Device_DefaultMemoryArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device, "device"));
  args->memory = &args->device->memory;
  return absl::OkStatus();
}

absl::Status Device_GetAttributes(Device_GetAttributesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device, "device"));
  args->attributes = &args->device->description.client;
  args->num_attributes = 1;
  args->device_attributes = nullptr;
  args->attributes_deleter = [](void*) {};
  return absl::OkStatus();
}

// It says what values of this process take, in its own books: a server is not
// asked, as JAX wants to know before every compile.
absl::Status Device_MemoryStats(Device_MemoryStatsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device, "device"));
  const DeviceMemory::Figures figures = args->device->used->figures();
  const int64_t limit = args->device->memory_bytes;
  args->bytes_in_use = figures.in_use;
  args->peak_bytes_in_use = {figures.peak, true};
  args->num_allocs = {figures.values, true};
  args->largest_alloc_size = {figures.largest, true};
  args->bytes_limit = {limit, limit > 0};
  args->bytes_reserved.is_set = false;
  args->peak_bytes_reserved.is_set = false;
  args->bytes_reservable_limit.is_set = false;
  args->largest_free_block_bytes.is_set = false;
  args->pool_bytes.is_set = false;
  args->peak_pool_bytes.is_set = false;
  return absl::OkStatus();
}

absl::Status Device_ClearMemoryStats(Device_ClearMemoryStatsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->device, "device"));
  args->device->used->ForgetPeak();
  return absl::OkStatus();
}

// ---- memories ---------------------------------------------------------------

absl::Status Memory_Id(Memory_IdArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->memory, "memory"));
  args->id = args->memory->device->description.id;
  return absl::OkStatus();
}

absl::Status Memory_Kind(Memory_KindArgs* args) {
  args->memory_kind = kMemoryKind.data();
  args->memory_kind_size = kMemoryKind.size();
  return absl::OkStatus();
}

absl::Status Memory_Kind_Id(Memory_Kind_IdArgs* args) {
  args->kind_id = 0;
  return absl::OkStatus();
}

absl::Status Memory_DebugString(Memory_DebugStringArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->memory, "memory"));
  args->debug_string = args->memory->text.data();
  args->debug_string_size = args->memory->text.size();
  return absl::OkStatus();
}

absl::Status Memory_ToString(Memory_ToStringArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->memory, "memory"));
  args->to_string = args->memory->text.data();
  args->to_string_size = args->memory->text.size();
  return absl::OkStatus();
}

absl::Status Memory_AddressableByDevices(
    Memory_AddressableByDevicesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->memory, "memory"));
  args->devices = &args->memory->device;
  args->num_devices = 1;
  return absl::OkStatus();
}

// ---- topologies -------------------------------------------------------------

absl::Status TopologyDescription_Destroy(TopologyDescription_DestroyArgs*) {
  return absl::OkStatus();  // it goes with its client
}

absl::Status TopologyDescription_PlatformName(
    TopologyDescription_PlatformNameArgs* args) {
  args->platform_name = kPlatform.data();
  args->platform_name_size = kPlatform.size();
  return absl::OkStatus();
}

absl::Status TopologyDescription_PlatformVersion(
    TopologyDescription_PlatformVersionArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->topology, "topology"));
  const std::string& version = args->topology->devices->version;
  args->platform_version = version.data();
  args->platform_version_size = version.size();
  return absl::OkStatus();
}

absl::Status TopologyDescription_GetDeviceDescriptions(
    TopologyDescription_GetDeviceDescriptionsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->topology, "topology"));
  args->descriptions = args->topology->devices->descriptions.data();
  args->num_descriptions = args->topology->devices->descriptions.size();
  return absl::OkStatus();
}

absl::Status TopologyDescription_Attributes(
    TopologyDescription_AttributesArgs* args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
  return absl::OkStatus();
}

absl::Status TopologyDescription_Fingerprint(
    TopologyDescription_FingerprintArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->topology, "topology"));
  uint64_t fingerprint = 0;
  for (const DeviceDescription* one : args->topology->devices->descriptions) {
    for (const char c : one->kind) fingerprint = fingerprint * 131 + c;
  }
  args->fingerprint = fingerprint;
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
