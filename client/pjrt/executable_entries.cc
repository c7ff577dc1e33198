// Programs: what is known of them.
#include <cstring>
#include <memory>
#include <utility>

#include "client/pjrt/entries.h"
#include "client/pjrt/objects/objects.h"
#include "client/pjrt/programs/compile_options.h"
#include "core/base/status.h"

namespace hawser::pjrt {
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
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->num_partitions = args->executable->facts->partitions;
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

// Called twice: with no room for it, to ask the size, and with that.
absl::Status Executable_OptimizedProgram(
    Executable_OptimizedProgramArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  HAWSER_RETURN_IF_ERROR(
      CheckStruct(args->program, &Program::format_size, "program"));
  const std::string& text = args->executable->facts->shardings;
  if (text.empty()) {
    return Unimplemented("PJRT_Executable_OptimizedProgram of one device");
  }
  static constexpr absl::string_view kFormat = "mlir";
  Program& program = *args->program;
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  if (program.code == nullptr) {
    program.code_size = text.size();
    return absl::OkStatus();
  }
  if (program.code_size < text.size()) {
    return InvalidArgument("the program does not fit ", program.code_size,
                           " bytes");
  }
  std::memcpy(const_cast<char*>(program.code), text.data(), text.size());
  return absl::OkStatus();
}

absl::Status Executable_OutputMemoryKinds(
    Executable_OutputMemoryKindsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->num_outputs = args->executable->facts->types.size();
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
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->addressable_device_logical_ids = args->executable->logical_ids.data();
  args->num_addressable_device_logical_ids =
      args->executable->logical_ids.size();
  return absl::OkStatus();
}

// A DeviceAssignmentProto: one replica, a computation for each partition.
absl::Status LoadedExecutable_GetDeviceAssignment(
    LoadedExecutable_GetDeviceAssignmentArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  auto bytes = std::make_unique<std::string>(
      AssignmentOf(args->executable->device_list));
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

absl::Status ExecuteContext_Create(ExecuteContext_CreateArgs* args) {
  args->context = new ExecuteContext();
  return absl::OkStatus();
}

absl::Status ExecuteContext_Destroy(ExecuteContext_DestroyArgs* args) {
  delete args->context;
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
