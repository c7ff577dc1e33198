#include "kernels/cuda/compile/target.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"

namespace hawser::cuda {

absl::StatusOr<std::string> ChooseTarget(int capability,
                                         absl::Span<const int> known) {
  int best = 0;
  for (const int architecture : known) {
    if (architecture <= capability && architecture > best) best = architecture;
  }
  if (best == 0) {
    return FailedPrecondition("the compiler knows the architectures ",
                              absl::StrJoin(known, ", "), ", the device has ",
                              capability);
  }
  const bool is_same_generation = best / 10 == capability / 10;
  return absl::StrCat(is_same_generation ? "sm_" : "compute_", best);
}

}  // namespace hawser::cuda
