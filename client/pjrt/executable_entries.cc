// Programs: what is known of them, and running them.
#include <algorithm>
#include <memory>
#include <utility>

#include "client/pjrt/abi/struct_fields.h"
#include "client/pjrt/entries.h"
#include "client/pjrt/objects/objects.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

// The arguments that this execution may take over.
std::vector<int> DonatedOf(const LoadedExecutable& executable,
                           const ExecuteOptions* options) {
  std::vector<int> donated = executable.donated;
  if (options == nullptr) return donated;
  const int64_t* kept =
      Get(*options, &ExecuteOptions::non_donatable_input_indices);
  const size_t count =
      Get(*options, &ExecuteOptions::num_non_donatable_input_indices);
  std::erase_if(donated, [&](int argument) {
    return kept != nullptr && std::count(kept, kept + count, argument) != 0;
  });
  return donated;
}

// Returns the values of buffers. Buffers that are donated lose theirs.
absl::StatusOr<std::vector<runtime::Argument>> ArgumentsOf(
    const LoadedExecutable& executable, Buffer* const* buffers, size_t count,
    const std::vector<int>& donated) {
  if (count != executable.num_arguments) {
    return InvalidArgument("the program takes ", executable.num_arguments,
                           " arguments, gets ", count);
  }
  std::vector<runtime::Argument> arguments;
  for (size_t i = 0; i < count; ++i) {
    HAWSER_RETURN_IF_ERROR(CheckHandle(buffers[i], "argument"));
    runtime::BufferPtr value = buffers[i]->Value();
    if (value == nullptr) {
      return InvalidArgument("argument ", i, ", ", buffers[i]->shape.ToString(),
                             ", was deleted or donated");
    }
    if (buffers[i]->device != executable.device) {
      return InvalidArgument(
          "argument ", i, " is on device ", buffers[i]->device->description.id,
          ", the program is for device ", executable.device->description.id);
    }
    arguments.emplace_back(std::move(value));
  }
  for (const int i : donated) {
    MutexLock lock(&buffers[i]->mu);
    buffers[i]->value = nullptr;
  }
  arguments.insert(arguments.end(), executable.bound.begin(),
                   executable.bound.end());
  return arguments;
}

}  // namespace

// ---- facts ------------------------------------------------------------------

absl::Status Executable_Destroy(Executable_DestroyArgs* args) {
  delete args->executable;
  return absl::OkStatus();
}

absl::Status Executable_Name(Executable_NameArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->executable_name = args->executable->facts->name.data();
  args->executable_name_size = args->executable->facts->name.size();
  return absl::OkStatus();
}

absl::Status Executable_NumReplicas(Executable_NumReplicasArgs* args) {
  args->num_replicas = 1;
  return absl::OkStatus();
}

absl::Status Executable_NumPartitions(Executable_NumPartitionsArgs* args) {
  args->num_partitions = 1;
  return absl::OkStatus();
}

absl::Status Executable_NumOutputs(Executable_NumOutputsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->num_outputs = args->executable->facts->types.size();
  return absl::OkStatus();
}

absl::Status Executable_SizeOfGeneratedCodeInBytes(
    Executable_SizeOfGeneratedCodeInBytesArgs* args) {
  args->size_in_bytes = 0;  // it is not known
  return absl::OkStatus();
}

absl::Status Executable_GetCostAnalysis(Executable_GetCostAnalysisArgs* args) {
  args->num_properties = 0;
  args->properties = nullptr;
  return absl::OkStatus();
}

absl::Status Executable_OutputMemoryKinds(
    Executable_OutputMemoryKindsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->num_outputs = args->executable->facts->memory_kinds.size();
  args->memory_kinds = args->executable->facts->memory_kinds.data();
  args->memory_kind_sizes = args->executable->facts->memory_kind_sizes.data();
  return absl::OkStatus();
}

absl::Status Executable_OutputElementTypes(
    Executable_OutputElementTypesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->output_types = args->executable->facts->types.data();
  args->num_output_types = args->executable->facts->types.size();
  return absl::OkStatus();
}

absl::Status Executable_OutputDimensions(
    Executable_OutputDimensionsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->num_outputs = args->executable->facts->ranks.size();
  args->dims = args->executable->facts->dims.data();
  args->dim_sizes = args->executable->facts->ranks.data();
  return absl::OkStatus();
}

