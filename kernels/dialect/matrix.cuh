// A warp multiplies matrices: WarpMma is one instruction of it. Needs
// prelude.cuh and reduce.cuh before it. Lanes hold elements as PTX ISA has it,
// "Matrix Fragments for mma.m16n8k16" (halves), "m16n8k8" (TF32) and "m8n8k4"
// (f64): in words along what is summed, these are one rule.
#ifndef HK_MATRIX
#define HK_MATRIX

namespace hk {
// Names the instruction whose factors are f32 with 10 bits of their fraction.
struct tf32;
// The instruction for factors T. A word holds two halves, one TF32 or one f64.
// A lane holds kLeft and kRight words of the factors and kSums sums.
template <class T> struct Mma {
  typedef u32 Word;
  typedef float Sum;
  static constexpr u32 kRows = 16, kColumns = 8, kWords = 8;
  static constexpr u32 kLeft = 4, kRight = 2, kSums = 4;
};
template <> struct Mma<double> {
  typedef double Word;
  typedef double Sum;
  static constexpr u32 kRows = 8, kColumns = 8, kWords = 4;
  static constexpr u32 kLeft = 1, kRight = 1, kSums = 2;
};

// ---- where word or sum i of this lane stands
HK_DEVICE u32 LeftRow(u32 i) { return Lane() / 4 + i % 2 * 8; }
HK_DEVICE u32 LeftWord(u32 i) { return Lane() % 4 + i / 2 * 4; }
HK_DEVICE u32 RightWord(u32 i) { return Lane() % 4 + i * 4; }
HK_DEVICE u32 RightColumn() { return Lane() / 4; }
HK_DEVICE u32 SumRow(u32 i) { return Lane() / 4 + i / 2 * 8; }
HK_DEVICE u32 SumColumn(u32 i) { return Lane() % 4 * 2 + i % 2; }

// The word of two halves that are neighbours along what is summed.
template <class T> HK_DEVICE u32 PackHalves(T first, T second) {
  static_assert(kHalf<T>, "halves");
  return first.bits | (u32)second.bits << 16;
}

// Loads this lane's words of a factor from a tile in shared memory: word w of
// row (or column) l is tile[at + l * kLine + w * kWord].
template <class T, u32 kLine, u32 kWord, class Tile>
HK_DEVICE void LoadLeft(typename Mma<T>::Word (&x)[Mma<T>::kLeft], Tile& tile,
                        u32 at) {
  HK_UNROLL
  for (u32 i = 0; i < Mma<T>::kLeft; ++i) {
    x[i] = tile[at + LeftRow(i) * kLine + LeftWord(i) * kWord];
  }
}
template <class T, u32 kLine, u32 kWord, class Tile>
HK_DEVICE void LoadRight(typename Mma<T>::Word (&x)[Mma<T>::kRight],
                         Tile& tile, u32 at) {
  HK_UNROLL
  for (u32 i = 0; i < Mma<T>::kRight; ++i) {
    x[i] = tile[at + RightColumn() * kLine + RightWord(i) * kWord];
  }
}

// ---- WarpMma<T>(sum, left, right) adds left * right to sum. Every lane of the
// warp takes part. The host adds products, which are exact but for the range
// of the sum's type, in order, and rounds each time to nearest. A device
// promises no order, may cut off bits of what it adds up, where T is not f64,
// and may give other NaNs.
// RoundToTf32 rounds to nearest, ties away from 0.
#if defined(HK_HOST)
static inline u32 RoundToTf32(float x) {
  return x != x ? 0x7fffffffu
                : (BitsOf(x) + (IsFinite(x) ? 0x1000u : 0u)) & 0xffffe000u;
}
static inline float AddProduct(float sum, u32 a, u32 b, const tf32*) {
  return sum + FloatOf(a & 0xffffe000u) * FloatOf(b & 0xffffe000u);
}
static inline double AddProduct(double sum, double a, double b,
                                const double*) {
  return fma(a, b, sum);
}
template <class T> float AddProduct(float sum, u32 a, u32 b, const T*) {
  sum += Convert<float>(T{(u16)a}) * Convert<float>(T{(u16)b});
  return sum + Convert<float>(T{(u16)(a >> 16)}) *
                   Convert<float>(T{(u16)(b >> 16)});
}
template <class T>
void WarpMma(typename Mma<T>::Sum (&sum)[Mma<T>::kSums],
             const typename Mma<T>::Word (&left)[Mma<T>::kLeft],
             const typename Mma<T>::Word (&right)[Mma<T>::kRight],
             int line = __builtin_LINE()) {
  struct Fragments {
    typename Mma<T>::Word left[Mma<T>::kLeft], right[Mma<T>::kRight];
  };
  constexpr u32 kGiven = sizeof(Fragments) / sizeof(u32);
  static_assert(kGiven <= HostContext::kMostWords, "what a lane gives");
  u32 mine[kGiven];
  memcpy(mine, left, sizeof(left));
  memcpy((char*)mine + sizeof(left), right, sizeof(right));
  const u32* const warp = context->Gather(mine, kGiven, line);
  const auto of = [warp](u32 lane) {
    Fragments f;
    memcpy(&f, warp + lane * HostContext::kMostWords, sizeof(f));
    return f;
  };
  for (u32 w = 0; w < Mma<T>::kWords; ++w) {
    for (u32 i = 0; i < Mma<T>::kSums; ++i) {
      const Fragments a = of(SumRow(i) % 8 * 4 + w % 4);
      const Fragments b = of(SumColumn(i) * 4 + w % 4);
      sum[i] = AddProduct(sum[i], a.left[SumRow(i) / 8 + w / 4 * 2],
                          b.right[w / 4], (const T*)nullptr);
    }
  }
}
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
HK_DEVICE u32 RoundToTf32(float x) {
  u32 y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
}
template <class T>
HK_DEVICE void WarpMma(typename Mma<T>::Sum (&sum)[Mma<T>::kSums],
                       const typename Mma<T>::Word (&left)[Mma<T>::kLeft],
                       const typename Mma<T>::Word (&right)[Mma<T>::kRight]);
#define HK_MMA(T, shape, name)                                              \
  template <>                                                               \
  HK_DEVICE void WarpMma<T>(float (&d)[4], const u32 (&a)[4],               \
                            const u32 (&b)[2]) {                            \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." name "." name    \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "      \
                 "{%0, %1, %2, %3};"                                        \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])           \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),   \
                   "r"(b[1]));                                              \
  }
HK_MMA(bf16, "m16n8k16", "bf16")
HK_MMA(f16, "m16n8k16", "f16")
HK_MMA(tf32, "m16n8k8", "tf32")
#undef HK_MMA
template <>
HK_DEVICE void WarpMma<double>(double (&d)[2], const double (&a)[1],
                               const double (&b)[1]) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a[0]), "d"(b[0]));
}
#endif
}  // namespace hk
#endif  // HK_MATRIX
