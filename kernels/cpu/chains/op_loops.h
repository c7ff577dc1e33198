// FindLoop: an elementwise op alone over lanes, by the functions of chains.
#ifndef HAWSER_KERNELS_CPU_CHAINS_OP_LOOPS_H_
#define HAWSER_KERNELS_CPU_CHAINS_OP_LOOPS_H_

#include "core/ir/op_def.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// The op's loop over lanes in memory, for what is no link of a chain: ops whose
// loops are faster alone, single elements, bodies of folds, and integers of 1
// and 2 bytes, whose vectors have more lanes than those of a chain. Null: there
// is none for these dtypes. Its results are those of the row's element loop,
// bit for bit, where the op's row promises bits.
ElementFn FindLoop(const OpDef& op, const ElementTypes& types, Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CHAINS_OP_LOOPS_H_
