// Threads of a warp and of a block work together: shuffles, reductions, scans.
// Orders are fixed, so results are the same on every run. Needs prelude.cuh
// before it.
#ifndef HK_REDUCE
#define HK_REDUCE

namespace hk {
// ---- another lane's value; every thread of the warp has to take part
template <class T> HK_DEVICE T Shuffle(T x, u32 lane) {
  if constexpr (sizeof(T) < 4) {
    union { T value; u8 bytes[sizeof(T)]; u32 word; } u;
    u.word = 0;
    u.value = x;
    u.word = ShuffleWord(u.word, lane);
    return u.value;
  } else {
    union { T value; u32 words[sizeof(T) / 4]; } u = {x};
    HK_UNROLL
    for (u32 i = 0; i < sizeof(T) / 4; ++i) {
      u.words[i] = ShuffleWord(u.words[i], lane);
    }
    return u.value;
  }
}
HK_DEVICE u32 Lane() { return HK_TID & (kWarp - 1); }
template <class T> HK_DEVICE T ShuffleXor(T x, u32 mask) {
  return Shuffle(x, Lane() ^ mask);
}
// Takes the value from `by` lanes below; the lowest lanes keep their own.
template <class T> HK_DEVICE T ShuffleUp(T x, u32 by) {
  return Shuffle(x, Lane() < by ? Lane() : Lane() - by);
}
// Takes the value from `by` lanes above; the highest lanes keep their own.
template <class T> HK_DEVICE T ShuffleDown(T x, u32 by) {
  return Shuffle(x, Lane() + by < kWarp ? Lane() + by : Lane());
}

// ---- what is folded: Combine of a lower and a higher part, and what changes
// nothing. An operation of the emitter's own has the same three members.
template <class T> struct Sum {
  static constexpr bool kCommutes = true;
  HK_MEMBER T Identity() { return (T)0; }
  HK_MEMBER T Combine(T a, T b) { return Add(a, b); }
};
template <class T> struct Product {
  static constexpr bool kCommutes = true;
  HK_MEMBER T Identity() { return (T)1; }
  HK_MEMBER T Combine(T a, T b) { return Multiply(a, b); }
};
template <class T> HK_DEVICE T Infinity() {
  if constexpr (kSame<T, float>) return BitCast<float>(0x7f800000u);
  else return BitCast<double>(0x7ff0000000000000ull);
}
template <class T> HK_DEVICE T Highest() {
  if constexpr (Type<T>::kFloat) return Infinity<T>();
  else if constexpr (kSame<T, bool>) return true;
  else return Type<T>::kMax;
}
template <class T> HK_DEVICE T Lowest() {
  if constexpr (Type<T>::kFloat) return -Infinity<T>();
  else if constexpr (kSame<T, bool>) return false;
  else return Type<T>::kMin;
}
template <class T> struct Maximum {
  static constexpr bool kCommutes = true;
  HK_MEMBER T Identity() { return Lowest<T>(); }
  HK_MEMBER T Combine(T a, T b) { return Max(a, b); }
};
template <class T> struct Minimum {
  static constexpr bool kCommutes = true;
  HK_MEMBER T Identity() { return Highest<T>(); }
  HK_MEMBER T Combine(T a, T b) { return Min(a, b); }
};
template <class T> struct And {
  static constexpr bool kCommutes = true;
  HK_MEMBER T Identity() { return (T)~(T)0; }
  HK_MEMBER T Combine(T a, T b) { return (T)(a & b); }
};
template <> struct And<bool> {
  static constexpr bool kCommutes = true;
  HK_MEMBER bool Identity() { return true; }
  HK_MEMBER bool Combine(bool a, bool b) { return a && b; }
};
template <class T> struct Or {
  static constexpr bool kCommutes = true;
  HK_MEMBER T Identity() { return (T)0; }
  HK_MEMBER T Combine(T a, T b) { return (T)(a | b); }
};
// The largest (kLargest) or smallest value and where it stands; NaN wins; of
// equal ones the lowest index (kLast: the highest).
template <class T, class I> struct Found {
  T value;
  I index;
};
template <class T, class I, bool kLargest, bool kLast = false> struct Extreme {
  typedef Found<T, I> F;
  static constexpr bool kCommutes = true;
  HK_MEMBER F Identity() {
    return {kLargest ? Lowest<T>() : Highest<T>(),
            kLast ? Type<I>::kMin : Type<I>::kMax};
  }
  HK_MEMBER F Combine(F a, F b) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool tied = (a_nan && b_nan) || a.value == b.value;
    if (tied) return (a.index < b.index) != kLast ? a : b;
    if (a_nan || b_nan) return a_nan ? a : b;
    return (a.value > b.value) == kLargest ? a : b;
  }
};

