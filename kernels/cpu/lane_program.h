// LaneProgram: a called computation over scalars, run over many lanes at once
// with the element loops of its ops, without a value made per element.
#ifndef HAWSER_KERNELS_CPU_LANE_PROGRAM_H_
#define HAWSER_KERNELS_CPU_LANE_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/ir/module.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// Steps of making a scalar of one element, for bodies that are no LaneProgram.
inline constexpr double kScalarSteps = 128;

// Each value of the computation is a column of lanes. Not thread-safe: one per
// thread, copies are cheap for small bodies.
class LaneProgram {
 public:
  // Nothing when an op of the computation has no element loop or a value is no
  // scalar; such bodies go through the evaluator.
  static std::optional<LaneProgram> Make(const Computation& computation);

  // How many lanes a column has: fewer for bodies with very many values.
  int64_t lanes() const { return lanes_; }
  // What one lane costs, with the moves into its columns and out of them.
  double cost() const { return cost_; }

  // When the program is one step from parameters 0 and 1, in this order, to the
  // only result: its loop. Else nullptr.
  ElementFn OnlyStep() const;
  // The value of result i; a parameter when it is passed on.
  int result_value(int i) const { return results_[i]; }

  // Room for columns; before the first Run, once per copy.
  void Allocate();
  // The column of parameter i, to be filled; of result i, after Run.
  char* parameter(int i) { return Column(i); }
  const char* result(int i) { return Column(results_[i]); }
  // Runs lanes 0..n-1. Parameters keep their values. Errors: the meter's.
  absl::Status Run(int64_t n, WorkMeter* meter);

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
  char* Column(int i) {
    return reinterpret_cast<char*>(columns_.data()) + i * column_bytes_;
  }

  int64_t lanes_ = 0;
  double cost_ = 0;
  int64_t column_bytes_ = 0;
  int num_columns_ = 0;
  std::vector<Step> steps_;
  std::vector<ConstantColumn> constants_;
  std::vector<int> results_;
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> columns_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANE_PROGRAM_H_
