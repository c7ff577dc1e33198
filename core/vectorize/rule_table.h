// The table of batch rules: a row for each op.
#ifndef HAWSER_CORE_VECTORIZE_RULE_TABLE_H_
#define HAWSER_CORE_VECTORIZE_RULE_TABLE_H_

#include "core/ir/op_def.h"
#include "core/vectorize/batch_rule.h"

namespace hawser::vectorize {

// Elementwise ops share a row, and so do those without operands, which nothing
// batched ever reaches. nullptr: the op has none, which the test of this table
// complains of.
const BatchRow* FindBatchRow(const OpDef& op);

}  // namespace hawser::vectorize
#endif  // HAWSER_CORE_VECTORIZE_RULE_TABLE_H_
