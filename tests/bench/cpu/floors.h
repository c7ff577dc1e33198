// Loops written by hand, on one thread: what a work takes at least.
#ifndef HAWSER_TESTS_BENCH_CPU_FLOORS_H_
#define HAWSER_TESTS_BENCH_CPU_FLOORS_H_

#include <cstdint>

#include "core/base/values/half.h"

namespace hawser::bench {

// What a chain of ten ops does in each of its five steps: v * kScale + kShift.
inline constexpr float kScale = 0.9f;
inline constexpr float kShift = 0.5f;
inline constexpr int kSteps = 5;

// Each rounds after every operation, as the works that it is the floor of do in
// strict mode. Numbers of elements and `columns` are multiples of 64, `width`
// of 16.
struct Loops {
  const char* target;  // the instruction set: "AVX3"
  void (*chain)(const float* x, float* y, int64_t n);
  void (*chain_bf16)(const BFloat16* x, BFloat16* y, int64_t n);
  // v * row + column in each step.
  void (*chain_three)(const float* x, const float* row, const float* column,
                      float* y, int64_t rows, int64_t columns);
  // By Highway's functions.
  void (*gelu)(const float* x, float* y, int64_t n);  // by tanh
  void (*softplus)(const float* x, float* y, int64_t n);
  void (*silu)(const float* x, float* y, int64_t n);
  // Reads and writes once, by stores that go through the cache.
  void (*copy)(const float* x, float* y, int64_t n);
  // Reads once.
  float (*sum)(const float* x, int64_t n);
  // Row i of `out` is row rows[i] of `table`.
  void (*gather_rows)(const float* table, const int32_t* rows, int64_t count,
                      int64_t width, float* out);
  // Adds the first `width` elements of row i of `updates` to those of row
  // rows[i] of `out`. Rows begin every `pitch` elements.
  void (*add_rows)(const float* updates, const int32_t* rows, int64_t count,
                   int64_t width, int64_t pitch, float* out);
  // Adds to counts[v] how often v, from [0, 256), is in x.
  void (*count)(const int32_t* x, int64_t n, int32_t* counts);
  // Threefry-2x32 of the counters i and n / 2 + i, for i below n / 2: both
  // words, in halves of `words`. `n`: a multiple of 128.
  void (*threefry)(uint32_t key0, uint32_t key1, uint32_t* words, int64_t n);
  // Normal numbers of these words, as RandomNormal makes them: quantiles by
  // Wichura's AS 241, of seven digits.
  void (*normals)(uint32_t key0, uint32_t key1, float* y, int64_t n);
  // One step of z * z + c where |z| was at most 2 so far, and counts it.
  void (*mandelbrot)(const float* c_re, const float* c_im, float* z_re,
                     float* z_im, int32_t* turns, int64_t n);
};

// For this processor.
const Loops& BestLoops();

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_CPU_FLOORS_H_
