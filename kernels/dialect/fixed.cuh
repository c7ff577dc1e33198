// Sums of f32 as sums of integers, which are the same in any order, and f32 as
// integers that are ordered alike. Needs prelude.cuh before it.
#ifndef HK_FIXED
#define HK_FIXED

namespace hk {
// The size of an update: 0 where a place has none; the
// largest of them gives the unit of their sum.
HK_DEVICE u32 SizeOf(float x) {
  return (BitCast<u32>(x) & 0x7fffffffu) + 1u;
}
constexpr u32 kSizeOfInfinity = 0x7f800001u;

// 2^n of the largest update's exponent and of how far it is from 2^62: `room`
// bits are for the number of updates.
HK_DEVICE double FixedScale(u32 size, int room) {
  const int exponent = (int)((size - 1u) >> 23) - 127;
  return BitCast<double>((u64)(1023 + 61 - room - exponent) << 52);
}
// One update of a place whose largest has `size`. Infinities are counted: the
// positive ones in the lower half, the negative ones in the upper.
HK_DEVICE s64 FixedOf(float x, u32 size, int room) {
  if (size < kSizeOfInfinity) {
    const double scaled = (double)x * FixedScale(size, room);
    return (s64)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  }
  if (SizeOf(x) != kSizeOfInfinity) return 0;
  return x > 0 ? 1 : (s64)1 << 32;
}
// The sum of `sum`, of updates whose largest has `size`.
HK_DEVICE double FloatOfFixed(s64 sum, u32 size, int room) {
  if (size < kSizeOfInfinity) {
    const int exponent = (int)((size - 1u) >> 23) - 127;
    const u64 scale = (u64)(1023 - 61 + room + exponent) << 52;
    return (double)sum * BitCast<double>(scale);
  }
  const double infinity = BitCast<double>((u64)0x7ff << 52);
  const bool up = ((u64)sum & 0xffffffffu) != 0, down = ((u64)sum >> 32) != 0;
  if (size > kSizeOfInfinity || (up && down)) return infinity - infinity;
  return up ? infinity : -infinity;
}

// The integer of x among all f32 but NaN, from -infinity on, -0 below 0. NaN is
// the largest, or with kNanIsLeast the least.
template <bool kNanIsLeast> HK_DEVICE s32 OrderOf(float x) {
  if (x != x) return kNanIsLeast ? (s32)0x80000000u : 0x7fffffff;
  const s32 bits = BitCast<s32>(x);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
HK_DEVICE float OfOrder(s32 order) {
  return BitCast<float>(order < 0 ? order ^ 0x7fffffff : order);
}
}  // namespace hk
#endif  // HK_FIXED
