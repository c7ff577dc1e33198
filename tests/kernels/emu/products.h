// Products on a device, against sums in double.
#ifndef HAWSER_TESTS_KERNELS_EMU_PRODUCTS_H_
#define HAWSER_TESTS_KERNELS_EMU_PRODUCTS_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "kernels/gpu/device/gemm_check.h"
#include "tests/kernels/emu/bench.h"

namespace hawser::testing {

struct ProductSize {
  int64_t batch = 2, m = 5, n = 7, k = 3;
};

// `gap` elements between lines, and between the matrices of a batch.
inline gpu::MatrixLayout Layout(DType dtype, bool column_major, int64_t rows,
                                int64_t columns, int64_t gap) {
  gpu::MatrixLayout l{.dtype = dtype, .column_major = column_major};
  l.leading = (column_major ? rows : columns) + gap;
  l.batch_stride = l.leading * (column_major ? columns : rows) + gap;
  return l;
}

// Bits 0, 1 and 2 of `layouts` say whether a, b, and c with d are column-major.
inline gpu::GemmSpec Product(DType factor, DType result, int layouts = 0,
                             int64_t gap = 0, const ProductSize& size = {}) {
  gpu::GemmSpec s{
      .batch = size.batch, .m = size.m, .n = size.n, .k = size.k};
  s.a = Layout(factor, layouts & 1, s.m, s.k, gap);
  s.b = Layout(factor, layouts & 2, s.k, s.n, gap);
  s.d = s.c = Layout(result, layouts & 4, s.m, s.n, gap);
  return s;
}

// A product's operands in the order of a call.
inline gpu::CallOperands OperandsOf(const gpu::GemmSpec& spec,
                                    const gpu::GemmOperands& named) {
  gpu::CallOperands operands{.operands = {named.a, named.b},
                             .results = {named.d},
                             .workspace = named.workspace};
  if (spec.has_c) operands.operands.push_back(named.c);
  if (spec.has_bias) operands.operands.push_back(named.bias);
  return operands;
}

namespace internal {

inline int64_t At(const gpu::MatrixLayout& l, int64_t batch, int64_t i,
                  int64_t j) {
  return batch * l.batch_stride +
         (l.column_major ? j * l.leading + i : i * l.leading + j);
}

// Small integers: every sum of them is exact in every type.
template <typename T>
std::vector<T> Small(int64_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < size; ++i) {
    values.push_back(
        T(static_cast<ComputeType<T>>(static_cast<int>(random() % 9) - 4)));
  }
  return values;
}

template <typename D>
using Wide =
    std::conditional_t<kIsComplex<D>, std::complex<double>, double>;
template <typename T>
Wide<T> Widen(T x) {
  if constexpr (kIsComplex<T>) {
    return std::complex<double>(x);
  } else {
    return static_cast<double>(static_cast<ComputeType<T>>(x));
  }
}

template <typename W>
W Activate(gpu::GemmActivation activation, W x) {
  if constexpr (std::is_same_v<W, double>) {
    if (activation == gpu::GemmActivation::kRelu) return std::max(x, 0.0);
    if (activation == gpu::GemmActivation::kGeluTanh) {
      const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
      return x * 0.5 * (1 + std::tanh(inner));
    }
  }
  return x;
}

}  // namespace internal

// F and D are the types of `spec`'s factors and results, which have batch
// strides. Returns the status of the device, or kDataLoss for a value that
// differs from the right one by more than `tolerance` times it.
template <typename F, typename D>
absl::Status CheckProduct(Bench* bench, const gpu::GemmSpec& spec,
                          double tolerance = 0) {
  using internal::At, internal::Small, internal::Widen;
  gpu::Device& device = bench->device();
  HAWSER_ASSIGN_OR_RETURN(const gpu::CallPlan plan, device.PlanCall(spec));
  const auto a = Small<F>(spec.batch * spec.a.batch_stride, 1);
  const auto b = Small<F>(spec.batch * spec.b.batch_stride, 2);
  const auto c = Small<D>(spec.batch * spec.d.batch_stride, 3);
  const auto bias = Small<D>(spec.n, 4);
  const auto as = bench->Put(a), bs = bench->Put(b);
  const auto cs = bench->Put(c), biases = bench->Put(bias), ds = bench->Put(c);
  const auto workspace = bench->Make<char>(device.WorkspaceBytes(plan));
  HAWSER_RETURN_IF_ERROR(
      device.RunCall(bench->stream(), plan,
                     OperandsOf(spec, {as.address, bs.address, ds.address,
                                       cs.address, biases.address,
                                       workspace.address})));
  const auto d = bench->Get(ds);
  HAWSER_RETURN_IF_ERROR(bench->status());
  HAWSER_RETURN_IF_ERROR(device.DestroyCall(plan));
  for (int64_t n = 0; n < spec.batch * spec.m * spec.n; ++n) {
    const int64_t batch = n / (spec.m * spec.n);
    const int64_t i = n / spec.n % spec.m, j = n % spec.n;
    internal::Wide<D> sum = 0;
    for (int64_t k = 0; k < spec.k; ++k) {
      sum += Widen(a[At(spec.a, batch, i, k)]) *
             Widen(b[At(spec.b, batch, k, j)]);
    }
    sum *= spec.alpha;
    if (spec.has_c) sum += spec.beta * Widen(c[At(spec.c, batch, i, j)]);
    if (spec.has_bias) sum += Widen(bias[j]);
    sum = internal::Activate(spec.activation, sum);
    const auto got = Widen(d[At(spec.d, batch, i, j)]);
    if (!(std::abs(got - sum) <= tolerance * (1 + std::abs(sum)))) {
      return DataLoss("element ", n, " is ", std::abs(got), ", not ",
                      std::abs(sum));
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_KERNELS_EMU_PRODUCTS_H_
