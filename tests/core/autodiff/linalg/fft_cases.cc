// Cases of Fourier transforms.
#include <string>

#include "absl/strings/str_cat.h"
#include "core/ops/linalg/fft.h"
#include "tests/core/autodiff/case_families.h"

namespace hawser {
namespace {

OpCase Transform(const char* type, DType t, Dims dims, Dims lengths) {
  std::string name = absl::StrCat(type, " of ", DimsToString(dims), " by ",
                                  DimsToString(lengths));
  return Plain(
      std::move(name), kFft, {Spaced(t, std::move(dims), -2, 2)},
      {{"fft_length", std::move(lengths)}, {"fft_type", std::string(type)}});
}

Cases FftCases(DType t) {
  if (!IsComplex(t)) {
    return {Transform("RFFT", t, {6}, {6}),
            Transform("RFFT", t, {5}, {5}),
            Transform("RFFT", t, {1}, {1}),
            Transform("RFFT", t, {2, 2}, {2}),
            Transform("RFFT", t, {2, 3, 4}, {3, 4}),
            Transform("RFFT", t, {2, 2, 3}, {2, 2, 3}),
            Transform("RFFT", t, {2, 0}, {0})};
  }
  Cases cases = {Transform("IRFFT", t, {4}, {6}),
                 Transform("IRFFT", t, {3}, {5}),
                 Transform("IRFFT", t, {1}, {1}),
                 Transform("IRFFT", t, {2, 2}, {2}),
                 Transform("IRFFT", t, {2, 3, 3}, {3, 4}),
                 Transform("IRFFT", t, {2, 2, 2}, {2, 2, 3}),
                 Transform("IRFFT", t, {0, 3}, {4})};
  for (const char* type : {"FFT", "IFFT"}) {
    cases.push_back(Transform(type, t, {1}, {1}));
    cases.push_back(Transform(type, t, {5}, {5}));
    cases.push_back(Transform(type, t, {2, 4}, {4}));
    cases.push_back(Transform(type, t, {2, 3, 2}, {3, 2}));
    cases.push_back(Transform(type, t, {2, 3, 2}, {2, 3, 2}));
    cases.push_back(Transform(type, t, {0, 3}, {3}));
  }
  return cases;
}

constexpr CaseRow kRows[] = {
    {&kFft, FftCases},
};

}  // namespace

absl::Span<const CaseRow> TransformCases() { return kRows; }

}  // namespace hawser
