// Compiled for each set of instructions in turn; see loops.cc.
#include "kernels/cpu/chains/chains.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/chains/chains.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Behind it, as they ask.
#include "hwy/highway.h"
#include "kernels/cpu/chains/chain_links-inl.h"
#include "kernels/cpu/isa/by_isa.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// ---- the table --------------------------------------------------------------

// The code of each op, by what its b is; null: there is no such link.
template <typename T>
struct Table {
  Table() {
    AddReals();
    AddWholes();
    AddTests();
    AddChoices();
    AddMoves();
  }

  ChainCode Find(ChainOp op, ChainOther other) const {
    const auto o = static_cast<int>(op), b = static_cast<int>(other);
    return {reinterpret_cast<void (*)()>(whole[o][b]),
            reinterpret_cast<void (*)()>(rest[o][b])};
  }

  template <typename Do>
  void Link(ChainOp op, ChainOther other) {
    const auto o = static_cast<int>(op), b = static_cast<int>(other);
    whole[o][b] = RunLink<T, Do, true>;
    rest[o][b] = RunLink<T, Do, !Do::kOfMemory>;
  }
  template <typename Function>
  void Alone(ChainOp op) {
    Link<OfLanes<Function, ChainOther::kNone>>(op, ChainOther::kNone);
  }
  // Where b is not a.
  template <typename Function>
  void Apart(ChainOp op) {
    Link<OfLanes<Function, ChainOther::kLanes>>(op, ChainOther::kLanes);
    Link<OfLanes<Function, ChainOther::kOne>>(op, ChainOther::kOne);
    Link<OfLanes<Function, ChainOther::kHeld>>(op, ChainOther::kHeld);
  }
  template <typename Function>
  void With(ChainOp op) {
    Apart<Function>(op);
    Link<OfLanes<Function, ChainOther::kItself>>(op, ChainOther::kItself);
  }
  // Of what two values that live are made of each other by.
  template <typename Function>
  void WithHeld(ChainOp op) {
    With<Function>(op);
    Link<OfHeld<Function>>(op, ChainOther::kToHeld);
  }
  template <typename Function>
  void OnTruths(ChainOp op) {
    Link<OfTruths<Function, ChainOther::kLanes>>(op, ChainOther::kLanes);
    Link<OfTruths<Function, ChainOther::kOne>>(op, ChainOther::kOne);
  }
  template <Way way>
  void Moved(ChainOp op) {
    Link<Moves<way, ChainOther::kLanes>>(op, ChainOther::kLanes);
    Link<Moves<way, ChainOther::kOne>>(op, ChainOther::kOne);
    Link<Moves<way, ChainOther::kHeld>>(op, ChainOther::kHeld);
    Link<Moves<way, ChainOther::kItself>>(op, ChainOther::kItself);
  }

