// Dnnl: oneDNN, found at run time; products of bf16 matrices by it.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_DNNL_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_DNNL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

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

  // Elements of bf16: (i, j) stands at i * row_stride + j * column_stride, one
  // of them 1.
  struct Matrix {
    const void* data;
    int64_t row_stride, column_stride;
  };
  // Where the processor has bf16: c[m][n], rows `pitch` apart, = a[m][k]
  // b[k][n]: sums in f32, rounded once; numbers below the smallest normal one
  // count as 0. On the calling thread alone. Errors: kInternal, with the
  // library's number.
  absl::Status Multiply(int64_t m, int64_t n, int64_t k, const Matrix& a,
                        const Matrix& b, void* c, int64_t pitch) const;

  // True if the processor has instructions for products of bf16.
  bool has_bf16() const { return has_bf16_; }
  // True if that is faster than a good BLAS by way of f32: on processors that
  // multiply whole tiles of bf16 (AMX), and on AMD's, whose sums of products
  // take bf16 twice as fast as f32 (measured for 1024^3: 11 ms to 28 on Zen 4).
  // Intel's without tiles are not (26 to 19).
  bool is_fast() const { return is_fast_; }
  // "oneDNN 2.6.3".
  const std::string& name() const { return name_; }
  const DnnlFunctions& functions() const { return *functions_; }

 private:
  explicit Dnnl(std::unique_ptr<const DnnlFunctions> functions);

  const std::unique_ptr<const DnnlFunctions> functions_;
  std::string name_;
  bool has_bf16_ = false, is_fast_ = false;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_DNNL_H_
