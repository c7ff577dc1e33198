// Fourier transforms by their definition, a sum for each element along one axis
// after the other, in `long double`, rounded once.
#include "core/ops/linalg/fft.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

using Line = std::vector<WideComplex>;

constexpr Wide kPi = 3.14159265358979323846264338327950288L;

// e^(-2 pi i m / n), or e^(+2 pi i m / n): the angle below a full turn, so
// exact at the quarters.
WideComplex RootOf(int64_t m, int64_t n, bool inverse) {
  m %= n;
  WideComplex root;
  if (4 * m % n == 0) {
    constexpr Wide kQuarters[] = {1, 0, -1, 0};
    const int64_t quarter = 4 * m / n;
    root = {kQuarters[quarter], kQuarters[(quarter + 1) % 4]};
  } else {
    const Wide angle = 2 * kPi * static_cast<Wide>(m) / static_cast<Wide>(n);
    root = {std::cos(angle), -std::sin(angle)};
  }
  return inverse ? std::conj(root) : root;
}

Line Transformed(const Line& x, bool inverse) {
  const auto n = static_cast<int64_t>(x.size());
  Line roots, y;
  for (int64_t m = 0; m < n; ++m) roots.push_back(RootOf(m, n, inverse));
  for (int64_t k = 0; k < n; ++k) {
    WideComplex sum = 0;
    int64_t at = 0;  // j k, without whole turns
    for (int64_t j = 0; j < n; ++j) {
      sum += ProductOf(x[j], roots[at]);
      at = at + k < n ? at + k : at + k - n;
    }
    y.push_back(inverse ? sum / static_cast<Wide>(n) : sum);
  }
  return y;
}

// Complex numbers of these sizes, in row-major order.
struct Array {
  Dims dims;
  Line values;

  // Transforms each line along an axis; then the axis has `kept` elements,
  // which fn(line) gives.
  template <typename Fn>
  Array Along(size_t axis, int64_t kept, Fn fn) const {
    Array out{dims, {}};
    out.dims[axis] = kept;
    int64_t outer = 1, inner = 1;
    for (size_t d = 0; d < axis; ++d) outer *= dims[d];
    for (size_t d = axis + 1; d < dims.size(); ++d) inner *= dims[d];
    const int64_t n = dims[axis];
    out.values.resize(outer * kept * inner);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        Line line;
        for (int64_t j = 0; j < n; ++j) {
          line.push_back(values[(o * n + j) * inner + i]);
        }
        line = fn(line);
        for (int64_t k = 0; k < kept; ++k) {
          out.values[(o * kept + k) * inner + i] = line[k];
        }
      }
    }
    return out;
  }
};

// All of a transform of real numbers, of its first half.
Line WholeOf(const Line& half, int64_t n) {
  Line all;
  for (int64_t k = 0; k < n; ++k) {
    const bool is_given = 2 * k <= n;
    const WideComplex x = half[is_given ? k : n - k];
    const bool alone = k == 0 || 2 * k == n;
    all.push_back(alone ? WideComplex(x.real()) : is_given ? x : std::conj(x));
  }
  return all;
}

absl::StatusOr<Values> Fft(const Context& c) {
  HAWSER_ASSIGN_OR_RETURN(Literal out, Literal::Allocate(c.result_shape()));
  const int64_t count = c.result_shape().num_elements();
  if (count == 0) return Values{std::move(out)};
  const FftType type = *FftTypeOf(c.attributes().GetString("fft_type"));
  const auto lengths = c.attributes().GetInts("fft_length");
  const bool inverse = type == FftType::kIfft || type == FftType::kIrfft;
  const auto whole = [&](const Line& x) { return Transformed(x, inverse); };
  Array array{c.shape(0).dims(), {}};
  for (int64_t i = 0; i < c.shape(0).num_elements(); ++i) {
    array.values.push_back(WideOf(ReadNumber(c.operands[0], i)));
  }
  const size_t last = array.dims.size() - 1;
  const int64_t n = lengths.back();
  if (type == FftType::kRfft) array = array.Along(last, HalfOf(n), whole);
  for (size_t i = 1; i < lengths.size(); ++i) {
    HAWSER_RETURN_IF_ERROR(c.cancel.Check());
    array = array.Along(last - i, array.dims[last - i], whole);
  }
  if (type == FftType::kIrfft) {
    array = array.Along(last, n,
                        [&](const Line& x) { return whole(WholeOf(x, n)); });
  } else if (type != FftType::kRfft) {
    array = array.Along(last, n, whole);
  }
  const DType dtype = c.result_shape().dtype();
  for (int64_t i = 0; i < count; ++i) {
    WriteNumber(InDType(array.values[i], dtype), i, &out);
  }
  return Values{std::move(out)};
}

constexpr Row kFftRows[] = {{&kFft, Fft}};

}  // namespace

absl::Span<const Row> FftRows() { return kFftRows; }

}  // namespace hawser::reference
