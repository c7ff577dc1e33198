// Chains: elementwise ops on lanes that stay in registers, each on what the
// ones before it left.
#ifndef HAWSER_KERNELS_CPU_CHAINS_CHAINS_H_
#define HAWSER_KERNELS_CPU_CHAINS_CHAINS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kernels/cpu/lanes/lanes.h"

namespace hawser::cpu {

// What is done with the chain's lanes `a`, its truths `m` (one a lane) and
// others `b`, maybe the lanes `h` held beside a. A chain is of lanes of 4 bytes
// or of 8: reals of that width, or where it says so whole numbers, signed.
// Truths are bool in memory.
enum class ChainOp : uint8_t {
  kEnd,  // of the chain
  // In place of a, m or h, which are nothing before.
  kTake,       // a = b
  kTakeBools,  // m = b
  kTakeBytes,  // a = b, of u8, as reals; of 4 bytes, as the next two
  kTakeBf16,
  kTakeF16,
  kCount,  // a = the whole numbers from the s64 b on
  kHold,   // h = a
  kSwap,   // each of a and h in place of the other
  // Asks memory for what stands at b, which is read later.
  kAhead,
  // Put where b is.
  kGive,
  kGiveBools,
  kGiveBf16,  // halves, as which a is rounded; of 4 bytes
  kGiveF16,
  // Of two numbers.
  kPlus,
  kMinus,
  kMinusFrom,  // b - a
  kTimes,
  kOver,
  kOverOne,  // the same bits, by b's inverse where that serves; of kOne
  kUnder,    // b / a
  kLarger,
  kSmaller,
  // Of two whole numbers, with or without a sign.
  kWholePlus,
  kWholeMinus,
  kWholeMinusFrom,
  kWholeBoth,
  kWholeEither,
  kWholeOneOfTwo,
  kLeft,         // a moved by b bits, which may be any number
  kRight,        // likewise, zeros from above
  kRightSigned,  // likewise, the sign from above
  kTurned,       // a's bits moved left in a circle, by b below a's bits
  // m = whether a is so to b.
  kEqual,
  kUnequal,
  kBelow,
  kAtMost,
  kAbove,
  kAtLeast,
  kWholeEqual,
  kWholeUnequal,
  kWholeBelow,
  kWholeAtMost,
  kWholeAbove,
  kWholeAtLeast,
  // Of m and truths.
  kBoth,
  kEither,
  kOneOfTwo,
  // By m.
  kElse,       // a = m ? a : b
  kThen,       // a = m ? b : a
  kNotSo,      // m = !m
  kOnes,       // a = m ? 1 : 0
  kWholeOnes,  // likewise
  // Of a alone.
  kNegative,
  kMagnitude,
  kSign,
  kSquareRoot,
  kInverseRoot,
  kDown,
  kUp,
  kEven,
  kWholeNotSo,  // each bit
  kFinite,      // m = whether it is
  kFromWhole,   // whole numbers as reals; of 4 bytes
  kRoundBf16,   // to the nearest half; of 4 bytes
  kRoundF16,
  kExp,
  kLog,
  kTanh,
  kLogistic,
  kLogPlusOne,
};
inline constexpr int kChainOps = static_cast<int>(ChainOp::kLogPlusOne) + 1;

// What `b` is.
enum class ChainOther : uint8_t {
  kNone,
  kLanes,   // as many lanes
  kOne,     // one element, for all lanes
  kItself,  // a
  kHeld,    // h
  kToHeld,  // a, and what is done with a is done with h; of some ops
};
inline constexpr int kChainOthers = static_cast<int>(ChainOther::kToHeld) + 1;

// Does what an op does to a strip of the lanes, then the next link's.
struct ChainCode {
  void (*run)() = nullptr;  // null: there is no such link
  // Of kLanes: what a lane has there, and whether it is given.
  int8_t bytes = 0;
  bool gives = false;
};

struct ChainLink {
  ChainCode code;
  char* at = nullptr;  // kLanes, kOne: where b is
  // Of kLanes: kStripBytes at `at` hold the lanes of a strip, then the next
  // one's.
  bool of_strip = false;
  bool of_given = false;  // kLanes: what a link before gives
  // Of kGive: past the caches; another thread reads it after FlushStream.
  bool goes_past = false;
};

// Lanes go through the links a strip at a time: at most so many bytes of them.
inline constexpr int64_t kStripBytes = 256;

// For lanes of one width, by one set of instructions. Not every one has links
// of f16.
struct Chains {
  ChainCode (*find)(ChainOp op, ChainOther other);
  // Of a strip. `links` over lanes [first, first + n), a multiple of it.
  int64_t lanes;
  void (*run)(const ChainLink* links, int64_t first, int64_t n);
};
// For lanes of so many bytes. Null: there are none.
const Chains* FindChains(int64_t width, Isa isa);
// `links` to that of kEnd, over n lanes. What is given may be where lanes are
// that no later link reads.
void RunChain(const Chains& chains, absl::Span<const ChainLink> links,
              int64_t n);
// Whether kOverOne takes less time than kOver.
bool InversesPay(Isa isa, Maker maker);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CHAINS_CHAINS_H_
