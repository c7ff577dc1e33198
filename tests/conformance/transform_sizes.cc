#include "tests/conformance/transform_sizes.h"

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "core/ops/linalg/fft.h"

namespace hawser {
namespace {

// As complex numbers of the largest dtype.
std::vector<std::complex<double>> ElementsOf(const Literal& x) {
  std::vector<std::complex<double>> elements;
  VisitDType(x.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T> || kIsFloat<T>) {
      for (const T& v : x.data<T>()) elements.emplace_back(v);
    }
  });
  return elements;
}

}  // namespace

Literal TransformSizes(const Instruction& fft, const Literal& operand,
                       const Shape& result) {
  Literal sizes = Literal::Zeros(result);
  if (result.num_elements() == 0) return sizes;
  const auto lengths = fft.attributes.GetInts("fft_length");
  double length = 1;
  int64_t transforms = 1;
  for (const int64_t size : lengths) length *= static_cast<double>(size);
  for (size_t d = 0; d + lengths.size() < result.dims().size(); ++d) {
    transforms *= result.dims()[d];
  }
  const FftType type = *FftTypeOf(fft.attributes.GetString("fft_type"));
  const bool divides = type == FftType::kIfft || type == FftType::kIrfft;
  const double largest = ByteWidth(RealPart(result.dtype())) == 4
                             ? std::numeric_limits<float>::max()
                             : std::numeric_limits<double>::max();
  const auto elements = ElementsOf(operand);
  const size_t takes = elements.size() / transforms;
  const int64_t gives = result.num_elements() / transforms;
  for (int64_t t = 0; t < transforms; ++t) {
    double sum = 0, squares = 0;
    for (size_t k = t * takes; k < (t + 1) * takes; ++k) {
      // An element may stand for its conjugate, too.
      sum += 2 * (std::abs(elements[k].real()) + std::abs(elements[k].imag()));
      squares += 2 * std::norm(elements[k]);
    }
    const double size = !(4 * sum <= largest)
                            ? HUGE_VAL
                            : std::sqrt(squares) / (divides ? length : 1);
    VisitDType(result.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsComplex<T> || kIsFloat<T>) {
        for (int64_t k = t * gives; k < (t + 1) * gives; ++k) {
          sizes.mutable_data<T>()[k] = static_cast<T>(size);
        }
      }
    });
  }
  return sizes;
}

}  // namespace hawser
