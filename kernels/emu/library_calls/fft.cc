#include "kernels/emu/library_calls/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <vector>

#include "core/base/status.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::emu {
namespace {

using gpu::FftKind;
using gpu::FftSpec;

template <typename W>
using Numbers = std::vector<std::complex<W>>;

// e^(sign 2 pi i k/n) for each k.
template <typename W>
Numbers<W> Roots(int64_t n, int sign) {
  Numbers<W> roots(n);
  for (int64_t k = 0; k < n; ++k) {
    const W angle = 2 * std::numbers::pi_v<W> * static_cast<W>(k) /
                    static_cast<W>(n) * static_cast<W>(sign);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
  return roots;
}

// The transform of every `step`-th of line[first...]; roots are those of n x
// `step`. An even n is halved until the definition is quick.
template <typename W>
Numbers<W> Transformed(const Numbers<W>& line, int64_t first, int64_t step,
                       const Numbers<W>& roots) {
  const auto total = static_cast<int64_t>(roots.size());
  const int64_t n = total / step;
  Numbers<W> out(n);
  if (n % 2 == 0 && n > 16) {
    const Numbers<W> even = Transformed(line, first, 2 * step, roots);
    const Numbers<W> odd = Transformed(line, first + step, 2 * step, roots);
    for (int64_t k = 0; k < n; ++k) {
      out[k] = even[k % (n / 2)] + roots[k * step] * odd[k % (n / 2)];
    }
    return out;
  }
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t j = 0; j < n; ++j) {
      out[k] += line[first + j * step] * roots[j * k % n * step];
    }
  }
  return out;
}

// Transforms `values` along axis `axis` of `dims`, which is of `size`.
template <typename W>
void TransformAxis(Numbers<W>* values, absl::Span<const int64_t> dims,
                   size_t axis, int sign) {
  int64_t inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  const int64_t n = dims[axis];
  const Numbers<W> roots = Roots<W>(n, sign);
  Numbers<W> line(n);
  const auto size = static_cast<int64_t>(values->size());
  for (int64_t start = 0; start < size; start += n * inner) {
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t k = 0; k < n; ++k) {
        line[k] = (*values)[start + k * inner + i];
      }
      const Numbers<W> out = Transformed(line, 0, 1, roots);
      for (int64_t k = 0; k < n; ++k) {
        (*values)[start + k * inner + i] = out[k];
      }
    }
  }
}

// T: float or double, the numbers of the call. W: those that it sums in.
template <typename T, typename W>
class Transform {
 public:
  explicit Transform(const FftSpec& spec)
      : spec_(spec),
        dims_(spec.lengths.begin(), spec.lengths.end()),
        n_(spec.lengths.back()) {
    dims_.insert(dims_.begin(), spec.batch);
  }

  absl::Status Run(void* from, void* to) {
    switch (spec_.kind) {
      case FftKind::kRealForward:
        RealForward(static_cast<const T*>(from),
                    static_cast<std::complex<T>*>(to));
        return absl::OkStatus();
      case FftKind::kRealInverse:
        return RealInverse(static_cast<std::complex<T>*>(from),
                           static_cast<T*>(to));
      default:
        break;
    }
    const auto* in = static_cast<const std::complex<T>*>(from);
    Numbers<W> values(in, in + Size());
    const int sign = spec_.kind == FftKind::kForward ? -1 : 1;
    for (size_t a = 1; a < dims_.size(); ++a) Along(&values, a, sign);
    auto* out = static_cast<std::complex<T>*>(to);
    for (size_t i = 0; i < values.size(); ++i) {
      out[i] = std::complex<T>(values[i]);
    }
    return absl::OkStatus();
  }

 private:
  int64_t Size() const {
    int64_t size = 1;
    for (const int64_t d : dims_) size *= d;
    return size;
  }
  void Along(Numbers<W>* values, size_t axis, int sign) {
    TransformAxis(values, dims_, axis, sign);
  }

  void RealForward(const T* in, std::complex<T>* out) {
    Numbers<W> values(in, in + Size());
    for (size_t a = 1; a < dims_.size(); ++a) Along(&values, a, -1);
    const int64_t half = n_ / 2 + 1;
    for (int64_t row = 0; row < Size() / n_; ++row) {
      for (int64_t k = 0; k < half; ++k) {
        out[row * half + k] = std::complex<T>(values[row * n_ + k]);
      }
    }
  }

  absl::Status RealInverse(std::complex<T>* in, T* out) {
    const int64_t half = n_ / 2 + 1, rows = Size() / n_;
    dims_.back() = half;
    Numbers<W> values(in, in + Size());
    std::memset(static_cast<void*>(in), 0xff, Size() * sizeof(*in));
    W largest = 0;
    for (const auto& v : values) largest = std::max(largest, std::abs(v));
    for (size_t a = 1; a + 1 < dims_.size(); ++a) Along(&values, a, 1);
    const Numbers<W> roots = Roots<W>(n_, 1);
    const W limit = largest * static_cast<W>(1e-4 * Size());
    Numbers<W> line(n_);
    for (int64_t row = 0; row < rows; ++row) {
      const auto* first = &values[row * half];
      const W imaginary =
          std::max(std::abs(first[0].imag()),
                   n_ % 2 == 0 ? std::abs(first[half - 1].imag()) : W{0});
      if (imaginary > limit) {
        return Internal("fft: row ", row,
                        " is not the transform of real numbers");
      }
      for (int64_t k = 0; k < n_; ++k) {
        line[k] = k < half ? first[k] : std::conj(first[n_ - k]);
      }
      const Numbers<W> whole = Transformed(line, 0, 1, roots);
      for (int64_t k = 0; k < n_; ++k) {
        out[row * n_ + k] = static_cast<T>(whole[k].real());
      }
    }
    return absl::OkStatus();
  }

  const FftSpec& spec_;
  std::vector<int64_t> dims_;  // the batch, then the lengths
  const int64_t n_;
};

}  // namespace

absl::Status RunCall(const FftSpec& spec, const gpu::CallOperands& operands) {
  void* const from = reinterpret_cast<void*>(operands.operands[0].value);
  void* const to = reinterpret_cast<void*>(operands.results[0].value);
  return spec.complex == DType::kC64
             ? Transform<float, double>(spec).Run(from, to)
             : Transform<double, long double>(spec).Run(from, to);
}

}  // namespace hawser::emu
