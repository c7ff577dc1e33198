// Layer norm of a row per block: two passes over registers, a ragged end by
// predicates, an affine map, mean and scale as results of their own.
constexpr u32 kColumns = 1500, kThreads = 256, kWidth = 4;
constexpr u32 kTurns =
    (kColumns + kThreads * kWidth - 1) / (kThreads * kWidth);

HK_GLOBAL HK_BOUNDS(kThreads) layernorm(
    float* __restrict__ y, float* __restrict__ mean, float* __restrict__ scale,
    const float* __restrict__ x, const float* __restrict__ g,
    const float* __restrict__ b, float epsilon) {
  HK_SHARED(float, shared, kThreads / 32);
  const u64 row = (u64)HK_BID * kColumns;
  float a[kTurns * kWidth], total = 0.0f;
  HK_UNROLL
  for (u32 i = 0; i < kTurns; ++i) {
    const u32 c = (i * kThreads + HK_TID) * kWidth;
    Vector<float, kWidth> v = {};
    if (c < kColumns) v = LoadVector<kWidth>(x + row + c);
    HK_UNROLL
    for (u32 j = 0; j < kWidth; ++j) {
      a[i * kWidth + j] = v.v[j];
      total += v.v[j];
    }
  }
  const float mu =
      BlockReduce<Sum<float>, kThreads>(total, shared) * (1.0f / kColumns);
  float squares = 0.0f;
  HK_UNROLL
  for (u32 i = 0; i < kTurns; ++i) {
    if ((i * kThreads + HK_TID) * kWidth < kColumns) {
      HK_UNROLL
      for (u32 j = 0; j < kWidth; ++j) {
        const float d = a[i * kWidth + j] - mu;
        squares += d * d;
      }
    }
  }
  squares = BlockReduce<Sum<float>, kThreads>(squares, shared);
  const float s = Rsqrt(squares * (1.0f / kColumns) + epsilon);
  HK_UNROLL
  for (u32 i = 0; i < kTurns; ++i) {
    const u32 c = (i * kThreads + HK_TID) * kWidth;
    if (c < kColumns) {
      const Vector<float, kWidth> gs = LoadVector<kWidth>(g + c);
      const Vector<float, kWidth> bs = LoadVector<kWidth>(b + c);
      Vector<float, kWidth> v;
      HK_UNROLL
      for (u32 j = 0; j < kWidth; ++j) {
        v.v[j] = (a[i * kWidth + j] - mu) * s * gs.v[j] + bs.v[j];
      }
      StoreVector<kWidth>(y + row + c, v);
    }
  }
  if (HK_TID == 0) {
    Store(mean + HK_BID, mu);
    Store(scale + HK_BID, s);
  }
}
