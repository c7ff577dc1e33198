// Compiled for each set of instructions in turn; see loops.cc.
#include "kernels/cpu/chains/chains.h"

#include <cstdint>
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

  // `bytes`: of a lane at kLanes.
  template <typename Do>
  void Link(ChainOp op, ChainOther other, size_t bytes = sizeof(T),
            bool gives = false) {
    ChainCode& c = code[static_cast<int>(op)][static_cast<int>(other)];
    const bool of_lanes = other == ChainOther::kLanes;
    c = {reinterpret_cast<void (*)()>(RunLink<T, Do>),
         static_cast<int8_t>(of_lanes ? bytes : 0), gives};
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
    Link<OfTruths<Function, ChainOther::kLanes>>(op, ChainOther::kLanes, 1);
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
      Alone<LogPlusOne>(ChainOp::kLogPlusOne);
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
      Link<TakeBytes>(ChainOp::kTakeBytes, ChainOther::kLanes, 1);
      Link<TakeHalves<Bf16>>(ChainOp::kTakeBf16, ChainOther::kLanes, 2);
      Link<GiveHalves<Bf16>>(ChainOp::kGiveBf16, ChainOther::kLanes, 2, true);
#if HAWSER_F16
      Link<TakeHalves<F16>>(ChainOp::kTakeF16, ChainOther::kLanes, 2);
      Link<GiveHalves<F16>>(ChainOp::kGiveF16, ChainOther::kLanes, 2, true);
#endif
    }
    Link<Count>(ChainOp::kCount, ChainOther::kOne);
    Link<Hold>(ChainOp::kHold, ChainOther::kNone);
    Link<Swap>(ChainOp::kSwap, ChainOther::kNone);
    Link<Ahead>(ChainOp::kAhead, ChainOther::kLanes, 0);
    Link<Give>(ChainOp::kGive, ChainOther::kLanes, sizeof(T), true);
    Link<GiveBools>(ChainOp::kGiveBools, ChainOther::kLanes, 1, true);
    code[0][0].run = reinterpret_cast<void (*)()>(EndChain<T>);
  }

  ChainCode code[kChainOps][kChainOthers] = {};
};

// Made when it is asked for first: constants of so many addresses are larger
// than what makes them.
template <typename T>
ChainCode Find(ChainOp op, ChainOther other) {
  static const Table<T> table;
  return table.code[static_cast<int>(op)][static_cast<int>(other)];
}

template <typename T>
void Run(const ChainLink* links, int64_t first, int64_t n) {
  const auto none = hn::Zero(Tag<T>()).raw;
  const auto code = reinterpret_cast<Code<T>>(links->code.run);
  Strip<T> strip;
  strip.first = first;
  for (; strip.first < first + n; strip.first += Strip<T>::kLanes) {
    code(links, &strip, none, none, none, none, none, none, none, none);
  }
}

template <typename T>
constexpr Chains kChains = {Find<T>, Strip<T>::kLanes, Run<T>};

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
#include <cstring>
#include <vector>

namespace hawser::cpu {

const Chains* FindChains(int64_t width, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, FindChains(width))
}

namespace {

// Lanes of the links behind whole strips, [first, first + n), where a strip of
// them has room: in memory that a thread keeps. One at a time.
class RestLanes {
 public:
  RestLanes(absl::Span<const ChainLink> links, int64_t first, int64_t n)
      : links_(links), first_(first), n_(n) {
    rest_.assign(links.begin(), links.end());
    if (places_.size() < links.size()) places_.resize(links.size());
    for (size_t k = 0; k < links.size(); ++k) {
      const ChainLink& link = links[k];
      if (!IsElsewhere(link)) continue;
      rest_[k].of_strip = true;
      rest_[k].goes_past = false;
      rest_[k].at = link.of_given ? GivenBefore(k) : places_[k].bytes;
      if (link.code.gives || link.of_given) continue;
      std::memcpy(rest_[k].at, link.at + first * link.code.bytes,
                  n * link.code.bytes);
    }
  }
  // The same, which read and give them there.
  const ChainLink* links() const { return rest_.data(); }
  // Puts what they gave where it belongs.
  void Give() const {
    for (size_t k = 0; k < links_.size(); ++k) {
      const ChainLink& link = links_[k];
      if (!IsElsewhere(link) || !link.code.gives) continue;
      std::memcpy(link.at + first_ * link.code.bytes, rest_[k].at,
                  n_ * link.code.bytes);
    }
  }

 private:
  struct Place {
    alignas(64) char bytes[kStripBytes];
  };

  static bool IsElsewhere(const ChainLink& link) {
    return link.code.bytes > 0 && !link.of_strip;
  }
  // Where the last link before gives what this one reads.
  char* GivenBefore(size_t link) const {
    size_t k = link - 1;
    while (!links_[k].code.gives || links_[k].at != links_[link].at) --k;
    return rest_[k].at;
  }

  static thread_local std::vector<ChainLink> rest_;
  static thread_local std::vector<Place> places_;

  const absl::Span<const ChainLink> links_;
  const int64_t first_, n_;
};
thread_local std::vector<ChainLink> RestLanes::rest_;
thread_local std::vector<RestLanes::Place> RestLanes::places_;

}  // namespace

void RunChain(const Chains& chains, absl::Span<const ChainLink> links,
              int64_t n) {
  const int64_t rest = n % chains.lanes;
  chains.run(links.data(), 0, n - rest);
  if (rest == 0) return;
  const RestLanes lanes(links, n - rest, rest);
  chains.run(lanes.links(), n - rest, chains.lanes);
  lanes.Give();
}

bool InversesPay(Isa isa, Maker maker) {
  return isa >= Isa::kAvx2 && maker != Maker::kAmd;
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
