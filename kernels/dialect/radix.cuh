// A block orders its elements by digits of 8 bits, what is equal as it stood. A
// block has kDigits threads, each of them kItems elements. Needs reduce.cuh
// before it.
#ifndef HK_RADIX
#define HK_RADIX

namespace hk {
constexpr u32 kDigitBits = 8, kDigits = 1u << kDigitBits;

// Unsigned integers that are ordered as x is, or the other way round.
template <bool kDescending, class T> HK_DEVICE auto OrderedBits(T x) {
  if constexpr (kSame<T, bool>) {
    return (u8)(x != kDescending);
  } else {
    typedef typename Type<T>::Unsigned U;
    const U bits = (U)((U)x ^ (Type<T>::kSigned ? (U)Type<T>::kMin : (U)0));
    return kDescending ? (U)~bits : bits;
  }
}
template <class U> HK_DEVICE u32 DigitAt(U bits, u32 shift) {
  return (u32)(bits >> shift) & (kDigits - 1u);
}

// The element of the block that is a thread's `item`: a warp's stand together,
// lanes are neighbours.
template <u32 kItems> HK_DEVICE u32 ElementOf(u32 item) {
  return (HK_TID / kWarp * kItems + item) * kWarp + Lane();
}
// The lanes of the warp that have this one's digit.
HK_DEVICE u32 LanesOfDigit(u32 digit) {
  u32 lanes = ~0u;
  HK_UNROLL
  for (u32 bit = 0; bit < kDigitBits; ++bit) {
    const bool one = (digit >> bit & 1u) != 0u;
    const u32 ones = Ballot(one);
    lanes &= one ? ones : ~ones;
  }
  return lanes;
}
// Adds the digits of a warp's lanes, but of those that do not count, to
// counts[digit]. All lanes call it.
template <class Counts>
HK_DEVICE void AddDigits(u32 digit, bool counts_it, Counts& counts) {
  const u32 lanes = LanesOfDigit(digit) & Ballot(counts_it);
  if (!counts_it || (lanes & ((1u << Lane()) - 1u)) != 0u) return;
  SharedAdd(counts, digit, (u32)CountBits(lanes));
}
// Clears the counts of the thread's warp, which the block no longer reads.
// Returns where they begin.
template <class Counts> HK_DEVICE u32 ClearCounts(Counts& counts) {
  const u32 own = HK_TID / kWarp * kDigits;
  HK_UNROLL
  for (u32 i = 0; i < kDigits; i += kWarp) counts[own + i + Lane()] = 0u;
  return own;
}
// Counts the digits of each warp: `counts` has kDigits elements for each, which
// the block no longer reads. digits[i] gets, in higher bits, how many of the
// warp's elements of that digit stand before the thread's element i.
template <u32 kItems, class Counts>
HK_DEVICE void WarpRanks(u32 (&digits)[kItems], Counts& counts) {
  const u32 own = ClearCounts(counts);
  HK_UNROLL
  for (u32 i = 0; i < kItems; ++i) {
    const u32 lanes = LanesOfDigit(digits[i]);
    const u32 lower = (u32)CountBits(lanes & ((1u << Lane()) - 1u));
    HK_SYNC_WARP();
    const u32 before = counts[own + digits[i]];
    HK_SYNC_WARP();
    if (lower == 0u) {
      counts[own + digits[i]] = before + (u32)CountBits(lanes);
    }
    digits[i] |= (before + lower) << kDigitBits;
  }
}
// The same counts without ranks, whose order nothing tells.
template <u32 kItems, class Counts>
HK_DEVICE void WarpCounts(const u32 (&digits)[kItems], Counts& counts) {
  const u32 own = ClearCounts(counts);
  HK_SYNC_WARP();
  HK_UNROLL
  for (u32 i = 0; i < kItems; ++i) SharedAdd(counts, own + digits[i], 1u);
}
// Called after WarpRanks or WarpCounts and a barrier: the block's elements of
// digit HK_TID.
template <class Counts> HK_DEVICE u32 CountOfDigit(Counts& counts) {
  u32 all = 0u;
  HK_UNROLL
  for (u32 w = 0; w < kDigits / kWarp; ++w) {
    const u32 count = counts[w * kDigits + HK_TID];
    all += count;
  }
  return all;
}
// digits[i] becomes the place of the thread's element i once the block is in
// order of the digits. Returns where digit HK_TID begins. `sums` has a slot per
// warp. There is a barrier before it writes what other warps read, and one
// after the last write.
template <u32 kItems, class Counts, class Sums>
HK_DEVICE u32 BlockPlaces(u32 (&digits)[kItems], Counts& counts, Sums& sums) {
  WarpRanks<kItems>(digits, counts);
  HK_SYNC();
  u32 carry = 0u;
  const u32 begin =
      BlockScanOn<Sum<u32>, kDigits>(CountOfDigit(counts), carry, sums);
  u32 next = begin;
  HK_UNROLL
  for (u32 w = 0; w < kDigits / kWarp; ++w) {
    const u32 count = counts[w * kDigits + HK_TID];
    counts[w * kDigits + HK_TID] = next;
    next += count;
  }
  HK_SYNC();
  HK_UNROLL
  for (u32 i = 0; i < kItems; ++i) {
    const u32 digit = digits[i] & (kDigits - 1u);
    const u32 first = counts[HK_TID / kWarp * kDigits + digit];
    digits[i] = first + (digits[i] >> kDigitBits);
  }
  return begin;
}
}  // namespace hk
#endif  // HK_RADIX
