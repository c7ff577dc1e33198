// The loops of one set of instructions after the other; loops.cc is compiled
// for each. Everything else uses lanes.h.
#ifndef HAWSER_KERNELS_CPU_LANES_LOOPS_H_
#define HAWSER_KERNELS_CPU_LANES_LOOPS_H_

#include "core/ir/op_def.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// Null: there is none.
using FindLoopFn = ElementFn (*)(const OpDef& op, const ElementTypes& types);

// Null: nothing is compiled for it here.
FindLoopFn Sse4Loops();
FindLoopFn Avx2Loops();
FindLoopFn Avx512Loops();

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANES_LOOPS_H_
