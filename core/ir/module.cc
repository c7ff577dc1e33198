#include "core/ir/module.h"

#include <algorithm>

#include "core/base/status.h"
#include "core/ir/leaves.h"

namespace hawser {

Signature Computation::signature() const {
  Signature s;
  s.parameters.reserve(num_parameters_);
  s.results.reserve(results_.size());
  for (int i = 0; i < num_parameters_; ++i) {
    s.parameters.push_back(values_[i].shape);
  }
  for (ValueId r : results_) s.results.push_back(values_[r].shape);
  return s;
}

absl::StatusOr<ValueId> Computation::Append(
    const Module& module, const OpDef& op, absl::Span<const ValueId> operands,
    Attributes attributes, absl::Span<const int> called) {
  absl::InlinedVector<Shape, 4> shapes;
  shapes.reserve(operands.size());
  for (ValueId v : operands) {
    if (v < 0 || v >= num_values()) {
      return InvalidArgument(op.name, ": operand ", v,
                             " is not one of the ", num_values(),
                             " values before it");
    }
    shapes.push_back(values_[v].shape);
  }
  absl::InlinedVector<const Signature*, 2> signatures;
  for (int c : called) {
    if (c < 0 || c >= static_cast<int>(module.computations().size())) {
      return InvalidArgument(op.name, ": called computation ", c,
                             " is not one of the ",
                             module.computations().size(), " before it");
    }
    signatures.push_back(&module.signature(c));
  }
  if (&op == &kParameter) {
    if (!late_parameters_ &&
        num_parameters_ != static_cast<int>(instructions_.size())) {
      return InvalidArgument("parameter: stands behind another instruction");
    }
    ++num_parameters_;
  }
  auto results = InferShapes({op, shapes, attributes, signatures});
  if (!results.ok()) {
    if (&op == &kParameter) --num_parameters_;
    return results.status();
  }
  Instruction instruction;
  instruction.op = &op;
  instruction.operands.assign(operands.begin(), operands.end());
  instruction.attributes = std::move(attributes);
  instruction.called.assign(called.begin(), called.end());
  instruction.first_result = num_values();
  instruction.num_results = static_cast<int>(results->size());
  const int index = static_cast<int>(instructions_.size());
  for (Shape& shape : *results) values_.push_back({std::move(shape), index});
  instructions_.push_back(std::move(instruction));
  return instructions_.back().first_result;
}

absl::Status Computation::SetResults(absl::Span<const ValueId> results) {
  for (ValueId v : results) {
    if (v < 0 || v >= num_values()) {
      return InvalidArgument("computation ", name_, " returns value ", v,
                             " but has ", num_values());
    }
  }
  results_.assign(results.begin(), results.end());
  return absl::OkStatus();
}

int64_t Module::num_instructions() const {
  int64_t n = 0;
  for (const Computation& c : computations_) n += c.instructions().size();
  return n;
}

int Module::opset() const {
  int since = 1;
  for (const Computation& c : computations_) {
    for (const Instruction& i : c.instructions()) {
      since = std::max(since, i.op->since);
    }
  }
  return since;
}

int Module::Add(Computation computation) {
  signatures_.push_back(computation.signature());
  computations_.push_back(std::move(computation));
  return static_cast<int>(computations_.size()) - 1;
}

}  // namespace hawser
