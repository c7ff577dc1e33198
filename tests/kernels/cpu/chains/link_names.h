// LinkName: a link of a chain in words, for tests that say which there are.
#ifndef HAWSER_TESTS_KERNELS_CPU_CHAINS_LINK_NAMES_H_
#define HAWSER_TESTS_KERNELS_CPU_CHAINS_LINK_NAMES_H_

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "kernels/cpu/chains/chains.h"

namespace hawser::cpu {

// Of the ops that tests of links have.
inline const std::map<ChainOp, const char*>& NamesOfOps() {
  static const auto& names = *new std::map<ChainOp, const char*>{
      {ChainOp::kLoad, "load"},
      {ChainOp::kLoadMask, "load mask"},
      {ChainOp::kLoadU8, "load u8"},
      {ChainOp::kLoadBf16, "load bf16"},
      {ChainOp::kLoadF16, "load f16"},
      {ChainOp::kIota, "iota"},
      {ChainOp::kCopyToH, "copy to h"},
      {ChainOp::kSwap, "swap"},
      {ChainOp::kStore, "store"},
      {ChainOp::kStoreMask, "store mask"},
      {ChainOp::kStoreBf16, "store bf16"},
      {ChainOp::kStoreF16, "store f16"},
      {ChainOp::kAdd, "add"},
      {ChainOp::kSubtract, "subtract"},
      {ChainOp::kReverseSubtract, "reverse subtract"},
      {ChainOp::kMultiply, "multiply"},
      {ChainOp::kDivide, "divide"},
      {ChainOp::kReverseDivide, "reverse divide"},
      {ChainOp::kMax, "max"},
      {ChainOp::kMin, "min"},
      {ChainOp::kLess, "less"},
      {ChainOp::kGreater, "greater"},
      {ChainOp::kAnd, "and"},
      {ChainOp::kOr, "or"},
      {ChainOp::kBlendNot, "blend not"},
      {ChainOp::kBlend, "blend"},
      {ChainOp::kNot, "not"},
      {ChainOp::kMaskToFloat, "mask to float"},
      {ChainOp::kNegate, "negate"},
      {ChainOp::kFloor, "floor"},
      {ChainOp::kCeil, "ceil"},
      {ChainOp::kRotateLeft, "rotate left"},
      {ChainOp::kExp, "exp"},
      {ChainOp::kTanh, "tanh"},
      {ChainOp::kPrefetch, "prefetch"},
      {ChainOp::kIntAdd, "int add"},
      {ChainOp::kIntSubtract, "int subtract"},
      {ChainOp::kIntReverseSubtract, "int reverse subtract"},
      {ChainOp::kIntXor, "int xor"},
      {ChainOp::kIntToFloat, "int to float"},
      {ChainOp::kDivideByInverse, "divide by inverse"},
      {ChainOp::kXor, "xor"},
      {ChainOp::kSqrt, "sqrt"},
      {ChainOp::kRoundBf16, "round bf16"},
      {ChainOp::kRoundF16, "round f16"},
  };
  return names;
}

// "add", "add broadcast", "add $h": the op, and what its operand b is, unless
// there is none or it is lanes in memory. "$a" and "$h" are the registers.
inline std::string LinkName(ChainOp op, ChainOperand b) {
  const auto found = NamesOfOps().find(op);
  EXPECT_NE(found, NamesOfOps().end()) << static_cast<int>(op);
  std::string name = found == NamesOfOps().end() ? "?" : found->second;
  switch (b) {
    case ChainOperand::kNone:
    case ChainOperand::kLanes:
      break;
    case ChainOperand::kBroadcast:
      return name + " broadcast";
    case ChainOperand::kA:
      return name + " $a";
    case ChainOperand::kH:
      return name + " $h";
    case ChainOperand::kIntoH:
      return name + " into $h";
  }
  return name;
}

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_CHAINS_LINK_NAMES_H_
