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
      {ChainOp::kTake, "take"},
      {ChainOp::kTakeBools, "take bools"},
      {ChainOp::kTakeBytes, "take bytes"},
      {ChainOp::kTakeBf16, "take bf16"},
      {ChainOp::kTakeF16, "take f16"},
      {ChainOp::kCount, "count"},
      {ChainOp::kHold, "hold"},
      {ChainOp::kSwap, "swap"},
      {ChainOp::kGive, "give"},
      {ChainOp::kGiveBools, "give bools"},
      {ChainOp::kGiveBf16, "give bf16"},
      {ChainOp::kGiveF16, "give f16"},
      {ChainOp::kPlus, "plus"},
      {ChainOp::kMinus, "minus"},
      {ChainOp::kMinusFrom, "minus from"},
      {ChainOp::kTimes, "times"},
      {ChainOp::kOver, "over"},
      {ChainOp::kUnder, "under"},
      {ChainOp::kLarger, "larger"},
      {ChainOp::kSmaller, "smaller"},
      {ChainOp::kBelow, "below"},
      {ChainOp::kAbove, "above"},
      {ChainOp::kBoth, "both"},
      {ChainOp::kEither, "either"},
      {ChainOp::kElse, "else"},
      {ChainOp::kThen, "then"},
      {ChainOp::kNotSo, "not so"},
      {ChainOp::kOnes, "ones"},
      {ChainOp::kNegative, "negative"},
      {ChainOp::kDown, "down"},
      {ChainOp::kUp, "up"},
      {ChainOp::kTurned, "turned"},
      {ChainOp::kExp, "exp"},
      {ChainOp::kAhead, "ahead"},
      {ChainOp::kWholePlus, "whole plus"},
      {ChainOp::kWholeMinus, "whole minus"},
      {ChainOp::kWholeMinusFrom, "whole minus from"},
      {ChainOp::kWholeOneOfTwo, "whole one of two"},
      {ChainOp::kFromWhole, "from whole"},
      {ChainOp::kOverOne, "over by inverse"},
      {ChainOp::kOneOfTwo, "one of two"},
      {ChainOp::kSquareRoot, "root"},
      {ChainOp::kRoundBf16, "round bf16"},
      {ChainOp::kRoundF16, "round f16"},
  };
  return names;
}

// "plus", "plus one", "plus held": what the link does, and what its b is unless
// it is nothing, or lanes.
inline std::string LinkName(ChainOp op, ChainOther other) {
  const auto found = NamesOfOps().find(op);
  EXPECT_NE(found, NamesOfOps().end()) << static_cast<int>(op);
  std::string name = found == NamesOfOps().end() ? "?" : found->second;
  switch (other) {
    case ChainOther::kNone:
    case ChainOther::kLanes:
      break;
    case ChainOther::kOne:
      return name + " one";
    case ChainOther::kItself:
      return name + " itself";
    case ChainOther::kHeld:
      return name + " held";
    case ChainOther::kToHeld:
      return name + " to held";
  }
  return name;
}

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_CHAINS_LINK_NAMES_H_
