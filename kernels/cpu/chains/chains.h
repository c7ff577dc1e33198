// Chains: several elementwise ops in one pass over their lanes.
//
// A chain is a program for a small machine. The machine has two vector
// registers, `a` and `h`, of 4 machine vectors each; a mask `m` with a truth
// for each of their lanes; and 16 spill slots in memory (chain_writer.h). An
// instruction, here a link, is an op and where its operand `b` is. Each link is
// a template, compiled for each instruction set, that ends in a tail call of
// the next link, with a and h as its arguments: so values stay in registers
// from op to op, and only loads and stores touch memory. ChainWriter makes the
// program: it orders the ops, chooses by cost on which operand each one runs,
// and spills values that find no register.
//
// tanh(x * 2 + y) of f32 is this chain:
//
//   kLoad       kLanes      a = x, the lanes of a strip
//   kMultiply   kBroadcast  a = a * 2; memory has one 2.0f for all lanes
//   kAdd        kLanes      a = a + y
//   kTanh       kNone       a = tanh(a)
//   kStore      kLanes      memory = a
//   kEnd                    returns; RunChain begins the next strip
//
// If tanh(s) * s is wanted of s = x * 2 + y, kCopyToH before kTanh saves s in
// h, and kMultiply by kH reads it.
#ifndef HAWSER_KERNELS_CPU_CHAINS_CHAINS_H_
#define HAWSER_KERNELS_CPU_CHAINS_CHAINS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kernels/cpu/lanes/lanes.h"

namespace hawser::cpu {

// `a` and `h` are vector registers, `m` is a mask with a truth for each lane,
// and `b` is the operand that ChainOperand names. Lanes have 4 or 8 bytes: they
// are floats of that width, and for the ops named Int and Uint integers. A mask
// is bool in memory. chain_ops.def says what each op does.
enum class ChainOp : uint8_t {
#define HAWSER_CHAIN_OP(Name, ...) k##Name,
#define HAWSER_CHAIN_F32(Name, ...) k##Name,
#define HAWSER_CHAIN_INT(Name, ...) k##Name,
#define HAWSER_CHAIN_FUNCTION(Name, ...) k##Name,
#define HAWSER_CHAIN_MASK(Name, ...) k##Name,
#define HAWSER_CHAIN_LINK(Name) k##Name,
#include "kernels/cpu/chains/chain_ops.def"
};
inline constexpr int kChainOps = 0
#define HAWSER_CHAIN_OP(Name, ...) +1
#define HAWSER_CHAIN_F32(Name, ...) +1
#define HAWSER_CHAIN_INT(Name, ...) +1
#define HAWSER_CHAIN_FUNCTION(Name, ...) +1
#define HAWSER_CHAIN_MASK(Name, ...) +1
#define HAWSER_CHAIN_LINK(Name) +1
#include "kernels/cpu/chains/chain_ops.def"
    ;

// The source of a link's operand `b`.
enum class ChainOperand : uint8_t {
  kNone,       // there is no b
  kLanes,      // memory has a b for each lane
  kBroadcast,  // memory has one element, which is b for all lanes
  kA,          // b = a
  kH,          // b = h
  kIntoH,      // h = h op a, and a stays; for the ops that CanWriteH names
};
inline constexpr int kChainOperands =
    static_cast<int>(ChainOperand::kIntoH) + 1;

// A link that runs. Chains::find fills `run`, `bytes` and `stores`.
struct ChainLink {
  // Runs the op on one strip of lanes, then tail-calls the next link's. Null:
  // there is no such link.
  void (*run)() = nullptr;
  char* at = nullptr;  // kLanes, kBroadcast: the address of b
  // kLanes: the bytes of a lane in memory; `stores`: the link writes it.
  int8_t bytes = 0;
  bool stores = false;
  // kLanes: `at` is a spill slot of kStripBytes, which each strip uses again.
  bool is_spill = false;
  bool reloads = false;  // kLanes: an earlier link stores what this one reads
  // kStore: a streaming store, past the caches. Other threads see it after
  // FlushStream.
  bool is_streamed = false;
};

// A chain runs over its lanes a strip at a time: at most so many bytes of them,
// which fill register a.
inline constexpr int64_t kStripBytes = 256;

// The links for lanes of one width, compiled for one instruction set. Some sets
// lack the links for f16.
struct Chains {
  ChainLink (*find)(ChainOp op, ChainOperand b);
  int64_t lanes;  // of a strip
  // Runs `links` over lanes [first, first + n); n is a multiple of `lanes`.
  void (*run)(const ChainLink* links, int64_t first, int64_t n);
};
// `width`: bytes of a lane. Null: there are no such chains.
const Chains* FindChains(int64_t width, Isa isa);
// Runs `links`, of which the last is kEnd, over n lanes. A store may write over
// memory that no later link reads.
void RunChain(const Chains& chains, absl::Span<const ChainLink> links,
              int64_t n);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CHAINS_CHAINS_H_
