#include "client/remote/capability_check.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ir/verifier.h"

namespace hawser {
namespace {

// The two leaves are the IR's own: no engine lists them.
bool IsLeaf(const OpDef* op) { return op == &kParameter || op == &kConstant; }

}  // namespace

absl::Status CheckCapabilities(const Module& module,
                               const runtime::Capabilities& capabilities,
                               absl::string_view server) {
  const absl::flat_hash_set<absl::string_view> ops(capabilities.ops.begin(),
                                                   capabilities.ops.end());
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      const OpDef* op = instruction.op;
      if (op->since > capabilities.opset) {
        return Unimplemented("op ", op->name, " came with opset ", op->since,
                             ", ", server, " has opset ", capabilities.opset);
      }
      if (!ops.empty() && !ops.contains(op->name) && !IsLeaf(op)) {
        return Unimplemented("op ", op->name, " does not run on ", server, " (",
                             capabilities.platform, ")");
      }
    }
    for (ValueId value = 0; value < computation.num_values(); ++value) {
      const DType dtype = computation.shape(value).dtype();
      if (capabilities.dtypes.Has(dtype)) continue;
      return Unimplemented(
          "dtype ", DTypeName(dtype), " of ",
          computation.instructions()[computation.producer(value)].op->name,
          " is not known to ", server, " (", capabilities.dtypes.ToString(),
          ")");
    }
  }
  return Annotate(CheckLimits(module, capabilities.limits), server);
}

}  // namespace hawser
