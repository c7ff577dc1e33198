// Discrete Fourier transforms.
#ifndef HAWSER_CORE_OPS_LINALG_FFT_H_
#define HAWSER_CORE_OPS_LINALG_FFT_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferFft(const InferContext& context);
AxisMap FftAxes(const InferContext& context, absl::Span<const Shape> results);
absl::Status FftPart(PartContext&);
absl::Status FftGradient(GradientContext&);

// What a transform takes and gives: complex numbers both ways; real numbers and
// the first half of their transform, of which the rest is the conjugate.
enum class FftType : uint8_t { kFft, kIfft, kRfft, kIrfft };
// By its name, "IRFFT"; nothing for another text.
std::optional<FftType> FftTypeOf(absl::string_view name);
// The first half of `size` elements, with the middle one: what RFFT keeps.
constexpr int64_t HalfOf(int64_t size) { return size == 0 ? 0 : size / 2 + 1; }

inline constexpr AttributeSpec kFftAttributes[] = {
    {"fft_length", AttributeKind::kInts, true,
     "the sizes of the last axes, which are transformed; of the real side"},
    {"fft_type", AttributeKind::kString, true, "FFT, IFFT, RFFT or IRFFT"},
};
inline constexpr DTypeSet kFftDTypes =
    DTypeSet::Of(DType::kF32) | DTypeSet::Of(DType::kF64) | kComplexes;
// C1: the operand has one of the row's dtypes. C2: fft_type is one of the four;
// RFFT takes real numbers, the others complex ones. C3: fft_length has 1 to 3
// entries, and not more than the operand has axes. C4: they are the sizes of
// the operand's last axes; of the last one, IRFFT takes the first half. C5: the
// result is a shape. Of IRFFT's result the dtype is the real part, of RFFT's
// the complex number.
inline constexpr OpDef kFft{
    .name = "fft",
    .arity = {1, 1},
    .dtypes = kFftDTypes,
    .result = FromComputation(),
    .attributes = kFftAttributes,
    .infer = InferFft,
    .axes = FftAxes,
    .part = PartBy(FftPart),
    .batch = BatchByEdits({}),
    .gradient = ByRule(FftGradient),
    .ulp = 16,
    .summary =
        "Fourier transform along the last axes: sums of x[j] e^(-2 pi i jk/n); "
        "IFFT and IRFFT: of e^(+2 pi i jk/n), divided by n. RFFT gives the "
        "first n/2 + 1 of the last axis, which IRFFT takes, without the "
        "imaginary parts of element 0 and n/2.",
    .source =
        "StableHLO fft; its result is not finite where an element is not"};

inline constexpr const OpDef* kFftOps[] = {&kFft};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_LINALG_FFT_H_
