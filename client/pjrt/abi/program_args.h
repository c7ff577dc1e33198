// The arguments of entries about programs, by the entries' names.
#ifndef HAWSER_CLIENT_PJRT_ABI_PROGRAM_ARGS_H_
#define HAWSER_CLIENT_PJRT_ABI_PROGRAM_ARGS_H_

#include <cstddef>
#include <cstdint>

#include "client/pjrt/abi/abi.h"

namespace hawser::pjrt {

struct Executable_DestroyArgs {
  Header header;
  Executable* executable;
};

struct Executable_NameArgs {
  Header header;
  Executable* executable;
  const char* executable_name;
  size_t executable_name_size;
};

struct Executable_NumReplicasArgs {
  Header header;
  Executable* executable;
  size_t num_replicas;
};

struct Executable_NumPartitionsArgs {
  Header header;
  Executable* executable;
  size_t num_partitions;
};

struct Executable_NumOutputsArgs {
  Header header;
  Executable* executable;
  size_t num_outputs;
};

struct Executable_SizeOfGeneratedCodeInBytesArgs {
  Header header;
  Executable* executable;
  int64_t size_in_bytes;
};

struct Executable_GetCostAnalysisArgs {
  Header header;
  Executable* executable;
  size_t num_properties;
  const NamedValue* properties;
};

struct Executable_OptimizedProgramArgs {
  Header header;
  Executable* executable;
  Program* program;  // the caller's: code is null, or has room for code_size
};

struct Executable_OutputMemoryKindsArgs {
  Header header;
  Executable* executable;
  size_t num_outputs;
  const char* const* memory_kinds;
  const size_t* memory_kind_sizes;
};

struct Executable_ParameterMemoryKindsArgs {
  Header header;
  Executable* executable;
  size_t num_parameters;
  const char* const* memory_kinds;
  const size_t* memory_kind_sizes;
};

struct Executable_SerializeArgs {
  Header header;
  const Executable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  void* serialized_executable;
  void (*serialized_executable_deleter)(void*);
};

struct Executable_GetCompileOptionsArgs {
  Header header;
  const Executable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  void* serialized_compile_options;
  void (*serialized_compile_options_deleter)(void*);
};

struct Executable_DeserializeAndLoadArgs {
  Header header;
  Client* client;
  const char* serialized_executable;
  size_t serialized_executable_size;
  LoadedExecutable* loaded_executable;
  // Callers of old versions end here.
  const char* overridden_serialized_compile_options;
  size_t overridden_serialized_compile_options_size;
};

struct Executable_GetCompiledMemoryStatsArgs {
  Header header;
  Executable* executable;
  int64_t generated_code_size_in_bytes;
  int64_t argument_size_in_bytes;
  int64_t output_size_in_bytes;
  int64_t alias_size_in_bytes;
  int64_t temp_size_in_bytes;
  int64_t host_generated_code_size_in_bytes;
  int64_t host_argument_size_in_bytes;
  int64_t host_output_size_in_bytes;
  int64_t host_alias_size_in_bytes;
  int64_t host_temp_size_in_bytes;
  // Callers of old versions end here.
  int64_t peak_memory_in_bytes;
  int64_t total_size_in_bytes;
};

struct Executable_OutputElementTypesArgs {
  Header header;
  Executable* executable;
  const int* output_types;
  size_t num_output_types;
};

struct Executable_OutputDimensionsArgs {
  Header header;
  Executable* executable;
  size_t num_outputs;
  const int64_t* dims;
  const size_t* dim_sizes;
};

struct Executable_FingerprintArgs {
  Header header;
  Executable* executable;
  const char* executable_fingerprint;
  size_t executable_fingerprint_size;
};

struct LoadedExecutable_DestroyArgs {
  Header header;
  LoadedExecutable* executable;
};

struct LoadedExecutable_GetExecutableArgs {
  Header header;
  LoadedExecutable* loaded_executable;
  Executable* executable;
};

struct LoadedExecutable_AddressableDevicesArgs {
  Header header;
  LoadedExecutable* executable;
  Device* const* addressable_devices;
  size_t num_addressable_devices;
};

struct LoadedExecutable_AddressableDeviceLogicalIdsArgs {
  Header header;
  LoadedExecutable* executable;
  const LogicalDeviceIds* addressable_device_logical_ids;
  size_t num_addressable_device_logical_ids;
};

struct LoadedExecutable_GetDeviceAssignmentArgs {
  Header header;
  LoadedExecutable* executable;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  void* serialized_device_assignment;
  void (*serialized_device_assignment_deleter)(void*);
};

struct LoadedExecutable_DeleteArgs {
  Header header;
  LoadedExecutable* executable;
};

struct LoadedExecutable_IsDeletedArgs {
  Header header;
  LoadedExecutable* executable;
  bool is_deleted;
};

struct LoadedExecutable_FingerprintArgs {
  Header header;
  LoadedExecutable* executable;
  const char* executable_fingerprint;
  size_t executable_fingerprint_size;
};

struct LoadedExecutable_ExecuteArgs {
  Header header;
  LoadedExecutable* executable;
  const ExecuteOptions* options;
  Buffer* const* const* argument_lists;
  size_t num_devices;
  size_t num_args;
  Buffer** const* output_lists;
  Event** device_complete_events;
  Device* execute_device;
};

struct ExecuteContext_CreateArgs {
  Header header;
  ExecuteContext* context;
};

struct ExecuteContext_DestroyArgs {
  Header header;
  ExecuteContext* context;
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_ABI_PROGRAM_ARGS_H_
