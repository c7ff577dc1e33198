// SplitContext is the input of a split rule. The rules stand in split_*.cc, one
// file a family; core/sharding calls them.
#ifndef HAWSER_CORE_OPS_PART_SPLIT_H_
#define HAWSER_CORE_OPS_PART_SPLIT_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"
#include "core/ops/part/part.h"

namespace hawser {

// An instruction, of whose operands some axes are cut that it contracts or
// addresses by values. A rule makes a partial result of each cell and combines
// them, in the order of the cells: the same elements as the instruction gives,
// but where floats are summed in another order.
struct SplitContext {
  ExpressionScope& scope;
  const Instruction& instruction;
  absl::Span<const Expression> operands;
  absl::Span<const int> called;  // as they are numbered in the scope's module
  // For each cell its box of each operand: whole but for the axes that are cut,
  // the product of whose parts the cells are, in row-major order.
  absl::Span<const std::vector<Box>> cells;

  // To fill. Each cell gives values of the sizes of the results, made of that
  // cell's parts of the operands alone.
  absl::Span<std::vector<Expression>> partials;
  // One per result. A rule that does not split this instruction, so cut, leaves
  // all of them as they are.
  absl::Span<Expression> results;

  // The operand's part of a cell.
  Expression Part(size_t cell, size_t operand) const {
    const Expression& whole = operands[operand];
    return SliceTo(whole, WholeBox(whole.shape()), cells[cell][operand]);
  }
  // Returns the index at which a cell begins on an axis of an operand: a
  // scalar, s64. It is no constant, so that parts made of cells of equal sizes
  // are one module.
  Expression BeginOf(size_t cell, size_t operand, int64_t axis) const;
};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_PART_SPLIT_H_
