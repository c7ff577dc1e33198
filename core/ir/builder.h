// ComputationBuilder: grows one computation, keeping the first error.
#ifndef HAWSER_CORE_IR_BUILDER_H_
#define HAWSER_CORE_IR_BUILDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/leaves.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"

namespace hawser {

// After the first error every call returns kNoValue and changes nothing;
// status() and Finish() give that error with op, shapes, constraint and the
// user's file:line. Called computations must be finished into the same module
// before they are called. Not thread-safe.
class ComputationBuilder {
 public:
  ComputationBuilder(Module* module, std::string name)
      : module_(module), computation_(std::move(name)) {
    computation_.late_parameters_ = true;
  }

  // Room for about so much; a long computation is not moved as it grows.
  void Reserve(size_t instructions, size_t values) {
    computation_.Reserve(instructions, values);
    locations_.reserve(instructions);
  }
  // A new parameter, numbered by the order of these calls; may be called at
  // any time (Finish moves parameters to the front).
  ValueId Parameter(const Shape& shape,
                    SourceLocation where = SourceLocation::Current());
  // Adds an instruction; returns the first of its consecutive results.
  ValueId Add(const OpDef& op, absl::Span<const ValueId> operands,
              Attributes attributes = {}, absl::Span<const int> called = {},
              SourceLocation where = SourceLocation::Current());
  ValueId Constant(Literal value,
                   SourceLocation where = SourceLocation::Current());

  const Shape& shape(ValueId value) const { return computation_.shape(value); }
  int num_parameters() const { return computation_.num_parameters(); }
  Module* module() const { return module_; }
  const Computation& computation() const { return computation_; }
  // The places where each instruction was made, in the computation's order.
  // They stay in this process: no part of the graph.
  absl::Span<const SourceLocation> locations() const { return locations_; }
  const absl::Status& status() const { return status_; }
  // Keeps `status` as the error unless there is one already.
  void Fail(const absl::Status& status, SourceLocation where);

  // Adds the computation to the module and returns its index there. Call it
  // once.
  absl::StatusOr<int> Finish(absl::Span<const ValueId> results);

 private:
  Module* module_;
  Computation computation_;
  std::vector<SourceLocation> locations_;
  absl::Status status_;  // the first error
};

}  // namespace hawser
#endif  // HAWSER_CORE_IR_BUILDER_H_
