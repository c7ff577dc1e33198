// Column sums of x * g: a block has 32 vectors of columns and 8 rows at a time,
// the grid's second axis splits the rows; a second kernel adds up the parts.
constexpr u32 kColumns = 512, kWidth = 4;

HK_GLOBAL HK_BOUNDS(256) column_parts(
    float* __restrict__ parts, const bf16* __restrict__ x,
    const bf16* __restrict__ g, u32 rows, u32 rows_per_part) {
  HK_SHARED(float, shared, 8 * 32 * kWidth);
  const u32 lane = HK_TID & 31u, line = HK_TID >> 5;
  const u32 c = (HK_BID * 32u + lane) * kWidth;
  float a[kWidth] = {};
  const u32 begin = HK_BID_Y * rows_per_part;
  const u32 end = Min(begin + rows_per_part, rows);
  for (u32 r = begin + line; r < end; r += 8u) {
    const u64 e = (u64)r * kColumns + c;
    const Vector<bf16, kWidth> xs = LoadVector<kWidth>(x + e);
    const Vector<bf16, kWidth> gs = LoadVector<kWidth>(g + e);
    HK_UNROLL
    for (u32 j = 0; j < kWidth; ++j) {
      a[j] += Convert<float>(xs.v[j]) * Convert<float>(gs.v[j]);
    }
  }
  HK_UNROLL
  for (u32 j = 0; j < kWidth; ++j) shared[HK_TID * kWidth + j] = a[j];
  HK_SYNC();
  if (HK_TID < 32u * kWidth) {
    float sum = 0.0f;
    HK_UNROLL
    for (u32 k = 0; k < 8; ++k) sum += shared[k * 32u * kWidth + HK_TID];
    Store(parts + (u64)HK_BID_Y * kColumns + HK_BID * 32u * kWidth + HK_TID,
          sum);
  }
}

HK_GLOBAL HK_BOUNDS(256) column_totals(
    float* __restrict__ y, const float* __restrict__ parts, u32 num_parts) {
  const u32 c = HK_BID * 256u + HK_TID;
  if (c >= kColumns) return;
  float sum = 0.0f;
  for (u32 k = 0; k < num_parts; ++k) {
    sum += Load(parts + (u64)k * kColumns + c);
  }
  Store(y + c, sum);
}
