// XLA's compile options and device assignments, as far as devices go.
#ifndef HAWSER_CLIENT_PJRT_PROGRAMS_COMPILE_OPTIONS_H_
#define HAWSER_CLIENT_PJRT_PROGRAMS_COMPILE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/pjrt/objects/objects.h"

namespace hawser::pjrt {

// The device of each partition, which a serialized CompileOptionsProto names;
// without names the first ones. Errors: kInvalidArgument for what is no
// message, a device that is none, another number of devices than partitions;
// kUnimplemented for more than one replica.
absl::StatusOr<std::vector<Device*>> DevicesIn(const Devices& devices,
                                               absl::string_view options);
// A serialized DeviceAssignmentProto of one replica, a computation for each
// device.
std::string AssignmentOf(const std::vector<Device*>& devices);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_PROGRAMS_COMPILE_OPTIONS_H_