// ---- every thread gets the result. Neighbours first, so that operations that
// do not commute see their parts in order.
// Reduces over each kLanes neighbours, a power of two up to a warp.
template <class Op, u32 kLanes, class T> HK_DEVICE T GroupReduce(T x) {
  HK_UNROLL
  for (u32 m = 1; m < kLanes; m <<= 1) {
    const T other = ShuffleXor(x, m);
    const bool swap = !Op::kCommutes && (Lane() & m) != 0;
    x = swap ? Op::Combine(other, x) : Op::Combine(x, other);
  }
  return x;
}
template <class Op, class T> HK_DEVICE T WarpReduce(T x) {
  return GroupReduce<Op, kWarp>(x);
}
// `shared` has a slot per warp and may be used again at once: there is a
// barrier before and one after the writes.
template <class Op, u32 kThreads, class T, class Shared>
HK_DEVICE T BlockReduce(T x, Shared& shared) {
  static_assert(kThreads % kWarp == 0, "whole warps");
  x = WarpReduce<Op>(x);
  if constexpr (kThreads > kWarp) {
    HK_SYNC();
    if (Lane() == 0) shared[HK_TID / kWarp] = x;
    HK_SYNC();
    x = shared[0];
    HK_UNROLL
    for (u32 i = 1; i < kThreads / kWarp; ++i) {
      const T next = shared[i];
      x = Op::Combine(x, next);
    }
  }
  return x;
}
// The fold of this thread's value and all lower ones.
template <class Op, class T> HK_DEVICE T WarpScan(T x) {
  HK_UNROLL
  for (u32 by = 1; by < kWarp; by <<= 1) {
    const T below = ShuffleUp(x, by);
    if (Lane() >= by) x = Op::Combine(below, x);
  }
  return x;
}
template <class Op, u32 kThreads, class T, class Shared>
HK_DEVICE T BlockScan(T x, Shared& shared) {
  static_assert(kThreads % kWarp == 0, "whole warps");
  x = WarpScan<Op>(x);
  if constexpr (kThreads > kWarp) {
    HK_SYNC();
    if (Lane() == kWarp - 1) shared[HK_TID / kWarp] = x;
    HK_SYNC();
    T below = Op::Identity();
    for (u32 i = 0; i < HK_TID / kWarp; ++i) {
      const T next = shared[i];
      below = Op::Combine(below, next);
    }
    x = Op::Combine(below, x);
  }
  return x;
}
// Combines the values before this thread's: `carry`, then the values of lower
// threads. `carry` is the same in all of them and becomes what all come to.
template <class Op, class T> HK_DEVICE T WarpScanOn(T x, T& carry) {
  const T upto = WarpScan<Op>(x);
  const T below = ShuffleUp(upto, 1), all = Shuffle(upto, kWarp - 1);
  const T before = Lane() > 0 ? Op::Combine(carry, below) : carry;
  carry = Op::Combine(carry, all);
  return before;
}
template <class Op, u32 kThreads, class T, class Shared>
HK_DEVICE T BlockScanOn(T x, T& carry, Shared& shared) {
  static_assert(kThreads % kWarp == 0, "whole warps");
  const T upto = WarpScan<Op>(x);
  const T below = ShuffleUp(upto, 1);
  HK_SYNC();
  if (Lane() == kWarp - 1) shared[HK_TID / kWarp] = upto;
  HK_SYNC();
  T before = carry;
  for (u32 i = 0; i < kThreads / kWarp; ++i) {
    if (i == HK_TID / kWarp) before = carry;
    const T next = shared[i];
    carry = Op::Combine(carry, next);
  }
  return Lane() > 0 ? Op::Combine(before, below) : before;
}
}  // namespace hk
#endif  // HK_REDUCE
