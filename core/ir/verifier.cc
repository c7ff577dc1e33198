#include "core/ir/verifier.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"

namespace hawser {
namespace {

absl::Status TooMany(absl::string_view what, int64_t got, int64_t limit) {
  return ResourceExhausted("module has ", got, " ", what, ", the limit is ",
                           limit);
}

absl::Status At(const Computation& c, size_t instruction,
                const absl::Status& status) {
  return Annotate(status, absl::StrCat("computation ", c.name(),
                                       ", instruction ", instruction, " (",
                                       c.instructions()[instruction].op->name,
                                       ")"));
}

// Append has checked each computation against the module it was built for,
// which need not be the one it joined: that is what can be wrong here.
absl::Status CheckCalls(const Module& module) {
  for (size_t n = 0; n < module.computations().size(); ++n) {
    const Computation& c = module.computation(static_cast<int>(n));
    for (size_t i = 0; i < c.instructions().size(); ++i) {
      for (int callee : c.instructions()[i].called) {
        if (callee < static_cast<int>(n)) continue;
        return At(c, i,
                  InvalidArgument("calls computation ", callee,
                                  ", which is not a smaller index"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckClaims(const Module& module, const Computation& c,
                         const Instruction& i) {
  absl::InlinedVector<Shape, 4> operands;
  for (ValueId v : i.operands) operands.push_back(c.shape(v));
  absl::InlinedVector<const Signature*, 2> called;
  for (int callee : i.called) called.push_back(&module.signature(callee));
  HAWSER_ASSIGN_OR_RETURN(
      Shapes shapes, InferShapes({*i.op, operands, i.attributes, called}));
  if (static_cast<int>(shapes.size()) != i.num_results) {
    return InvalidArgument("claims ", i.num_results, " results, has ",
                           shapes.size());
  }
  for (int k = 0; k < i.num_results; ++k) {
    const Shape& claimed = c.shape(i.first_result + k);
    if (claimed == shapes[k]) continue;
    return InvalidArgument("claims result ", k, " is ", claimed.ToString(),
                           ", it is ", shapes[k].ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLimits(const Module& module, const ModuleLimits& limits) {
  const int64_t computations = module.computations().size();
  if (computations > limits.computations) {
    return TooMany("computations", computations, limits.computations);
  }
  const int64_t instructions = module.num_instructions();
  if (instructions > limits.instructions) {
    return TooMany("instructions", instructions, limits.instructions);
  }
  int64_t operands = 0;
  int64_t constant_bytes = 0;
  std::vector<int> depth(computations, 1);
  for (int64_t n = 0; n < computations; ++n) {
    const Computation& c = module.computation(n);
    for (const Instruction& i : c.instructions()) {
      operands += i.operands.size();
      for (int callee : i.called) {
        depth[n] = std::max(depth[n], depth[callee] + 1);
      }
      if (i.op == &kConstant) {
        constant_bytes += c.shape(i.first_result).byte_size();
      }
      for (int k = 0; k < i.num_results; ++k) {
        const Shape& shape = c.shape(i.first_result + k);
        if (shape.num_elements() > limits.elements) {
          return ResourceExhausted("computation ", c.name(), ", ",
                                   i.op->name, " %", i.first_result + k, ": ",
                                   shape.ToString(), " has more than ",
                                   limits.elements, " elements");
        }
      }
    }
    if (depth[n] > limits.nesting) {
      return TooMany("levels of nested computations", depth[n],
                     limits.nesting);
    }
  }
  if (operands > limits.operands) {
    return TooMany("operands", operands, limits.operands);
  }
  if (constant_bytes > limits.constant_bytes) {
    return TooMany("bytes of constants", constant_bytes,
                   limits.constant_bytes);
  }
  return absl::OkStatus();
}

absl::Status Verify(const Module& module, const ModuleLimits& limits) {
  if (module.empty()) return InvalidArgument("module has no computation");
  HAWSER_RETURN_IF_ERROR(CheckCalls(module));
  HAWSER_RETURN_IF_ERROR(CheckLimits(module, limits));
  for (const Computation& c : module.computations()) {
    for (size_t i = 0; i < c.instructions().size(); ++i) {
      const absl::Status status = CheckClaims(module, c, c.instructions()[i]);
      if (!status.ok()) return At(c, i, status);
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser
