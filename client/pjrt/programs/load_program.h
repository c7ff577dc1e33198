// LoadProgram: a StableHLO program, compiled for a device.
#ifndef HAWSER_CLIENT_PJRT_PROGRAMS_LOAD_PROGRAM_H_
#define HAWSER_CLIENT_PJRT_PROGRAMS_LOAD_PROGRAM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/pjrt/objects/objects.h"
#include "client/pjrt/objects/program_source.h"

namespace hawser::pjrt {

// A program of several partitions is compiled for all devices, cut as its
// arguments are sharded. May block. Errors: those of stablehlo::ReadProgram and
// DevicesIn; kUnimplemented for another format, and for parts that are not
// equal.
absl::StatusOr<std::unique_ptr<LoadedExecutable>> LoadProgram(
    const DevicesPtr& devices, ProgramSource source);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_PROGRAMS_LOAD_PROGRAM_H_
