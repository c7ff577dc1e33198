#include "client/pjrt/programs/compile_options.h"

#include <algorithm>

#include "core/base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/unknown_field_set.h"

namespace hawser::pjrt {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Fields of XLA's messages, by their numbers.
constexpr int kBuildOptions = 3;  // of CompileOptionsProto
constexpr int kReplicas = 4, kPartitions = 5, kAssignment = 9;  // of these
constexpr int kReplicaCount = 1, kComputationCount = 2;
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

// The first number of a field, packed or not; -1: there is none.
int64_t FirstIn(const UnknownFieldSet& of, int number) {
  const UnknownField* packed =
      Find(of, number, UnknownField::TYPE_LENGTH_DELIMITED);
  if (packed == nullptr) return NumberIn(of, number, -1);
  const std::string& bytes = packed->length_delimited();
  google::protobuf::io::ArrayInputStream stream(bytes.data(),
                                                static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  uint64_t first = 0;
  return coded.ReadVarint64(&first) ? static_cast<int64_t>(first) : -1;
}

}  // namespace

absl::StatusOr<std::vector<Device*>> DevicesIn(const Devices& devices,
                                               absl::string_view options) {
  UnknownFieldSet all, build, assignment;
  HAWSER_RETURN_IF_ERROR(Parse(options, &all));
  HAWSER_RETURN_IF_ERROR(ParseIn(all, kBuildOptions, &build));
  const int64_t replicas = NumberIn(build, kReplicas, 1);
  const int64_t partitions = NumberIn(build, kPartitions, 1);
  if (replicas > 1)
    return Unimplemented("a program of ", replicas, " replicas");
  if (partitions > static_cast<int64_t>(devices.list.size())) {
    return InvalidArgument("a program of ", partitions, " partitions on ",
                           devices.list.size(), " devices");
  }
  HAWSER_RETURN_IF_ERROR(ParseIn(build, kAssignment, &assignment));
  std::vector<Device*> found;
  for (int i = 0; i < assignment.field_count(); ++i) {
    const UnknownField& field = assignment.field(i);
    if (field.number() != kComputations ||
        field.type() != UnknownField::TYPE_LENGTH_DELIMITED) {
      continue;
    }
    UnknownFieldSet computation;
    HAWSER_RETURN_IF_ERROR(Parse(field.length_delimited(), &computation));
    const int64_t id = FirstIn(computation, kIds);
    if (id < 0) continue;
    Device* const device = devices.Find(static_cast<int>(id));
    if (device == nullptr) {
      return InvalidArgument("the program is for device ", id, ", of ",
                             devices.list.size());
    }
    found.push_back(device);
  }
  const auto wanted = static_cast<size_t>(std::max<int64_t>(partitions, 1));
  if (found.empty()) {
    found.assign(devices.list.begin(),
                 devices.list.begin() + static_cast<ptrdiff_t>(wanted));
  }
  if (found.size() == wanted) return found;
  return InvalidArgument("the program is of ", wanted, " partitions, for ",
                         found.size(), " devices");
}

std::string AssignmentOf(const std::vector<Device*>& devices) {
  UnknownFieldSet assignment;
  assignment.AddVarint(kReplicaCount, 1);
  assignment.AddVarint(kComputationCount, devices.size());
  for (const Device* device : devices) {
    UnknownFieldSet computation;
    computation.AddVarint(kIds, static_cast<uint64_t>(device->description.id));
    std::string bytes;
    computation.SerializeToString(&bytes);
    assignment.AddLengthDelimited(kComputations, bytes);
  }
  std::string bytes;
  assignment.SerializeToString(&bytes);
  return bytes;
}

}  // namespace hawser::pjrt
