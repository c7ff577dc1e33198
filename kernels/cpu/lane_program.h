// LaneProgram: a called computation over scalars, run over many lanes at once
// with the element loops of its ops, without a value made per element.
#ifndef HAWSER_KERNELS_CPU_LANE_PROGRAM_H_
#define HAWSER_KERNELS_CPU_LANE_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "core/ir/module.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// Steps of making a scalar of one element, for bodies that are no LaneProgram.
inline constexpr double kScalarSteps = 128;

// The memory for the lanes of a LaneProgram's values. Not thread-safe: each
// thread has its own, which may serve one program after the other and keeps its
// memory.
class LaneColumns {
 public:
  // Memory for lanes of value `i`.
  char* own(int i) {
    return reinterpret_cast<char*>(memory_.data()) + i * column_bytes_;
  }
  // Parameter `i` is read there from now on.
  void Read(int i, const char* lanes) { at_[i] = lanes; }
  // The lanes of value `i`.
  const char* at(int i) const { return at_[i]; }

 private:
  friend class LaneProgram;
  struct alignas(64) Line {
    char bytes[64];
  };

  int64_t column_bytes_ = 0;
  std::vector<Line> memory_;
  std::vector<const char*> at_;
};

// Each value of the computation is a column of lanes. Immutable and
// thread-safe.
class LaneProgram {
 public:
  // The loop of an op for these types; nullptr: there is none.
  using FindLoop =
      absl::FunctionRef<ElementFn(const OpDef& op, const ElementTypes& types)>;
  static ElementFn LoopOfRow(const OpDef& op, const ElementTypes& types);

  // Nothing when an op of the computation has no loop or a value is no scalar;
  // such bodies go through the evaluator.
  static std::optional<LaneProgram> Make(const Computation& computation,
                                         FindLoop find = LoopOfRow);

  // How many lanes a column has: fewer for bodies with very many values.
  int64_t lanes() const { return lanes_; }
  // The cost of a lane, with the moves into its columns and out of them.
  double cost() const { return cost_; }

  // When the program is one step from parameters 0 and 1, in this order, to the
  // only result: its loop. Other programs have none: nullptr.
  ElementFn OnlyStep() const;
  // The value of result i; a parameter when it is passed on.
  int result_value(int i) const { return results_[i]; }

  // Makes columns for this program: parameters are in their own.
  void Prepare(LaneColumns& columns) const;
  // Runs lanes 0..n-1 of prepared columns. Parameters keep their values.
  // Errors: the meter's; null: the caller tells one what lanes cost.
  absl::Status Run(int64_t n, LaneColumns& columns, WorkMeter* meter) const;

 private:
  struct Step {
    ElementFn fn;
    absl::InlinedVector<int, 3> operands;
    int result;
    double cost;  // of a lane
  };
  struct ConstantColumn {
    int column;
    Literal value;
  };

  LaneProgram() = default;

  int64_t lanes_ = 0;
  double cost_ = 0;
  int num_columns_ = 0;
  std::vector<Step> steps_;
  std::vector<ConstantColumn> constants_;
  std::vector<int> results_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANE_PROGRAM_H_
