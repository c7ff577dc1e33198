// Clients: their devices, and values that come from the host.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "client/pjrt/abi/struct_fields.h"
#include "client/pjrt/entries.h"
#include "client/pjrt/objects/buffer.h"
#include "client/pjrt/objects/connect_devices.h"
#include "client/pjrt/objects/host_value.h"
#include "client/pjrt/objects/objects.h"
#include "client/pjrt/programs/load_program.h"
#include "core/base/status.h"

namespace hawser::pjrt {
absl::Status Client_Create(Client_CreateArgs* args) {
  std::vector<std::string> servers = ServersOfEnvironment();
  for (size_t i = 0; i < args->num_options; ++i) {
    HAWSER_RETURN_IF_ERROR(CheckHandle(args->create_options, "option"));
    const NamedValue& option = args->create_options[i];
    HAWSER_RETURN_IF_ERROR(CheckStruct(&option, &NamedValue::size, "option"));
    if (TextOf(option.name, option.name_size) != "servers") continue;
    if (option.type != 0) return InvalidArgument("servers is no string");
    servers = absl::StrSplit(TextOf(option.string, option.size), ',',
                             absl::SkipWhitespace());
  }
  HAWSER_ASSIGN_OR_RETURN(DevicesPtr devices, ConnectDevices(servers));
  auto client = std::make_unique<Client>();
  client->devices = std::move(devices);
  client->topology.devices = client->devices;
  args->client = client.release();
  return absl::OkStatus();
}

absl::Status Client_Destroy(Client_DestroyArgs* args) {
  delete args->client;
  return absl::OkStatus();
}

absl::Status Client_PlatformName(Client_PlatformNameArgs* args) {
  args->platform_name = kPlatform.data();
  args->platform_name_size = kPlatform.size();
  return absl::OkStatus();
}

absl::Status Client_ProcessIndex(Client_ProcessIndexArgs* args) {
  args->process_index = 0;
  return absl::OkStatus();
}

absl::Status Client_PlatformVersion(Client_PlatformVersionArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  args->platform_version = args->client->devices->version.data();
  args->platform_version_size = args->client->devices->version.size();
  return absl::OkStatus();
}

absl::Status Client_Devices(Client_DevicesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  args->devices = args->client->devices->list.data();
  args->num_devices = args->client->devices->list.size();
  return absl::OkStatus();
}

absl::Status Client_AddressableDevices(Client_AddressableDevicesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  args->addressable_devices = args->client->devices->list.data();
  args->num_addressable_devices = args->client->devices->list.size();
  return absl::OkStatus();
}

absl::Status Client_LookupDevice(Client_LookupDeviceArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  args->device = args->client->devices->Find(args->id);
  if (args->device != nullptr) return absl::OkStatus();
  return InvalidArgument("there is no device ", args->id);
}

absl::Status Client_LookupAddressableDevice(
    Client_LookupAddressableDeviceArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  args->addressable_device =
      args->client->devices->Find(args->local_hardware_id);
  if (args->addressable_device != nullptr) return absl::OkStatus();
  return InvalidArgument("there is no device ", args->local_hardware_id);
}

absl::Status Client_AddressableMemories(Client_AddressableMemoriesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  args->addressable_memories = args->client->devices->memories.data();
  args->num_addressable_memories = args->client->devices->memories.size();
  return absl::OkStatus();
}

absl::Status Client_TopologyDescription(Client_TopologyDescriptionArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  args->topology = &args->client->topology;
  return absl::OkStatus();
}

absl::Status Client_DefaultDeviceAssignment(
    Client_DefaultDeviceAssignmentArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  const int64_t wanted =
      int64_t{args->num_replicas} * int64_t{args->num_partitions};
  const auto devices = static_cast<int64_t>(args->client->devices->list.size());
  if (wanted < 0 || wanted > devices ||
      wanted > static_cast<int64_t>(args->default_assignment_size)) {
    return InvalidArgument(args->num_replicas, " replicas of ",
                           args->num_partitions, " partitions on ", devices,
                           " devices");
  }
  if (wanted != 0) {
    HAWSER_RETURN_IF_ERROR(CheckHandle(args->default_assignment, "assignment"));
  }
  for (int i = 0; i < wanted; ++i) args->default_assignment[i] = i;
  return absl::OkStatus();
}

absl::Status Client_Compile(Client_CompileArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  HAWSER_RETURN_IF_ERROR(
      CheckStruct(args->program, &Program::format_size, "program"));
  const Program& program = *args->program;
  HAWSER_ASSIGN_OR_RETURN(
      auto loaded,
      LoadProgram(
          args->client->devices,
          {.format = std::string(TextOf(program.format, program.format_size)),
           .code = std::string(TextOf(program.code, program.code_size)),
           .options = std::string(
               TextOf(args->compile_options, args->compile_options_size))}));
  args->executable = loaded.release();
  return absl::OkStatus();
}

absl::Status Client_BufferFromHostBuffer(
    Client_BufferFromHostBufferArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  Device* const device = args->device != nullptr ? args->device
                         : args->memory != nullptr
                             ? args->memory->device
                             : args->client->devices->list[0];
  HAWSER_ASSIGN_OR_RETURN(
      const Literal literal,
      LiteralOf({args->type, args->dims, args->num_dims, args->data,
                 args->byte_strides, args->num_byte_strides}));
  Held held;
  if (args->client->devices->list.size() > 1) {
    // It goes to where a program takes it, which may be all devices.
    held.here = literal;
  } else {
    HAWSER_ASSIGN_OR_RETURN(held.there, device->runtime->Upload(literal, {}));
  }
  args->buffer = new Buffer(args->client->devices, device, literal.shape(),
                            std::move(held));
  // The bytes were copied.
  args->done_with_host_buffer = new Event(Future<bool>(true));
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
