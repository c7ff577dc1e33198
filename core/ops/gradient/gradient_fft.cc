// The gradients of Fourier transforms, which are transforms: the matrix of one
// is symmetric.
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/movement/shape.h"

namespace hawser {
namespace {

Expression Transformed(const GradientContext& c, const char* type,
                       const Expression& x) {
  const auto lengths = c.ints("fft_length");
  return Apply(kFft, {x},
               {{"fft_length", Dims(lengths.begin(), lengths.end())},
                {"fft_type", std::string(type)}});
}

// Half of a transform of real numbers, of which the elements that have a
// conjugate in the other half are multiplied by `inner`, the others by `outer`.
Expression Weighted(const GradientContext& c, const Expression& half,
                    double inner, double outer) {
  const int64_t size = c.ints("fft_length").back();
  const Dims dims = half.dims();
  const Shape weights = Shape::Of(RealPart(half.dtype()), dims);
  const Shape places = Shape::Of(DType::kS64, dims);
  const Expression place(
      &c.scope, c.scope.builder.Add(
                    kIota, {},
                    {{"dims", dims},
                     {"dtype", DType::kS64},
                     {"iota_dimension", static_cast<int64_t>(dims.size()) - 1}},
                    {}, SourceLocation{}));
  const auto is = [&](int64_t at) {
    return Compare(place, CompareDirection::kEq,
                   Filled(&c.scope, places, static_cast<double>(at)));
  };
  Expression alone = is(0);
  if (size % 2 == 0) alone = Apply(kOr, {alone, is(size / 2)});
  const Expression factor = Choose(alone, Filled(&c.scope, weights, outer),
                                   Filled(&c.scope, weights, inner));
  return half * Apply(kComplex, {factor, Like(factor, 0)});
}

}  // namespace

absl::Status FftGradient(GradientContext& c) {
  const FftType type =
      *FftTypeOf(c.instruction.attributes.GetString("fft_type"));
  double elements = 1;
  for (const int64_t size : c.ints("fft_length")) {
    elements *= static_cast<double>(size);
  }
  if (elements == 0) return absl::OkStatus();
  c.Give(0, [&] {
    switch (type) {
      case FftType::kFft:
        return Transformed(c, "FFT", c.g());
      case FftType::kIfft:
        return Transformed(c, "IFFT", c.g());
      case FftType::kRfft:
        // IRFFT counts an inner element twice, and divides.
        return Transformed(
            c, "IRFFT", Weighted(c, Conjugate(c.g()), elements / 2, elements));
      case FftType::kIrfft:
        break;
    }
    return Weighted(c, Conjugate(Transformed(c, "RFFT", c.g())), 2 / elements,
                    1 / elements);
  });
  return absl::OkStatus();
}

}  // namespace hawser
