// Module, Computation, Instruction: the graph. Values are plain numbers, so a
// graph copies, compares and serializes as columns of integers.
#ifndef HAWSER_CORE_IR_MODULE_H_
#define HAWSER_CORE_IR_MODULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/values/shape.h"
#include "core/ir/attributes.h"
#include "core/ir/op_def.h"
#include "core/ir/types/signature.h"

namespace hawser {

struct Instruction {
  const OpDef* op = nullptr;
  absl::InlinedVector<ValueId, 3> operands;  // all below first_result
  Attributes attributes;
  absl::InlinedVector<int, 1> called;  // computations of the same module
  ValueId first_result = 0;
  int num_results = 0;
};

using ir::Module;

// A closed function: parameters first, then instructions in an order in which
// every operand is a smaller number. Append is the only way to grow one, so
// every Computation is verified by construction.
class Computation {
 public:
  explicit Computation(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  int num_parameters() const { return num_parameters_; }
  absl::Span<const Instruction> instructions() const { return instructions_; }
  int num_values() const { return static_cast<int>(values_.size()); }
  const Shape& shape(ValueId value) const { return values_[value].shape; }
  // The instruction that makes `value`, as an index into instructions().
  int producer(ValueId value) const { return values_[value].instruction; }
  absl::Span<const ValueId> results() const { return results_; }
  Signature signature() const;

  // Room for what Append will add, where the counts are known or guessed.
  void Reserve(size_t instructions, size_t values) {
    instructions_.reserve(instructions);
    values_.reserve(values);
  }

  // Adds an instruction after inferring its shapes; returns its first result.
  // Errors (kInvalidArgument): an operand that is not a smaller number, a
  // called computation `module` does not hold, a parameter after another
  // instruction, whatever InferShapes says.
  absl::StatusOr<ValueId> Append(const Module& module, const OpDef& op,
                                 absl::Span<const ValueId> operands,
                                 Attributes attributes = {},
                                 absl::Span<const int> called = {});
  // Errors (kInvalidArgument): a result that is not a value.
  absl::Status SetResults(absl::Span<const ValueId> results);

 private:
  friend class ComputationBuilder;  // collects late parameters, then reorders
  struct Value {
    Shape shape;
    int instruction;
  };
  std::string name_;
  bool late_parameters_ = false;
  int num_parameters_ = 0;
  std::vector<Instruction> instructions_;
  std::vector<Value> values_;
  std::vector<ValueId> results_;
};

// Computations, callee before caller; the last one is the entry.
class ir::Module {
 public:
  explicit Module(std::string name = "") : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  absl::Span<const Computation> computations() const { return computations_; }
  const Computation& computation(int i) const { return computations_[i]; }
  const Signature& signature(int i) const { return signatures_[i]; }
  // Only when not empty().
  const Computation& entry() const { return computations_.back(); }
  const Signature& signature() const { return signatures_.back(); }
  bool empty() const { return computations_.empty(); }
  int64_t num_instructions() const;
  // The largest `since` of its ops: what a server must know to run it.
  int opset() const;

  // Takes a finished computation; returns its index.
  int Add(Computation computation);

 private:
  std::string name_;
  std::vector<Computation> computations_;
  std::vector<Signature> signatures_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_IR_MODULE_H_
