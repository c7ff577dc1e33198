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

absl::Status VerifyInstruction(const Module& module, int computation,
                               const Computation& c, int index,
                               ValueId next_value) {
  const Instruction& i = c.instructions()[index];
  if (i.first_result != next_value) {
    return InvalidArgument("results start at ", i.first_result,
                           ", the next free number is ", next_value);
  }
  if ((i.op == &kParameter) != (index < c.num_parameters())) {
    return InvalidArgument("parameters do not come first");
  }
  absl::InlinedVector<Shape, 4> operands;
  for (ValueId v : i.operands) {
    if (v < 0 || v >= i.first_result) {
      return InvalidArgument("operand ", v, " is not a smaller number than ",
                             i.first_result);
    }
    operands.push_back(c.shape(v));
  }
  absl::InlinedVector<const Signature*, 2> called;
  for (int callee : i.called) {
    if (callee < 0 || callee >= computation) {
      return InvalidArgument("calls computation ", callee,
                             ", which is not a smaller index");
    }
    called.push_back(&module.signature(callee));
  }
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
      if (i.op == &kConstant) constant_bytes += c.shape(i.first_result).byte_size();
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
  HAWSER_RETURN_IF_ERROR(CheckLimits(module, limits));
  const int computations = static_cast<int>(module.computations().size());
  for (int n = 0; n < computations; ++n) {
    const Computation& c = module.computation(n);
    ValueId next_value = 0;
    for (size_t i = 0; i < c.instructions().size(); ++i) {
      absl::Status status = VerifyInstruction(module, n, c,
                                              static_cast<int>(i), next_value);
      if (!status.ok()) {
        return Annotate(status, absl::StrCat("computation ", c.name(),
                                             ", instruction ", i, " (",
                                             c.instructions()[i].op->name,
                                             ")"));
      }
      next_value += c.instructions()[i].num_results;
    }
    for (ValueId r : c.results()) {
      if (r < 0 || r >= c.num_values()) {
        return InvalidArgument("computation ", c.name(), " returns value ", r);
      }
    }
    if (!(c.signature() == module.signature(n))) {
      return InvalidArgument("computation ", c.name(),
                             " does not have its signature");
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser
