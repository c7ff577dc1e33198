#include "kernels/emu/gemm.h"

#include <cmath>
#include <complex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"

namespace hawser::emu {
namespace {

using gpu::GemmActivation;
using gpu::GemmOperands;
using gpu::GemmSpec;
using gpu::MatrixLayout;

bool IsIn(DType d, std::initializer_list<DType> set) {
  for (const DType s : set) {
    if (s == d) return true;
  }
  return false;
}

bool HasTypes(DType factor, DType d) {
  switch (factor) {
    case DType::kF16:
    case DType::kBF16:
      return d == factor || d == DType::kF32;
    case DType::kS8:
      return d == DType::kS32;
    default:
      return d == factor &&
             IsIn(d, {DType::kF32, DType::kF64, DType::kC64, DType::kC128});
  }
}

// The place of element (row, column) of matrix `batch`.
struct Place {
  int64_t row_stride, column_stride, batch_stride;

  Place(const MatrixLayout& l, int64_t rows, int64_t columns)
      : row_stride(l.column_major ? 1 : gpu::LeadingOf(l, rows, columns)),
        column_stride(l.column_major ? gpu::LeadingOf(l, rows, columns) : 1),
        batch_stride(l.batch_stride) {}
  int64_t At(int64_t batch, int64_t row, int64_t column) const {
    return batch * batch_stride + row * row_stride + column * column_stride;
  }
};

template <typename Sum>
Sum Activate(GemmActivation activation, Sum x) {
  if constexpr (std::is_floating_point_v<Sum>) {
    if (activation == GemmActivation::kRelu) {
      return x > 0 ? x : x != x ? x : Sum{0};
    }
    if (activation == GemmActivation::kGeluTanh) {
      const Sum inner =
          Sum(0.7978845608028654) * (x + Sum(0.044715) * x * x * x);
      return x / 2 * (1 + std::tanh(inner));
    }
  }
  return x;
}

template <typename Sum, typename T>
Sum Widen(T x) {
  if constexpr (kIsHalf<T>) {
    return static_cast<Sum>(static_cast<float>(x));
  } else {
    return static_cast<Sum>(x);
  }
}

// Sum: the type that products are summed in; for integers the unsigned one,
// which wraps.
template <typename F, typename D, typename Sum>
void Multiply(const GemmSpec& s, const GemmOperands& o) {
  const Place at_a(s.a, s.m, s.k), at_b(s.b, s.k, s.n), at_c(s.c, s.m, s.n),
      at_d(s.d, s.m, s.n);
  const F* a = reinterpret_cast<const F*>(o.a.value);
  const F* b = reinterpret_cast<const F*>(o.b.value);
  const D* c = reinterpret_cast<const D*>(o.c.value);
  const D* bias = reinterpret_cast<const D*>(o.bias.value);
  D* d = reinterpret_cast<D*>(o.d.value);
  auto scale = [](double x) {
    if constexpr (kIsComplex<Sum>) {
      return Sum(static_cast<typename Sum::value_type>(x));
    } else if constexpr (std::is_integral_v<Sum>) {
      return static_cast<Sum>(static_cast<int64_t>(x));
    } else {
      return static_cast<Sum>(x);
    }
  };
  const Sum alpha = scale(s.alpha), beta = scale(s.beta);
  for (int64_t batch = 0; batch < s.batch; ++batch) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        Sum sum{};
        for (int64_t k = 0; k < s.k; ++k) {
          sum += Widen<Sum>(a[at_a.At(batch, i, k)]) *
                 Widen<Sum>(b[at_b.At(batch, k, j)]);
        }
        sum *= alpha;
        // If beta is 0, c is not read, as in the library: a NaN of it has no
        // effect.
        if (s.has_c && s.beta != 0) {
          sum += beta * Widen<Sum>(c[at_c.At(batch, i, j)]);
        }
        if (s.has_bias) sum += Widen<Sum>(bias[j]);
        d[at_d.At(batch, i, j)] = D(Activate(s.activation, sum));
      }
    }
  }
}

}  // namespace

absl::Status CheckGemm(const GemmSpec& s) {
  HAWSER_RETURN_IF_ERROR(gpu::CheckGemm(s));
  if (s.a.dtype != s.b.dtype || !HasTypes(s.a.dtype, s.d.dtype)) {
    return Unimplemented("gemm: ", DTypeName(s.a.dtype), " x ",
                         DTypeName(s.b.dtype), " -> ", DTypeName(s.d.dtype));
  }
  if (s.d.dtype == DType::kS32 &&
      (s.alpha != std::floor(s.alpha) || s.beta != std::floor(s.beta))) {
    return Unimplemented("gemm: integers times ", s.alpha, " and ", s.beta);
  }
  return absl::OkStatus();
}

int64_t SpanBytes(const MatrixLayout& layout, int64_t batch, int64_t rows,
                  int64_t columns) {
  if (batch == 0 || rows == 0 || columns == 0) return 0;
  const Place place(layout, rows, columns);
  return (place.At(batch - 1, rows - 1, columns - 1) + 1) *
         ByteWidth(layout.dtype);
}

void RunGemm(const GemmSpec& spec, const GemmOperands& operands) {
  const bool widens = spec.d.dtype == DType::kF32;
  switch (spec.a.dtype) {
    case DType::kF16:
      return widens ? Multiply<Half, float, float>(spec, operands)
                    : Multiply<Half, Half, float>(spec, operands);
    case DType::kBF16:
      return widens ? Multiply<BFloat16, float, float>(spec, operands)
                    : Multiply<BFloat16, BFloat16, float>(spec, operands);
    case DType::kF32:
      return Multiply<float, float, float>(spec, operands);
    case DType::kF64:
      return Multiply<double, double, double>(spec, operands);
    case DType::kC64:
      return Multiply<std::complex<float>, std::complex<float>,
                      std::complex<float>>(spec, operands);
    case DType::kC128:
      return Multiply<std::complex<double>, std::complex<double>,
                      std::complex<double>>(spec, operands);
    default:
      return Multiply<int8_t, int32_t, uint32_t>(spec, operands);
  }
}

}  // namespace hawser::emu
