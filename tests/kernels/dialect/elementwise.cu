// y[r, c] = gelu(x[r, c] * w[c] + b[c]), eight halves at a time.
constexpr u32 kColumns = 1024;

HK_GLOBAL HK_BOUNDS(256) elementwise(
    bf16* __restrict__ y, const bf16* __restrict__ x,
    const bf16* __restrict__ w, const bf16* __restrict__ b, u32 num_vectors) {
  for (u32 i = HK_BID * 256u + HK_TID; i < num_vectors; i += HK_NBLK * 256u) {
    const u32 e = i * 8u, c = e % kColumns;
    const Vector<bf16, 8> xs = LoadVector<8>(x + e);
    const Vector<bf16, 8> ws = LoadVector<8>(w + c);
    const Vector<bf16, 8> bs = LoadVector<8>(b + c);
    Vector<bf16, 8> ys;
    HK_UNROLL
    for (int j = 0; j < 8; ++j) {
      const float t = Convert<float>(xs.v[j]) * Convert<float>(ws.v[j]) +
                      Convert<float>(bs.v[j]);
      const float u = 0.7978845608f * (t + 0.044715f * t * t * t);
      ys.v[j] = Convert<bf16>(0.5f * t * (1.0f + Tanh(u)));
    }
    StoreVector<8>(y + e, ys);
  }
}
