// LoadProgram: a StableHLO program, or a module of hawser's, compiled.
#ifndef HAWSER_CLIENT_PJRT_PROGRAMS_LOAD_PROGRAM_H_
#define HAWSER_CLIENT_PJRT_PROGRAMS_LOAD_PROGRAM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/pjrt/objects/objects.h"
#include "client/pjrt/objects/program_source.h"

namespace hawser::pjrt {

// The format is "mlir", StableHLO; the options say how many partitions there are
// and on which devices. A program of several is compiled for all devices, cut as
// its arguments are sharded. Or it is "hawser.text", a module in the text form of
// core/ir for the first device; its options are "" or "strict", and all of its
// arguments may be donated. May block. Errors: those of stablehlo::ReadProgram,
// ParseModule and DevicesIn; kUnimplemented for another format, and for parts
// that are not equal.
absl::StatusOr<std::unique_ptr<LoadedExecutable>> LoadProgram(
    const DevicesPtr& devices, ProgramSource source);

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_PROGRAMS_LOAD_PROGRAM_H_
