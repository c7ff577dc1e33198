// Dnnl: oneDNN, found at run time; products of narrow matrices by it.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_DNNL_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_DNNL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/values/dtype.h"

namespace hawser::cpu {

struct DnnlFunctions;

// Version 2 of libdnnl. Immutable and thread-safe.
class Dnnl {
 public:
  // The library that HAWSER_DNNL (a path, or "off") or else the usual name
  // gives; decided once. Null: not there or of no use here; the log says what
  // of HAWSER_DNNL is none.
  static const Dnnl* OfProcess();
  // Null likewise. The library stays open for ever.
  static std::unique_ptr<const Dnnl> Open(absl::string_view path);
  ~Dnnl();

  // Element (i, j) stands at i * row_stride + j * column_stride, one of them 1.
  struct Matrix {
    const void* data;
    int64_t row_stride, column_stride;
  };
  // The dtypes of a product: bf16 as bf16 or f32, where the processor has bf16
  // (sums in f32, rounded once; numbers below the smallest normal one count as
  // 0), and u8 by s8 as s32, where bytes are exact (sums wrap).
  struct Types {
    DType a, b, c;
  };
  // c[m][n], rows `pitch` apart, = a[m][k] b[k][n], on the calling thread
  // alone. Errors: kInternal, with the library's number.
  absl::Status Multiply(const Types& types, int64_t m, int64_t n, int64_t k,
                        const Matrix& a, const Matrix& b, void* c,
                        int64_t pitch) const;

  // True if the processor has instructions for products of bf16.
  bool has_bf16() const { return has_bf16_; }
  // True if that is faster than a good BLAS by way of f32: on processors that
  // multiply whole tiles of bf16 (AMX), and on AMD's, whose sums of products
  // take bf16 twice as fast as f32 (measured for 1024^3: 11 ms to 28 on Zen 4).
  // Intel's without tiles are not (26 to 19).
  bool is_fast() const { return is_fast_; }
  // True if sums of products of u8 by s8 are exact: the processor adds them up
  // in 32 bits (VNNI). Without these instructions the library adds two products
  // in 16 bits, where 255 * 127 * 2 does not fit and becomes 32767.
  bool has_exact_bytes() const { return has_exact_bytes_; }
  // "oneDNN 2.6.3".
  const std::string& name() const { return name_; }
  const DnnlFunctions& functions() const { return *functions_; }

 private:
  explicit Dnnl(std::unique_ptr<const DnnlFunctions> functions);

  const std::unique_ptr<const DnnlFunctions> functions_;
  std::string name_;
  bool has_bf16_ = false, is_fast_ = false, has_exact_bytes_ = false;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_DNNL_H_
