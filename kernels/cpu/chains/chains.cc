// Highway compiles this file once for each instruction set; see
// lanes/convert.cc.
#include "kernels/cpu/chains/chains.h"

#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/chains/chains.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Highway wants it after foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/chains/chain_links-inl.h"
#include "kernels/cpu/isa/by_isa.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// ---- the table --------------------------------------------------------------

// The link of each op, by its ChainOperand.
template <typename T>
struct Table {
  Table() {
    AddFunctions();
    AddLinks();
  }

  // `bytes`: of a lane in memory, for kLanes.
  template <typename Do>
  void Link(ChainOp op, ChainOperand b, size_t bytes = sizeof(T),
            bool stores = false) {
    const bool of_lanes = b == ChainOperand::kLanes;
    links[static_cast<int>(op)][static_cast<int>(b)] = {
        .run = reinterpret_cast<void (*)()>(RunLink<T, Do>),
        .bytes = static_cast<int8_t>(of_lanes ? bytes : 0),
        .stores = stores};
  }

  // The forms of chain_ops.def.
  template <typename Function>
  void Unary(ChainOp op) {
    Link<Lanewise<Function, ChainOperand::kNone>>(op, ChainOperand::kNone);
  }
  template <typename Function>
  void BinaryButA(ChainOp op) {
    Link<Lanewise<Function, ChainOperand::kLanes>>(op, ChainOperand::kLanes);
    Link<Lanewise<Function, ChainOperand::kBroadcast>>(
        op, ChainOperand::kBroadcast);
    Link<Lanewise<Function, ChainOperand::kH>>(op, ChainOperand::kH);
  }
  template <typename Function>
  void Binary(ChainOp op) {
    BinaryButA<Function>(op);
    Link<Lanewise<Function, ChainOperand::kA>>(op, ChainOperand::kA);
  }
  template <typename Function>
  void BinaryOrIntoH(ChainOp op) {
    Binary<Function>(op);
    Link<IntoH<Function>>(op, ChainOperand::kIntoH);
  }
  template <typename Function>
  void MaskBinary(ChainOp op) {
    Link<Maskwise<Function, ChainOperand::kLanes>>(op, ChainOperand::kLanes, 1);
    Link<Maskwise<Function, ChainOperand::kBroadcast>>(
        op, ChainOperand::kBroadcast);
  }
  template <Shift kShift>
  void AddShift(ChainOp op) {
    Link<Shifts<kShift, ChainOperand::kLanes>>(op, ChainOperand::kLanes);
    Link<Shifts<kShift, ChainOperand::kBroadcast>>(op,
                                                   ChainOperand::kBroadcast);
    Link<Shifts<kShift, ChainOperand::kH>>(op, ChainOperand::kH);
    Link<Shifts<kShift, ChainOperand::kA>>(op, ChainOperand::kA);
  }

