// Programs as bytes, and what they need.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "client/pjrt/abi/struct_fields.h"
#include "client/pjrt/entries.h"
#include "client/pjrt/objects/objects.h"
#include "client/pjrt/objects/program_source.h"
#include "client/pjrt/programs/load_program.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

absl::StatusOr<const ProgramSource*> SourceOf(const Executable* executable) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(executable, "executable"));
  if (executable->facts->source != nullptr) {
    return executable->facts->source.get();
  }
  return ResourceExhausted("programs of more than ", kMaxKeptCode,
                           " bytes are not kept");
}

void DeleteText(void* text) { delete static_cast<std::string*>(text); }

}  // namespace

absl::Status Executable_Serialize(Executable_SerializeArgs* args) {
  HAWSER_ASSIGN_OR_RETURN(const ProgramSource* const source,
                          SourceOf(args->executable));
  auto bytes = std::make_unique<std::string>(Serialize(*source));
  args->serialized_bytes = bytes->data();
  args->serialized_bytes_size = bytes->size();
  args->serialized_executable = bytes.release();
  args->serialized_executable_deleter = DeleteText;
  return absl::OkStatus();
}

// The caller's own bytes, as they came.
absl::Status Executable_GetCompileOptions(
    Executable_GetCompileOptionsArgs* args) {
  HAWSER_ASSIGN_OR_RETURN(const ProgramSource* const source,
                          SourceOf(args->executable));
  auto bytes = std::make_unique<std::string>(source->options);
  args->serialized_bytes = bytes->data();
  args->serialized_bytes_size = bytes->size();
  args->serialized_compile_options = bytes.release();
  args->serialized_compile_options_deleter = DeleteText;
  return absl::OkStatus();
}

absl::Status Executable_DeserializeAndLoad(
    Executable_DeserializeAndLoadArgs* args) {
  using Args = Executable_DeserializeAndLoadArgs;
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->client, "client"));
  HAWSER_ASSIGN_OR_RETURN(
      ProgramSource source,
      ParseSource(TextOf(args->serialized_executable,
                         args->serialized_executable_size)));
  const char* const options =
      Get(*args, &Args::overridden_serialized_compile_options);
  if (options != nullptr) {
    source.options = std::string(
        options, Get(*args, &Args::overridden_serialized_compile_options_size));
  }
  HAWSER_ASSIGN_OR_RETURN(
      auto loaded, LoadProgram(args->client->devices, std::move(source)));
  args->loaded_executable = loaded.release();
  return absl::OkStatus();
}

// Arguments and results are known here. What else it takes is known where it
// runs, and is 0.
absl::Status Executable_GetCompiledMemoryStats(
    Executable_GetCompiledMemoryStatsArgs* args) {
  using Args = Executable_GetCompiledMemoryStatsArgs;
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  const ProgramFacts& facts = *args->executable->facts;
  const int64_t alias = std::min(facts.donated_bytes, facts.result_bytes);
  args->generated_code_size_in_bytes = 0;
  args->argument_size_in_bytes = facts.argument_bytes;
  args->output_size_in_bytes = facts.result_bytes;
  args->alias_size_in_bytes = alias;
  args->temp_size_in_bytes = 0;
  args->host_generated_code_size_in_bytes = 0;
  args->host_argument_size_in_bytes = 0;
  args->host_output_size_in_bytes = 0;
  args->host_alias_size_in_bytes = 0;
  args->host_temp_size_in_bytes = 0;
  const int64_t all = facts.argument_bytes + facts.result_bytes - alias;
  Set(args, &Args::peak_memory_in_bytes, all);
  Set(args, &Args::total_size_in_bytes, all);
  return absl::OkStatus();
}

absl::Status Executable_ParameterMemoryKinds(
    Executable_ParameterMemoryKindsArgs* args) {
  HAWSER_RETURN_IF_ERROR(CheckHandle(args->executable, "executable"));
  args->num_parameters = args->executable->facts->num_arguments;
  args->memory_kinds = args->executable->facts->memory_kinds.data();
  args->memory_kind_sizes = args->executable->facts->memory_kind_sizes.data();
  return absl::OkStatus();
}

}  // namespace hawser::pjrt
