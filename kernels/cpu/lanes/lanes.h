// FindLanes: elementwise ops over lanes, in the instructions of this machine.
#ifndef HAWSER_KERNELS_CPU_LANES_LANES_H_
#define HAWSER_KERNELS_CPU_LANES_LANES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ir/op_def.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// Sets of instructions, each with all of those before it. kBase: what every
// machine of this kind has, for which no loop is written here.
enum class Isa : uint8_t { kBase, kSse4, kAvx2, kAvx512 };
absl::string_view IsaName(Isa isa);  // "avx2"
// The largest that this machine has.
Isa MachineIsa();
// By its name. Errors: kInvalidArgument, no name of one; kFailedPrecondition,
// this machine does not have it.
absl::StatusOr<Isa> ParseIsa(absl::string_view name);

// The op's loop; null: there is none for these dtypes. Its results are those of
// the row's element loop, bit for bit, where the op's row promises bits.
ElementFn FindLanes(const OpDef& op, const ElementTypes& types, Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANES_LANES_H_
