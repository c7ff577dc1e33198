// ScatterRows: a scatter as rows: which place each index vector names, and what
// it brings there.
#ifndef HAWSER_CORE_OPS_SCATTERS_SCATTER_ROWS_H_
#define HAWSER_CORE_OPS_SCATTERS_SCATTER_ROWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser {

// Indices as s64. Those of u64 that no axis has, nor one with a window after
// it, stay outside instead of coming round to negative ones.
Expression SignedIndices(const Expression& indices);

// A computation of one running value: a monoid, or, where that is nullptr, one
// that takes the update.
struct Fold {
  const OpDef* monoid = nullptr;
};
// Returns nullopt for a computation that does something else.
std::optional<Fold> FoldOf(const Computation& computation);

// The number of index vectors of a scatter.
int64_t VectorsOf(const Instruction& scatter, const Shape& indices);

// The size of a scatter's windows along each axis of its input.
Dims WindowSizes(const Instruction& scatter, const Shape& input,
                 const Shape& updates);

// Reads a scatter whose operands are expressions. The instruction outlives it.
struct ScatterRows {
  ScatterRows(const Instruction& scatter,
              const std::vector<Expression>& operands);

  Module* module() const { return scope->builder.module(); }
  // Index vectors as rows: s64[vectors, components].
  Expression Starts() const;
  // For each row of starts the position that it names, s64[vectors], counted
  // along the axes of `map`; rows outside name one after all.
  Expression Places(const Expression& starts) const;
  // The number of those positions.
  int64_t num_places() const;
  // Updates k as rows, one to each index vector: [vectors, width].
  Expression Updates(size_t k) const;

  const Instruction& i;
  const size_t n;  // inputs
  const std::vector<Expression> inputs;
  const Expression indices;
  const std::vector<Expression> updates;
  ExpressionScope* const scope;
  const Dims map, inserted, window;  // the attributes
  const int64_t vectors;
};

// s64[count]: 0, 1, 2, ...
Expression Counted(ExpressionScope* scope, int64_t count, DType dtype);
// Rows `at` of a matrix.
Expression RowsAt(const Expression& matrix, const Expression& at);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_SCATTERS_SCATTER_ROWS_H_
