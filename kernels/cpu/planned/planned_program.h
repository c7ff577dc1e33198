// PlannedProgram: a module planned for this machine, ready to run.
#ifndef HAWSER_KERNELS_CPU_PLANNED_PLANNED_PROGRAM_H_
#define HAWSER_KERNELS_CPU_PLANNED_PLANNED_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/planned/product_tail.h"
#include "kernels/cpu/program.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/steps/steps.h"

namespace hawser::cpu {

// A region and where its values are.
struct RegionWork {
  int number = 0;                        // of the program's works
  int computation = 0, instruction = 0;  // of the planned module
  absl::InlinedVector<plan::Slot, 4> operands;
  absl::InlinedVector<plan::Slot, 1> results;
  int64_t bytes = 0;  // read and written
  int64_t lanes = 0;  // elementary operations
  double steps = 0;   // about how long it takes on one thread
};
// Equal regions have one.
using TileProgramPtr = std::shared_ptr<const TileProgram>;
// A region that runs by tiles.
struct TileWork : RegionWork {
  TileProgramPtr program;
};
using ProductTailPtr = std::shared_ptr<const ProductTail>;
// A product, and its tail by tiles.
struct ProductWork : RegionWork {
  ProductTailPtr tail;
};
// A counted loop around a region of tiles without folds: boxes of the region's
// loops take `iterations` iterations each, then the next ones (boxed_loops.h).
struct LoopWork : RegionWork {
  TileProgramPtr program;  // that takes boxes
  int64_t trips = 0, iterations = 0;
  int64_t box_iterations = 0;  // of the region's loops: about so many are a box
  // The other steps of an iteration, on numbers that the region does not make.
  plan::Steps before, after;
  // Operands that these change.
  absl::InlinedVector<int, 2> changing;
};
// An instruction that runs by the row of its op. The row may write over an
// operand whose memory the first result has.
struct RowWork : RegionWork {
  ValueUse use;
  // The row's instruction: the region's, or the one inside its fusion.
  int row_computation = 0, row_instruction = 0;
  // Operands that are constants of the fusion; of others nothing.
  absl::InlinedVector<std::optional<Literal>, 4> constants;
};
using Work = std::variant<TileWork, ProductWork, LoopWork, RowWork>;

// Immutable and thread-safe; runs may overlap.
class PlannedProgram {
 public:
  // `module`: verified. Errors: kUnimplemented naming an op without a row.
  static absl::StatusOr<PlannedProgram> Make(const Module& module,
                                             runtime::Numerics numerics);

  // Arguments must have the parameters' shapes. One without another holder may
  // become a result's memory. Errors: what rows say, naming the instruction;
  // kResourceExhausted; what the environment's token says, as it is.
  absl::StatusOr<std::vector<Literal>> Run(
      std::vector<Literal> arguments, const Environment& environment) const;

  // About how many steps one run takes on one thread; infinite with a loop
  // whose iterations are not known.
  double cost() const { return StepsOf(steps_.steps); }
  // The planned module.
  const Module& module() const { return plan_->module; }
  // Describes the program in lines: how each region runs, then its loops and
  // bytes as plan::Explain says them.
  std::string Explain() const;

 private:
  struct Line {
    alignas(64) char bytes[64];
  };

  double StepsOf(const plan::Steps& steps) const;
  // "instruction %3 (add)": the one that makes a result.
  std::string MakerOf(size_t result) const;
  // How the region runs, in words.
  std::string Described(const TileWork& work) const;
  std::string Described(const ProductWork& work) const;
  std::string Described(const LoopWork& work) const;
  std::string Described(const RowWork& work) const;
  // Memory for the results that are no other value's: new, or an argument's.
  absl::StatusOr<std::vector<Literal>> OwnResults(
      std::vector<Literal>& arguments, const Environment& environment) const;

  std::unique_ptr<const plan::Plan> plan_;  // rows_ points into it
  CpuProgram rows_;
  plan::StepProgram steps_;
  std::vector<Work> works_;
  std::vector<Line> constants_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PLANNED_PLANNED_PROGRAM_H_
