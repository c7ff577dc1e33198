#include "client/pjrt/objects/load_program.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/stablehlo/lower/bind.h"
#include "client/stablehlo/stablehlo.h"
#include "core/base/digest.h"
#include "core/base/status.h"
#include "google/protobuf/unknown_field_set.h"

namespace hawser::pjrt {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Fields of XLA's messages, by their numbers.
constexpr int kBuildOptions = 3;  // of CompileOptionsProto
constexpr int kReplicas = 4, kPartitions = 5, kAssignment = 9;  // of these
constexpr int kComputations = 3;  // of DeviceAssignmentProto
constexpr int kIds = 1;           // of a computation

// The last field of that number, if it has that type.
const UnknownField* Find(const UnknownFieldSet& of, int number,
                         UnknownField::Type type) {
  for (int i = of.field_count() - 1; i >= 0; --i) {
    const UnknownField& field = of.field(i);
    if (field.number() == number && field.type() == type) return &field;
  }
  return nullptr;
}

absl::Status Parse(absl::string_view bytes, UnknownFieldSet* to) {
  return to->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))
             ? absl::OkStatus()
             : InvalidArgument("the compile options are no message");
}

// The message in that field; an empty one where there is none.
absl::Status ParseIn(const UnknownFieldSet& of, int number,
                     UnknownFieldSet* to) {
  const UnknownField* field =
      Find(of, number, UnknownField::TYPE_LENGTH_DELIMITED);
  return field == nullptr ? absl::OkStatus()
                          : Parse(field->length_delimited(), to);
}

int64_t NumberIn(const UnknownFieldSet& of, int number, int64_t fallback) {
  const UnknownField* field = Find(of, number, UnknownField::TYPE_VARINT);
  return field == nullptr ? fallback : static_cast<int64_t>(field->varint());
}

// The device that the options name, else the first.
absl::StatusOr<Device*> DeviceOf(const Devices& devices,
                                 absl::string_view options) {
  UnknownFieldSet all, build, assignment, computation;
  HAWSER_RETURN_IF_ERROR(Parse(options, &all));
  HAWSER_RETURN_IF_ERROR(ParseIn(all, kBuildOptions, &build));
  const int64_t replicas = NumberIn(build, kReplicas, 1);
  const int64_t partitions = NumberIn(build, kPartitions, 1);
  if (replicas > 1 || partitions > 1) {
    return Unimplemented("a program of ", replicas, " replicas and ",
                         partitions, " partitions");
  }
  HAWSER_RETURN_IF_ERROR(ParseIn(build, kAssignment, &assignment));
  HAWSER_RETURN_IF_ERROR(ParseIn(assignment, kComputations, &computation));
  int64_t id = NumberIn(computation, kIds, -1);
  const UnknownField* packed =
      Find(computation, kIds, UnknownField::TYPE_LENGTH_DELIMITED);
  if (packed != nullptr && !packed->length_delimited().empty()) {
    id = 0;
    int shift = 0;
    for (const char c : packed->length_delimited()) {  // the first varint
      id |= static_cast<int64_t>(c & 0x7F) << shift;
      shift += 7;
      if ((c & 0x80) == 0 || shift > 56) break;
    }
  }
  Device* const device =
      id < 0 ? devices.list[0] : devices.Find(static_cast<int>(id));
  if (device != nullptr) return device;
  return InvalidArgument("the program is for device ", id, ", of ",
                         devices.list.size());
}

std::shared_ptr<const ProgramFacts> FactsOf(const Signature& signature,
                                            absl::string_view code) {
  auto facts = std::make_shared<ProgramFacts>();
  facts->fingerprint = Sha256(code).ToHex();
  facts->name = absl::StrCat("hawser_", facts->fingerprint.substr(0, 12));
  for (const Shape& shape : signature.results) {
    facts->types.push_back(TypeOf(shape.dtype()));
    facts->dims.insert(facts->dims.end(), shape.dims().begin(),
                       shape.dims().end());
    facts->ranks.push_back(static_cast<size_t>(shape.rank()));
    facts->memory_kinds.push_back(kMemoryKind.data());
    facts->memory_kind_sizes.push_back(kMemoryKind.size());
  }
  return facts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedExecutable>> LoadProgram(
    const DevicesPtr& devices, absl::string_view code,
    absl::string_view options) {
  HAWSER_ASSIGN_OR_RETURN(Device* const device, DeviceOf(*devices, options));
  HAWSER_ASSIGN_OR_RETURN(stablehlo::Lowered lowered,
                          stablehlo::ReadProgram(code));
  auto loaded = std::make_unique<LoadedExecutable>();
  loaded->devices = devices;
  loaded->device = device;
  loaded->device_list = {device};
  loaded->donated = std::move(lowered.donated);
  loaded->facts = FactsOf(lowered.module.signature(), code);
  loaded->num_arguments =
      lowered.module.signature().parameters.size() - lowered.bound.size();
  HAWSER_ASSIGN_OR_RETURN(loaded->bound,
                          stablehlo::Bind(lowered.bound, *device->runtime));
  for (runtime::Argument& argument : loaded->bound) {
    const auto* constant = std::get_if<Literal>(&argument);
    if (constant == nullptr) continue;
    // Sent once, as it is an argument of every execution.
    HAWSER_ASSIGN_OR_RETURN(argument, device->runtime->Upload(*constant, {}));
  }
  HAWSER_ASSIGN_OR_RETURN(
      auto executable,
      device->runtime->Compile(
          std::make_shared<const Module>(std::move(lowered.module)), {}, {}));
  MutexLock lock(&loaded->mu);
  loaded->runtime = std::move(executable);
  return loaded;
}

}  // namespace hawser::pjrt
