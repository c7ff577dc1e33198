// ChainRow: elementwise ops as links of chains.
#ifndef HAWSER_KERNELS_CPU_CHAINS_CHAIN_ROWS_H_
#define HAWSER_KERNELS_CPU_CHAINS_CHAIN_ROWS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/ir/attributes.h"
#include "core/ir/op_def.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "kernels/cpu/chains/chains.h"

namespace hawser::cpu {

// An elementwise op as links on one of its operands, those of kTakeBools first.
struct ChainRow {
  enum Of : uint8_t {
    kReals,    // kSingles and f64
    kSingles,  // f32, and halves, which are computed as such
    kF32,
    kHalves,
    kWholes,   // s32, s64
    kWords,    // u32, u64 too
    kNumbers,  // kReals and kWords
    kBits,     // kNumbers but for halves
    kBools,
    kBytes,  // u8; only the first of a chain
  };
  struct Link {
    ChainOp op = ChainOp::kEnd;
    int operand = -1;  // what `b` is; -1: kNone
  };
  const OpDef* op;
  int operand;  // what the chain has
  Link links[2];
  Of of = kReals;  // that operand
  Of to = of;      // the result: a dtype of `of` is the operand's
  // kCompare: which one.
  CompareDirection direction = CompareDirection::kEq;
};
absl::Span<const ChainRow> ChainRows();
absl::Span<const ChainRow> ChainRowsOf(const OpDef& op);
// Whether what the row gives is not yet a half, where its result is one.
bool Rounds(const ChainRow& row);
// Whether the op has a link of kToHeld.
bool GoesToHeld(ChainOp op);
bool IsHalfType(DType dtype);
// Of a lane while a chain has it.
int64_t LaneBytes(DType dtype);
// Halves taken as f32.
inline constexpr ChainRow kWidenRow = {
    &kConvert, 0, {}, ChainRow::kHalves, ChainRow::kF32};
// Whether the row is of such an operand and result, with attributes as these.
bool IsOf(const ChainRow& row, DType operand, DType result,
          const Attributes& attributes);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CHAINS_CHAIN_ROWS_H_
