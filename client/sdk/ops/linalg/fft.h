// Fourier transforms.
#ifndef HAWSER_CLIENT_SDK_OPS_LINALG_FFT_H_
#define HAWSER_CLIENT_SDK_OPS_LINALG_FFT_H_

#include <cstdint>
#include <optional>

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/values/shape.h"

namespace hawser {

// Fft(x, {.length = 512, .axis = 0}). The axis may be negative, from the back.
struct FftOptions {
  // Elements of the axis that are transformed, of Irfft those of the result:
  // what is too much is left out, what is missing is 0. Unset: those there are;
  // of Irfft 2 (n - 1), an even number.
  std::optional<int64_t> length = std::nullopt;
  int64_t axis = -1;
};
// Fft2(x, {.lengths = {64, 64}}): the same for two axes. None given: the last
// ones, and the lengths there are.
struct Fft2Options {
  Dims lengths = {};
  Dims axes = {};
};

// x: a tensor of numbers or bool, of at least one axis, or two. Transforms are
// computed in c64, of f64 and c128 in c128; where an element is not finite,
// none of its transform is. options: see above. Under Errors, which are all
// sticky and kInvalidArgument, "as usual" means a scalar, an axis there is not
// or twice, a negative length.

// Sums of x[j] e^(-2 pi i jk / n) along an axis. x, options: as above. Result:
// c64, of f64 and c128 c128. Errors: as usual. Grad: Fft of g. Source:
// StableHLO fft; Nx fft; NumPy fft.fft.
Tensor Fft(const Operand& x, const FftOptions& options = {});

// The inverse: sums of x[k] e^(+2 pi i jk / n), divided by n. x, options: as
// above. Result: as of Fft. Errors: as usual. Grad: Ifft of g. Source:
// StableHLO fft; Nx ifft; NumPy fft.ifft.
Tensor Ifft(const Operand& x, const FftOptions& options = {});

// The first n / 2 + 1 elements of Fft of real numbers, whose rest is their
// conjugates. x: no complex numbers. options: as above. Result: c64, of f64
// c128. Errors: as usual; complex numbers. Grad: Irfft of g, weighted. Source:
// StableHLO fft; Nx rfft; NumPy fft.rfft.
Tensor Rfft(const Operand& x, const FftOptions& options = {});

// The inverse of Rfft: n real numbers. Imaginary parts of element 0 and n / 2
// are left out. x, options: as above. Result: f32, of f64 and c128 f64. Errors:
// as usual; one element without a length. Grad: Rfft of g, weighted. Source:
// StableHLO fft; Nx irfft; NumPy fft.irfft.
Tensor Irfft(const Operand& x, const FftOptions& options = {});

// Fft along two axes. x, options: as above. Result: as of Fft. Errors: as
// usual; another number of axes or lengths than two. Grad: Fft2 of g. Source:
// StableHLO fft; Nx fft2; NumPy fft.fft2.
Tensor Fft2(const Operand& x, const Fft2Options& options = {});

// Ifft along two axes. x, options: as above. Result: as of Fft. Errors: as of
// Fft2. Grad: Ifft2 of g. Source: StableHLO fft; Nx ifft2; NumPy fft.ifft2.
Tensor Ifft2(const Operand& x, const Fft2Options& options = {});

// Rfft along the second of two axes, then Fft along the first. x: no complex
// numbers. options: as above. Result: as of Rfft. Errors: as of Fft2; complex
// numbers. Grad: Irfft2 of g, weighted. Source: StableHLO fft; NumPy fft.rfft2.
Tensor Rfft2(const Operand& x, const Fft2Options& options = {});

// The inverse of Rfft2. x, options: as above; the second length is that of real
// numbers. Result: as of Irfft. Errors: as of Fft2; one element without a
// length. Grad: Rfft2 of g, weighted. Source: StableHLO fft; NumPy fft.irfft2.
Tensor Irfft2(const Operand& x, const Fft2Options& options = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_FFT_H_