absl::Status Executable_Fingerprint(Executable_FingerprintArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->executable_fingerprint = args->executable->facts->fingerprint.data();
  args->executable_fingerprint_size =
      args->executable->facts->fingerprint.size();
  return absl::OkStatus();
}

// ---- loaded -----------------------------------------------------------------

absl::Status LoadedExecutable_Destroy(LoadedExecutable_DestroyArgs* args) {
  delete args->executable;
  return absl::OkStatus();
}

absl::Status LoadedExecutable_GetExecutable(
    LoadedExecutable_GetExecutableArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->loaded_executable, "executable"));
  args->executable = new Executable{args->loaded_executable->facts};
  return absl::OkStatus();
}

absl::Status LoadedExecutable_AddressableDevices(
    LoadedExecutable_AddressableDevicesArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->addressable_devices = args->executable->device_list.data();
  args->num_addressable_devices = args->executable->device_list.size();
  return absl::OkStatus();
}

absl::Status LoadedExecutable_AddressableDeviceLogicalIds(
    LoadedExecutable_AddressableDeviceLogicalIdsArgs* args) {
  static constexpr LogicalDeviceIds kOnlyOne = {0, 0};
  args->addressable_device_logical_ids = &kOnlyOne;
  args->num_addressable_device_logical_ids = 1;
  return absl::OkStatus();
}

// A DeviceAssignmentProto: one replica, one computation, on that device.
absl::Status LoadedExecutable_GetDeviceAssignment(
    LoadedExecutable_GetDeviceAssignmentArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  const auto id =
      static_cast<char>(args->executable->device->description.id & 0x7F);
  auto bytes =
      std::make_unique<std::string>("\x08\x01\x10\x01\x1A\x03\x0A\x01");
  bytes->push_back(id);
  args->serialized_bytes = bytes->data();
  args->serialized_bytes_size = bytes->size();
  args->serialized_device_assignment = bytes.release();
  args->serialized_device_assignment_deleter = [](void* assignment) {
    delete static_cast<std::string*>(assignment);
  };
  return absl::OkStatus();
}

absl::Status LoadedExecutable_Delete(LoadedExecutable_DeleteArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  MutexLock lock(&args->executable->mu);
  args->executable->runtime = nullptr;
  return absl::OkStatus();
}

absl::Status LoadedExecutable_IsDeleted(LoadedExecutable_IsDeletedArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  MutexLock lock(&args->executable->mu);
  args->is_deleted = args->executable->runtime == nullptr;
  return absl::OkStatus();
}

absl::Status LoadedExecutable_Fingerprint(
    LoadedExecutable_FingerprintArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->executable_fingerprint = args->executable->facts->fingerprint.data();
  args->executable_fingerprint_size =
      args->executable->facts->fingerprint.size();
  return absl::OkStatus();
}

absl::Status LoadedExecutable_Execute(LoadedExecutable_ExecuteArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  LoadedExecutable& loaded = *args->executable;
  if (args->num_devices != 1) {
    return InvalidArgument("the program runs on one device, not on ",
                           args->num_devices);
  }
  std::shared_ptr<runtime::Executable> executable;
  {
    MutexLock lock(&loaded.mu);
    executable = loaded.runtime;
  }
  if (executable == nullptr) return InvalidArgument("the program was deleted");
  const std::vector<int> donated = DonatedOf(loaded, args->options);
  HAWSER_ASSIGN_OR_RETURN(
      const auto arguments,
      ArgumentsOf(loaded, args->argument_lists[0], args->num_args, donated));
  HAWSER_ASSIGN_OR_RETURN(
      const auto results,
      executable->Execute(arguments, {.call = {}, .donated = donated}));
  for (size_t k = 0; k < results.size(); ++k) {
    args->output_lists[0][k] =
        new Buffer(loaded.devices, loaded.device, results[k]);
  }
  // An error that comes later is one of the results, and costs no message until
  // they are asked for.
  if (args->device_complete_events != nullptr) {
    args->device_complete_events[0] = new Event(Future<bool>(true));
  }
  return absl::OkStatus();
}

absl::Status ExecuteContext_Create(ExecuteContext_CreateArgs* args) {
  args->context = new ExecuteContext();
  return absl::OkStatus();
}

absl::Status ExecuteContext_Destroy(ExecuteContext_DestroyArgs* args) {
  delete args->context;
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
