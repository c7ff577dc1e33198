// Lowering: a function of an op tree as a hawser module.
#ifndef HAWSER_CLIENT_STABLEHLO_LOWER_LOWER_H_
#define HAWSER_CLIENT_STABLEHLO_LOWER_LOWER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/body/program.h"
#include "client/stablehlo/tilings/tiling.h"
#include "client/stablehlo/tree/tree.h"
#include "core/ir/module.h"

namespace hawser::stablehlo {

// A module, and its last arguments: constants of more than 4 KiB outside of
// regions, which share their bytes with the tree, and arrays of datasets.
struct Lowered {
  Module module;
  std::vector<BoundArgument> bound;
  // The arguments that the program lets its results take the memory of
  // (tf.aliasing_output, jax.buffer_donor).
  std::vector<int> donated = {};
  // The precisions of its products allow that.
  runtime::Numerics numerics = runtime::Numerics::kFast;
  // Filled by ReadProgram for programs of several partitions.
  FunctionTilings tilings = {};
};

// The function as the entry of a module, with all it calls inlined, and every
// type the text claims compared with what core/ops infers.
// Errors, all with line and column in front: kNotFound, no such function;
// kUnimplemented naming all ops and dtypes that are missing; kInvalidArgument;
// kResourceExhausted for calls that would give more than 65,536 ops besides
// those of the text, or are nested too deeply, as those are that call
// themselves.
absl::StatusOr<Lowered> Lower(const Tree& tree, absl::string_view function);

// A module whose results are the values that its checks compare.
struct CheckedModule {
  Module module;
  std::vector<BoundArgument> bound;  // its arguments
  std::vector<Check> checks;  // `actual` and `expected` number the results
};
// Lowers a function that takes nothing and checks itself; what it returns is
// left out.
absl::StatusOr<CheckedModule> LowerChecks(const Tree& tree,
                                          absl::string_view function);

// The functions that take nothing and in which checks stand.
std::vector<absl::string_view> SelfCheckingFunctions(const Tree& tree);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_LOWER_LOWER_H_