  void AddFunctions() {
#define HAWSER_CHAIN_OP(Name, Form, ...) Form<Name>(ChainOp::k##Name);
#define HAWSER_CHAIN_F32(Name, Form, ...)   \
  if constexpr (std::is_same_v<T, float>) { \
    Form<Name>(ChainOp::k##Name);           \
  }
#define HAWSER_CHAIN_INT(Name, Form, ...) Form<Name>(ChainOp::k##Name);
#define HAWSER_CHAIN_FUNCTION(Name, ...) \
  if (Name::IsThere<T>()) Unary<Name>(ChainOp::k##Name);
#define HAWSER_CHAIN_MASK(Name, ...) MaskBinary<Name>(ChainOp::k##Name);
#include "kernels/cpu/chains/chain_ops.def"
  }
  void AddLinks() {
    if constexpr (std::is_same_v<T, float>) {
      Link<LoadU8>(ChainOp::kLoadU8, ChainOperand::kLanes, 1);
      Link<LoadHalves<Bf16>>(ChainOp::kLoadBf16, ChainOperand::kLanes, 2);
      Link<StoreHalves<Bf16>>(ChainOp::kStoreBf16, ChainOperand::kLanes, 2,
                              true);
#if HAWSER_F16
      Link<LoadHalves<F16>>(ChainOp::kLoadF16, ChainOperand::kLanes, 2);
      Link<StoreHalves<F16>>(ChainOp::kStoreF16, ChainOperand::kLanes, 2, true);
      Link<RoundF16>(ChainOp::kRoundF16, ChainOperand::kNone);
#endif
    }
    Link<Iota>(ChainOp::kIota, ChainOperand::kBroadcast);
    Link<CopyToH>(ChainOp::kCopyToH, ChainOperand::kNone);
    Link<Swap>(ChainOp::kSwap, ChainOperand::kNone);
    Link<Prefetch>(ChainOp::kPrefetch, ChainOperand::kLanes, 0);
    Link<Store>(ChainOp::kStore, ChainOperand::kLanes, sizeof(T), true);
    Link<StoreMask>(ChainOp::kStoreMask, ChainOperand::kLanes, 1, true);
    AddShift<Shift::kLeft>(ChainOp::kShiftLeft);
    AddShift<Shift::kRightLogical>(ChainOp::kShiftRightLogical);
    AddShift<Shift::kRightArithmetic>(ChainOp::kShiftRightArithmetic);
    Link<RotateLeft>(ChainOp::kRotateLeft, ChainOperand::kBroadcast);
    links[0][0].run = reinterpret_cast<void (*)()>(EndChain<T>);
  }

  ChainLink links[kChainOps][kChainOperands] = {};
};

// The first call fills the table: the code that does it is smaller than so many
// constant addresses.
template <typename T>
ChainLink Find(ChainOp op, ChainOperand b) {
  static const Table<T> table;
  return table.links[static_cast<int>(op)][static_cast<int>(b)];
}

template <typename T>
void Run(const ChainLink* links, int64_t first, int64_t n) {
  const auto none = hn::Zero(Tag<T>()).raw;
  const auto code = reinterpret_cast<Code<T>>(links->run);
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

// The lanes [first, first + n) after the last whole strip, copied to buffers
// with room for a strip, so that no link reads or writes past its memory. The
// buffers belong to the thread; it may have one RestLanes at a time.
class RestLanes {
 public:
  RestLanes(absl::Span<const ChainLink> links, int64_t first, int64_t n)
      : links_(links), first_(first), n_(n) {
    rest_.assign(links.begin(), links.end());
    if (buffers_.size() < links.size()) buffers_.resize(links.size());
    for (size_t k = 0; k < links.size(); ++k) {
      const ChainLink& link = links[k];
      if (!IsInMemory(link)) continue;
      rest_[k].is_spill = true;
      rest_[k].is_streamed = false;
      rest_[k].at = link.reloads ? StoredBefore(k) : buffers_[k].bytes;
      if (link.stores || link.reloads) continue;
      std::memcpy(rest_[k].at, link.at + first * link.bytes, n * link.bytes);
    }
  }
  // The same links on the buffers.
  const ChainLink* links() const { return rest_.data(); }
  // Copies what the links stored to its destination.
  void Store() const {
    for (size_t k = 0; k < links_.size(); ++k) {
      const ChainLink& link = links_[k];
      if (!IsInMemory(link) || !link.stores) continue;
      std::memcpy(link.at + first_ * link.bytes, rest_[k].at, n_ * link.bytes);
    }
  }

 private:
  struct Buffer {
    alignas(64) char bytes[kStripBytes];
  };

  static bool IsInMemory(const ChainLink& link) {
    return link.bytes > 0 && !link.is_spill;
  }
  // The buffer of the last link that stored what this one reads.
  char* StoredBefore(size_t link) const {
    size_t k = link - 1;
    while (!links_[k].stores || links_[k].at != links_[link].at) --k;
    return rest_[k].at;
  }

  static thread_local std::vector<ChainLink> rest_;
  static thread_local std::vector<Buffer> buffers_;

  const absl::Span<const ChainLink> links_;
  const int64_t first_, n_;
};
thread_local std::vector<ChainLink> RestLanes::rest_;
thread_local std::vector<RestLanes::Buffer> RestLanes::buffers_;

}  // namespace

void RunChain(const Chains& chains, absl::Span<const ChainLink> links,
              int64_t n) {
  const int64_t rest = n % chains.lanes;
  chains.run(links.data(), 0, n - rest);
  if (rest == 0) return;
  const RestLanes lanes(links, n - rest, rest);
  chains.run(lanes.links(), n - rest, chains.lanes);
  lanes.Store();
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
