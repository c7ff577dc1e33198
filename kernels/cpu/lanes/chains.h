// Chains: elementwise ops on lanes that stay in registers, each on what the one
// before it left.
#ifndef HAWSER_KERNELS_CPU_LANES_CHAINS_H_
#define HAWSER_KERNELS_CPU_LANES_CHAINS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/ir/op_def.h"
#include "kernels/cpu/lanes/lanes.h"

namespace hawser::cpu {

// What is done with the chain's lanes `a` and others `b`.
enum class ChainOp : uint8_t {
  kEnd,      // of the chain
  kEndPast,  // likewise; its lanes go past the caches
  kKeep,     // b becomes a: where it is kept for others
  // Of two numbers.
  kPlus,
  kMinus,
  kMinusFrom,  // b - a
  kTimes,
  kOver,
  kUnder,  // b / a
  kLarger,
  kSmaller,
  // Of a alone.
  kNegative,
  kMagnitude,
  kSign,
  kSquareRoot,
  kInverseRoot,
  kDown,
  kUp,
  kEven,
  kExp,
  kLog,
  kTanh,
  kLogistic,
};

// What `b` is.
enum class ChainOther : uint8_t {
  kNone,
  kLanes,   // as many lanes
  kOne,     // one element, for all lanes
  kItself,  // a
};

struct ChainLink {
  ChainOp op = ChainOp::kEnd;
  ChainOther other = ChainOther::kNone;
  char* at = nullptr;  // kLanes, kOne, kKeep: where b is
};

// `links`: the last is an end; behind kEndPast another thread reads only after
// FlushStream. Lanes of `out` may be where those of `in` and of
// others are; what is kept lies apart.
using ChainFn = void (*)(const char* in, const ChainLink* links, char* out,
                         int64_t n);
// Null: there are no chains of that dtype.
ChainFn FindChain(DType dtype, Isa isa);

// An elementwise op as links on one of its operands.
struct ChainRow {
  struct Link {
    ChainOp op = ChainOp::kEnd;
    int operand = -1;  // what `b` is; -1: kNone
  };
  const OpDef* op;
  int operand;  // what `a` is
  Link links[2];
  bool f32_only = false;
};
absl::Span<const ChainRow> ChainRows();

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANES_CHAINS_H_
