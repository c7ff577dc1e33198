// Body: the values of one function or region while its ops are lowered.
#ifndef HAWSER_CLIENT_STABLEHLO_BODY_BODY_H_
#define HAWSER_CLIENT_STABLEHLO_BODY_BODY_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/stablehlo/body/program.h"
#include "client/stablehlo/body/row.h"
#include "client/stablehlo/tree/tree.h"
#include "core/ir/builder.h"

namespace hawser::stablehlo {

// Names and what they stand for in a builder, which a function that is called
// shares with its caller, and which a region has for itself.
class Body {
 public:
  // Both outlive it.
  Body(Program* program, ComputationBuilder* builder)
      : program_(*program), builder_(*builder) {}

  ComputationBuilder& builder() const { return builder_; }

  // Errors: kInvalidArgument for a name that is taken.
  absl::Status Bind(absl::string_view name, absl::Span<const ValueId> values);
  // Errors: kInvalidArgument for a name that is not known, or not yet.
  absl::StatusOr<ValueId> Find(const Operand& operand) const;
  // Lowers the ops and gives what the last one returns.
  absl::StatusOr<Values> Lower(const Region& region);
  // The value that an op stands for which gives an array of a dataset.
  absl::StatusOr<ValueId> ArrayOf(const Op& op);

 private:
  absl::Status LowerOp(const Op& op);
  absl::StatusOr<Values> OperandsOf(const Op& op) const;

  struct Pack {
    uint32_t first = 0;
    uint32_t count = 0;
  };
  Program& program_;
  ComputationBuilder& builder_;
  absl::flat_hash_map<absl::string_view, Pack> packs_;
  std::vector<ValueId> values_;
};

// The shape that a type names. Errors: kInvalidArgument for sizes that no shape
// has; kUnimplemented for another type, dynamic sizes, an unknown dtype.
absl::StatusOr<Shape> ShapeOf(const Type& type);

// Values of `outer` that regions take along when they become computations.
struct Captures {
  std::vector<Operand> constants;  // copied into each
  std::vector<Operand> lifted;     // parameters after the others
  std::vector<const Op*> arrays;   // of datasets: parameters after those
  Values values;                   // of those that are lifted, and the arrays
};
// Returns what any of the regions captures; arrays of datasets become values of
// `outer`.
absl::StatusOr<Captures> CapturesOf(Program& program, Body& outer,
                                    absl::Span<const Region> regions);
// Adds a region to the module as a computation and gives its number.
absl::StatusOr<int> AddComputation(Program& program, Body& outer,
                                   const Region& region,
                                   const Captures& captures,
                                   absl::string_view name);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_BODY_BODY_H_
