// Softmax of a row per block, the whole row in registers.
constexpr u32 kColumns = 4096, kThreads = 256, kWidth = 8;
constexpr u32 kTurns = kColumns / (kThreads * kWidth);

HK_GLOBAL HK_BOUNDS(kThreads) softmax(
    bf16* __restrict__ y, const bf16* __restrict__ x) {
  HK_SHARED(float, shared, kThreads / 32);
  const u64 row = (u64)HK_BID * kColumns;
  float a[kTurns * kWidth], top = Maximum<float>::Identity();
  HK_UNROLL
  for (u32 i = 0; i < kTurns; ++i) {
    const u32 c = (i * kThreads + HK_TID) * kWidth;
    const Vector<bf16, kWidth> v = LoadVector<kWidth>(x + row + c);
    HK_UNROLL
    for (u32 j = 0; j < kWidth; ++j) {
      a[i * kWidth + j] = Convert<float>(v.v[j]);
      top = Max(top, a[i * kWidth + j]);
    }
  }
  top = BlockReduce<Maximum<float>, kThreads>(top, shared);
  float sum = 0.0f;
  HK_UNROLL
  for (u32 i = 0; i < kTurns * kWidth; ++i) {
    a[i] = Exp(a[i] - top);
    sum += a[i];
  }
  const float scale = 1.0f / BlockReduce<Sum<float>, kThreads>(sum, shared);
  HK_UNROLL
  for (u32 i = 0; i < kTurns; ++i) {
    Vector<bf16, kWidth> v;
    HK_UNROLL
    for (u32 j = 0; j < kWidth; ++j) {
      v.v[j] = Convert<bf16>(a[i * kWidth + j] * scale);
    }
    StoreVector<kWidth>(y + row + (i * kThreads + HK_TID) * kWidth, v);
  }
}
