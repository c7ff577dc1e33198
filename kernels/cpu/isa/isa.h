// Isa: which instructions loops are compiled for, and which this machine has.
#ifndef HAWSER_KERNELS_CPU_ISA_ISA_H_
#define HAWSER_KERNELS_CPU_ISA_ISA_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hawser::cpu {

// Sets of instructions, each with all of those before it. kBase: what every
// machine of this kind has, for which no loop is written here.
enum class Isa : uint8_t { kBase, kSse4, kAvx2, kAvx512 };
absl::string_view IsaName(Isa isa);  // "avx2"
// The largest that this machine has.
Isa MachineIsa();
// HAWSER_CPU_ISA where that names one that this machine has, else the largest
// (with a warning, once, where it names another).
Isa ProcessIsa();
// Finds a set by its name. Errors: kInvalidArgument, no name of one;
// kFailedPrecondition, this machine does not have it.
absl::StatusOr<Isa> ParseIsa(absl::string_view name);

// Who made the processor, where costs differ by it: AMD's multiply bf16 fast
// without tiles.
enum class Maker : uint8_t { kAmd, kIntel };
// HAWSER_CPU_MAKER where that is amd or intel, else that of this machine (with
// a warning, once, where it is another word). Results do not depend on it
// beyond what fast numerics leave open.
Maker ProcessMaker();

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ISA_ISA_H_
