// DnnlConvolution: a convolution by oneDNN, features last, on one thread.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_DNNL_CONVOLUTION_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_DNNL_CONVOLUTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/values/dtype.h"
#include "kernels/cpu/libraries/dnnl.h"

namespace hawser::cpu {

// x [batch, x..., features] and a kernel [kernel..., features / groups, out]
// give [batch, result..., out]. Lists have an entry for each of 1 to 3 spatial
// axes.
struct DnnlConvolutionSizes {
  using Sizes = absl::InlinedVector<int64_t, 3>;

  DType dtype = DType::kF32;  // or kBF16, where Dnnl::has_bf16 says so
  int64_t batch = 1, groups = 1, features = 1, out = 1;
  Sizes x, kernel, result;
  Sizes strides, dilations;
  Sizes low;  // zeros in front; behind there are as many as results need
  // The convolution that gives x from the result, turned around: element i of x
  // adds to results from strides * i - low on.
  bool is_transposed = false;

  bool operator==(const DnnlConvolutionSizes&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const DnnlConvolutionSizes& s) {
    return H::combine(std::move(h), s.dtype, s.batch, s.groups, s.features,
                      s.out, s.x, s.kernel, s.result, s.strides, s.dilations,
                      s.low, s.is_transposed);
  }
};

// Immutable and thread-safe. Memory of x, kernel and result is dense.
class DnnlConvolution {
 public:
  using Ptr = std::shared_ptr<const DnnlConvolution>;

  // One of few hundred that the process keeps, or a new one. Errors:
  // kUnimplemented, the library has none or a slow one.
  static absl::StatusOr<Ptr> Find(const Dnnl& dnnl,
                                  const DnnlConvolutionSizes& sizes);
  ~DnnlConvolution();

  // Of a kernel in the library's order, and of scratch memory.
  int64_t kernel_bytes() const;
  int64_t scratch_bytes() const;
  // True if the other takes a kernel in the same order.
  bool HasOrderOf(const DnnlConvolution& other) const;
  // Brings a kernel into that order.
  absl::Status Pack(const char* kernel, char* packed) const;
  absl::Status Run(const char* x, const char* packed, char* result,
                   char* scratch) const;

 private:
  struct Parts;
  explicit DnnlConvolution(std::unique_ptr<const Parts> parts);
  static absl::StatusOr<Ptr> Make(const Dnnl& dnnl,
                                  const DnnlConvolutionSizes& sizes);

  const std::unique_ptr<const Parts> parts_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_DNNL_CONVOLUTION_H_
