// LoadProgram: a StableHLO program, compiled for a device.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_LOAD_PROGRAM_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_LOAD_PROGRAM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/pjrt/objects/objects.h"

namespace hawser::pjrt {

// `code`: an artifact or text. `options`: a serialized CompileOptionsProto of
// XLA, of which the numbers of replicas and partitions and the devices are
// read. May block. Errors: those of stablehlo::ReadProgram; kUnimplemented for
// more than one replica or partition; kInvalidArgument for a device that is
// none.
absl::StatusOr<std::unique_ptr<LoadedExecutable>> LoadProgram(
    const DevicesPtr& devices, absl::string_view code,
    absl::string_view options);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_LOAD_PROGRAM_H_
