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

// An elementwise op as links on one of its operands, which a or m has. A link
// of kLoadMask stands first.
struct ChainRow {
  enum Of : uint8_t {
    kFloats,   // kSingles and f64
    kSingles,  // f32, and halves, which are computed as such
    kF32,
    kF64,
    kHalves,
    kSignedInts,    // s32, s64
    kUnsignedInts,  // u32, u64
    kInts,          // both
    kNumbers,       // kFloats and kInts
    kBits,          // kNumbers but for halves
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
  Of of = kFloats;  // that operand
  Of to = of;       // the result: a dtype of `of` is the operand's
  // kCompare: which one.
  CompareDirection direction = CompareDirection::kEq;
  // The op begins no chain, since alone its loop is faster, but joins one that
  // makes an operand.
  bool joins = false;
};
absl::Span<const ChainRow> ChainRows();
absl::Span<const ChainRow> ChainRowsOf(const OpDef& op);
// True if the chains have the row's links. A library that some of them call may
// be absent.
bool HasLinks(const ChainRow& row, const Chains& chains);
// True if a row whose result is a half leaves an f32 that is yet to be rounded.
bool Rounds(const ChainRow& row);
// True for the ops that have a link of kIntoH: they may write h instead of a.
bool CanWriteH(ChainOp op);
bool IsHalfType(DType dtype);
// Bytes of a lane in a chain: halves are f32 there.
int64_t LaneBytes(DType dtype);
// Loads halves as f32.
inline constexpr ChainRow kWidenRow = {
    &kConvert, 0, {}, ChainRow::kHalves, ChainRow::kF32};
// True if the row computes its op on such an operand, result and attributes.
bool IsOf(const ChainRow& row, DType operand, DType result,
          const Attributes& attributes);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CHAINS_CHAIN_ROWS_H_
