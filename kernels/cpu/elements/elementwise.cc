// The elementwise family: one functor a row.
#include "core/ops/elementwise/elementwise.h"

#include <bit>
#include <cmath>
#include <complex>

#include "kernels/cpu/elements/arithmetic.h"
#include "kernels/cpu/elements/element_loops.h"
#include "kernels/cpu/elements/folds.h"
#include "kernels/cpu/elements/precision.h"
#include "kernels/cpu/elements/scan_runs.h"
#include "kernels/cpu/families.h"

namespace hawser::cpu {
namespace {

struct Negate {
  template <IntegerType T>
  static T Apply(T x) {
    return Subtract::Apply(T{0}, x);
  }
  template <RealOrComplex T>
  static T Apply(T x) {
    return -x;
  }
};

struct Abs {
  template <IntegerType T>
  static T Apply(T x) {
    return std::is_signed_v<T> && x < 0 ? Subtract::Apply(T{0}, x) : x;
  }
  template <RealOrComplex T>
  static auto Apply(T x) {
    return std::abs(x);
  }
};

struct Sign {
  template <IntegerType T>
  static T Apply(T x) {
    return static_cast<T>((x > 0) - (std::is_signed_v<T> && x < 0));
  }
  template <RealType T>
  static T Apply(T x) {
    return x > 0 ? T{1} : x < 0 ? T{-1} : x;  // -0 and NaN stay
  }
  template <ComplexType T>
  static T Apply(T x) {
    if (x == T{0}) return x;
    // The magnitude of x may be beyond all numbers, or have few digits.
    const T z = Scaled(x, -ExponentOf(x));
    return z / std::abs(z);
  }
};

struct Exponential {
  template <RealType T>
  static T Apply(T x) {
    return std::exp(x);
  }
  // f32 in f64: the power of the real part may have few digits, or none,
  // where the result has them.
  template <ComplexType T>
  static T Apply(T z) {
    return T(std::exp(std::complex<double>(z)));
  }
};

struct ExponentialMinusOne {
  template <RealType T>
  static T Apply(T x) {
    return std::expm1(x);
  }
  // e^(a+ib) - 1 = expm1(a) cos b - 2 sin^2(b/2) + i e^a sin b, where nothing
  // cancels near 0. Beyond, the exponential knows its limits.
  template <ComplexType T>
  static T Apply(T z) {
    const bool near = std::abs(z.real()) <= 1 && std::isfinite(z.imag());
    if (!near) return std::exp(z) - T{1};
    const auto half = std::sin(z.imag() / 2);
    return T(std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half,
             std::exp(z.real()) * std::sin(z.imag()));
  }
};

struct Log {
  template <RealOrComplex T>
  static T Apply(T x) {
    return std::log(x);
  }
};

struct LogPlusOne {
  template <RealType T>
  static T Apply(T x) {
    return std::log1p(x);
  }
  // |1+z|^2 - 1 = a (2 + a) + b^2, exact near 0; far from it, and near -1,
  // where 1 + a is exact, plain log.
  template <ComplexType T>
  static T Apply(T z) {
    const auto a = z.real();
    const auto b = z.imag();
    if (!(std::abs(a) < 0.5 && std::abs(b) < 1)) return std::log(T(1 + a, b));
    return T(std::log1p(a * (2 + a) + b * b) / 2, std::atan2(b, 1 + a));
  }
};

struct Logistic {
  // It looks at the sign of x, so that exp never overflows.
  template <RealType T>
  static T Apply(T x) {
    const T e = std::exp(-std::abs(x));
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
  }
  template <ComplexType T>
  static T Apply(T x) {
    if (x.real() < 0) return std::exp(x) / OnePlusExp(x);
    return T{1} / OnePlusExp(-x);
  }
  // 1 + e^z for a real part a <= 0. Nothing cancels near its zeros, i pi and
  // the like: (1 - e^a) + 2 e^a cos^2(b/2) + i e^a sin b.
  template <ComplexType T>
  static T OnePlusExp(T z) {
    const auto a = z.real(), b = z.imag();
    if (!(a >= -1)) return T{1} + std::exp(z);
    const auto e = std::exp(a), half = std::cos(b / 2);
    return T(2 * e * half * half - std::expm1(a), e * std::sin(b));
  }
};

struct Sqrt {
  template <RealOrComplex T>
  static T Apply(T x) {
    return std::sqrt(x);
  }
};

struct Rsqrt {
  template <RealOrComplex T>
  static T Apply(T x) {
    return T{1} / std::sqrt(x);
  }
};

struct Cbrt {
  template <RealType T>
  static T Apply(T x) {
    return std::cbrt(x);
  }
};

struct Erf {
  template <RealType T>
  static T Apply(T x) {
    return std::erf(x);
  }
};

struct Erfc {
  template <RealType T>
  static T Apply(T x) {
    return std::erfc(x);
  }
};

// The library's own, without the variable in which C leaves the sign.
struct Lgamma {
  static float Apply(float x) {
    int sign;
    return lgammaf_r(x, &sign);
  }
  static double Apply(double x) {
    int sign;
    return lgamma_r(x, &sign);
  }
};

struct Tan {
  template <RealOrComplex T>
  static T Apply(T x) {
    return std::tan(x);
  }
};

struct Sine {
  template <RealOrComplex T>
  static T Apply(T x) {
    return std::sin(x);
  }
};

struct Cosine {
  template <RealOrComplex T>
  static T Apply(T x) {
    return std::cos(x);
  }
};

struct Tanh {
  template <RealOrComplex T>
  static T Apply(T x) {
    return std::tanh(x);
  }
};

struct Floor {
  template <RealType T>
  static T Apply(T x) {
    return std::floor(x);
  }
};

struct Ceil {
  template <RealType T>
  static T Apply(T x) {
    return std::ceil(x);
  }
};

struct RoundNearestEven {
  template <RealType T>
  static T Apply(T x) {
    return std::rint(x);  // the rounding mode is never changed
  }
};

struct RoundNearestAfz {
  template <RealType T>
  static T Apply(T x) {
    return std::round(x);
  }
};

struct PopulationCount {
  template <IntegerType T>
  static T Apply(T x) {
    return static_cast<T>(
        std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

struct CountLeadingZeros {
  template <IntegerType T>
  static T Apply(T x) {
    return static_cast<T>(
        std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

struct IsFinite {
  template <RealType T>
  static bool Apply(T x) {
    return std::isfinite(x);
  }
};

struct Not {
  template <IntegerType T>
  static T Apply(T x) {
    return static_cast<T>(~x);
  }
  template <BoolType T>
  static T Apply(T x) {
    return !x;
  }
};

struct Real {
  template <RealOrComplex T>
  static auto Apply(T x) {
    return std::real(x);
  }
};

struct Imag {
  template <RealType T>
  static T Apply(T x) {
    return T{0};
  }
  template <ComplexType T>
  static auto Apply(T x) {
    return x.imag();
  }
};

struct Complex {
  template <RealType T>
  static std::complex<T> Apply(T real, T imag) {
    return {real, imag};
  }
};

struct Clamp {
  template <typename T>
  static void Loop(const char* const* in, char* out, int64_t n) {
    const T* low = reinterpret_cast<const T*>(in[0]);
    const T* x = reinterpret_cast<const T*>(in[1]);
    const T* high = reinterpret_cast<const T*>(in[2]);
    T* r = reinterpret_cast<T*>(out);
    HAWSER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) {
      r[i] = static_cast<T>(Minimum::Apply(
          Maximum::Apply(Widen(x[i]), Widen(low[i])), Widen(high[i])));
    }
  }
  static ElementFn Element(const ElementTypes& types) {
    return VisitDType(types.result, [](auto tag) -> ElementFn {
      using T = typename decltype(tag)::type;
      if constexpr (kIsComplex<T>) {
        return nullptr;
      } else {
        return Loop<T>;
      }
    });
  }
};

// The row of a monoid.
template <typename F>
constexpr CpuKernel MonoidRow(const OpDef* op, ElementSteps steps = {}) {
  CpuKernel row = ElementRow(op, Binary<F>, steps);
  row.reduction = ReductionBy<F>;
  row.scan = ScanBy<F>;
  row.combine = Combine<F>;
  return row;
}

// Steps of integers, halves, f32, f64 and complex numbers.
constexpr ElementSteps kTrigonometric = {1, 8, 5, 23, 65};
constexpr CpuKernel kElementwiseKernels[] = {
    ElementRow(&kAbs, Unary<Abs>, {1, 4, 1, 1, 12}),
    MonoidRow<Add>(&kAdd),
    MonoidRow<And>(&kAnd),
    ElementRow(&kAtan2, Binary<Atan2>, {1, 25, 25, 30}),
    ElementRow(&kCbrt, Unary<Cbrt>, {1, 14, 12, 14}),
    ElementRow(&kCeil, Unary<Ceil>, {1, 4, 2, 2}),
    ElementRow(&kClamp, Clamp::Element, {1, 9, 2, 2}),
    ElementRow(&kComplex, Binary<Complex>),
    ElementRow(&kCosine, Unary<Cosine>, kTrigonometric),
    ElementRow(&kCountLeadingZeros, Unary<CountLeadingZeros>),
    ElementRow(&kDivide, Binary<Divide>, {2, 5, 1, 1, 40}),
    ElementRow(&kErf, Unary<Erf>, {1, 14, 12, 14}),
    ElementRow(&kErfc, Unary<Erfc>, {1, 24, 20, 26}),
    ElementRow(&kExponential, Unary<Exponential>, {1, 8, 6, 12, 40}),
    ElementRow(&kExponentialMinusOne, Unary<ExponentialMinusOne>,
               {1, 16, 11, 10, 60}),
    ElementRow(&kFloor, Unary<Floor>, {1, 4, 2, 2}),
    ElementRow(&kImag, Unary<Imag>),
    ElementRow(&kIsFinite, Unary<IsFinite>),
    ElementRow(&kLgamma, Unary<Lgamma>, {1, 40, 36, 60}),
    ElementRow(&kLog, Unary<Log>, {1, 8, 6, 7, 80}),
    ElementRow(&kLogPlusOne, Unary<LogPlusOne>, {1, 14, 11, 10, 80}),
    ElementRow(&kLogistic, Unary<Logistic>, {1, 12, 10, 15, 60}),
    MonoidRow<Maximum>(&kMaximum, {1, 6, 2, 2}),
    MonoidRow<Minimum>(&kMinimum, {1, 6, 2, 2}),
    MonoidRow<Multiply>(&kMultiply, {1, 6, 1, 1, 2}),
    ElementRow(&kNegate, Unary<Negate>),
    ElementRow(&kNot, Unary<Not>),
    MonoidRow<Or>(&kOr),
    ElementRow(&kPopcnt, Unary<PopulationCount>),
    ElementRow(&kPower, Binary<Power>, {8, 15, 10, 28, 500}),
    ElementRow(&kReal, Unary<Real>),
    ElementRow(&kRemainder, Binary<Remainder>, {2, 14, 7, 9}),
    ElementRow(&kReducePrecision, ReducePrecisionElement, {1, 4, 2, 2}),
    ElementRow(&kRoundNearestAfz, Unary<RoundNearestAfz>, {1, 6, 3, 3}),
    ElementRow(&kRoundNearestEven, Unary<RoundNearestEven>, {1, 4, 2, 2}),
    ElementRow(&kRsqrt, Unary<Rsqrt>, {1, 5, 1, 2, 55}),
    ElementRow(&kShiftLeft, Binary<ShiftLeft>),
    ElementRow(&kShiftRightArithmetic, Binary<ShiftRightArithmetic>),
    ElementRow(&kShiftRightLogical, Binary<ShiftRightLogical>),
    ElementRow(&kSign, Unary<Sign>, {1, 3, 1, 1, 35}),
    ElementRow(&kSine, Unary<Sine>, kTrigonometric),
    ElementRow(&kSqrt, Unary<Sqrt>, {1, 5, 1, 2, 35}),
    ElementRow(&kSubtract, Binary<Subtract>),
    ElementRow(&kTan, Unary<Tan>, {1, 14, 12, 28, 80}),
    ElementRow(&kTanh, Unary<Tanh>, {1, 21, 17, 16, 60}),
    ElementRow(&kXor, Binary<Xor>),
};

}  // namespace

absl::Span<const CpuKernel> ElementwiseKernels() { return kElementwiseKernels; }

}  // namespace hawser::cpu