  void AddReals() {
    WithHeld<Plus>(ChainOp::kPlus);
    WithHeld<Minus>(ChainOp::kMinus);
    WithHeld<MinusFrom>(ChainOp::kMinusFrom);
    WithHeld<Times>(ChainOp::kTimes);
    With<Over>(ChainOp::kOver);
    Link<OverOne>(ChainOp::kOverOne, ChainOther::kOne);
    With<Under>(ChainOp::kUnder);
    With<TheLarger>(ChainOp::kLarger);
    With<TheSmaller>(ChainOp::kSmaller);
    Alone<Negative>(ChainOp::kNegative);
    Alone<Magnitude>(ChainOp::kMagnitude);
    Alone<Sign>(ChainOp::kSign);
    Alone<SquareRoot>(ChainOp::kSquareRoot);
    Alone<InverseRoot>(ChainOp::kInverseRoot);
    Alone<Down>(ChainOp::kDown);
    Alone<Up>(ChainOp::kUp);
    Alone<Even>(ChainOp::kEven);
    if constexpr (std::is_same_v<T, float>) {
      Alone<FromWhole>(ChainOp::kFromWhole);
      Alone<Exp>(ChainOp::kExp);
      Alone<Log>(ChainOp::kLog);
      Alone<Tanh>(ChainOp::kTanh);
      Alone<Logistic>(ChainOp::kLogistic);
      Alone<RoundBf16>(ChainOp::kRoundBf16);
#if HAWSER_F16
      Alone<RoundF16>(ChainOp::kRoundF16);
#endif
    }
  }
  void AddWholes() {
    WithHeld<WholePlus>(ChainOp::kWholePlus);
    WithHeld<WholeMinus>(ChainOp::kWholeMinus);
    WithHeld<WholeMinusFrom>(ChainOp::kWholeMinusFrom);
    With<WholeBoth>(ChainOp::kWholeBoth);
    With<WholeEither>(ChainOp::kWholeEither);
    WithHeld<WholeOneOfTwo>(ChainOp::kWholeOneOfTwo);
    Alone<WholeNotSo>(ChainOp::kWholeNotSo);
    Moved<Way::kLeft>(ChainOp::kLeft);
    Moved<Way::kRight>(ChainOp::kRight);
    Moved<Way::kRightSigned>(ChainOp::kRightSigned);
    Link<TurnedByOne>(ChainOp::kTurned, ChainOther::kOne);
  }
  void AddTests() {
    With<Equal>(ChainOp::kEqual);
    With<Unequal>(ChainOp::kUnequal);
    With<Below>(ChainOp::kBelow);
    With<AtMost>(ChainOp::kAtMost);
    With<Above>(ChainOp::kAbove);
    With<AtLeast>(ChainOp::kAtLeast);
    With<WholeEqual>(ChainOp::kWholeEqual);
    With<WholeUnequal>(ChainOp::kWholeUnequal);
    With<WholeBelow>(ChainOp::kWholeBelow);
    With<WholeAtMost>(ChainOp::kWholeAtMost);
    With<WholeAbove>(ChainOp::kWholeAbove);
    With<WholeAtLeast>(ChainOp::kWholeAtLeast);
    Alone<Finite>(ChainOp::kFinite);
  }
  void AddChoices() {
    OnTruths<Both>(ChainOp::kBoth);
    OnTruths<Either>(ChainOp::kEither);
    OnTruths<OneOfTwo>(ChainOp::kOneOfTwo);
    Alone<NotSo>(ChainOp::kNotSo);
    Alone<Ones>(ChainOp::kOnes);
    Alone<WholeOnes>(ChainOp::kWholeOnes);
    Apart<Else>(ChainOp::kElse);
    Apart<Then>(ChainOp::kThen);
  }
  void AddMoves() {
    Apart<Other>(ChainOp::kTake);
    OnTruths<OtherTruths>(ChainOp::kTakeBools);
    if constexpr (std::is_same_v<T, float>) {
      Link<TakeBytes>(ChainOp::kTakeBytes, ChainOther::kLanes);
      Link<TakeHalves<Bf16>>(ChainOp::kTakeBf16, ChainOther::kLanes);
      Link<GiveHalves<Bf16>>(ChainOp::kGiveBf16, ChainOther::kLanes);
#if HAWSER_F16
      Link<TakeHalves<F16>>(ChainOp::kTakeF16, ChainOther::kLanes);
      Link<GiveHalves<F16>>(ChainOp::kGiveF16, ChainOther::kLanes);
#endif
    }
    Link<Count>(ChainOp::kCount, ChainOther::kOne);
    Link<Hold>(ChainOp::kHold, ChainOther::kNone);
    Link<Swap>(ChainOp::kSwap, ChainOther::kNone);
    Link<Ahead>(ChainOp::kAhead, ChainOther::kLanes);
    Link<Give>(ChainOp::kGive, ChainOther::kLanes);
    Link<GiveBools>(ChainOp::kGiveBools, ChainOther::kLanes);
    whole[0][0] = rest[0][0] = EndChain<T>;
  }

  Code<T> whole[kChainOps][kChainOthers] = {};
  Code<T> rest[kChainOps][kChainOthers] = {};
};

// Made when it is asked for first: constants of so many addresses are larger
// than what makes them.
template <typename T>
ChainCode Find(ChainOp op, ChainOther other) {
  static const Table<T> table;
  return table.Find(op, other);
}

template <typename T>
HWY_INLINE void RunStrip(const ChainLink* links, Strip<T>* strip) {
  const auto none = hn::Zero(Tag<T>()).raw;
  reinterpret_cast<Code<T>>(links->code.whole)(links, strip, none, none, none,
                                               none, none, none, none, none);
}

template <typename T>
void SwapCodes(ChainLink* link) {
  const auto end = reinterpret_cast<void (*)()>(EndChain<T>);
  for (; link->code.whole != end; ++link) {
    const ChainCode code = link->code;
    link->code = {code.rest, code.whole};
  }
}

template <typename T>
void Run(ChainLink* links, int64_t n) {
  constexpr int64_t kLanes = Strip<T>::kLanes;
  Strip<T> strip;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    strip.Move(i);
    RunStrip<T>(links, &strip);
  }
  if (i == n) return;
  strip.MoveToRest(i, n - i);
  // A link goes on to the next one by `whole`.
  SwapCodes<T>(links);
  RunStrip<T>(links, &strip);
  SwapCodes<T>(links);
}

template <typename T>
constexpr Chains kChains = {Find<T>, Run<T>};

const Chains* FindChains(int64_t width) {
  if (width == 4) return &kChains<float>;
  if (width == 8) return &kChains<double>;
  return nullptr;
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {

const Chains* FindChains(int64_t width, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, FindChains(width))
}

bool InversesPay(Isa isa) { return isa >= Isa::kAvx2 && !IsOfAmd(); }

}  // namespace hawser::cpu
#endif  // HWY_ONCE
