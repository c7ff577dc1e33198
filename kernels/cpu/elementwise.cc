// The elementwise family: one functor a row.
#include <cmath>
#include <complex>

#include "core/ops/elementwise.h"
#include "kernels/cpu/arithmetic.h"
#include "kernels/cpu/element_loops.h"
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
  template <RealOrComplex T>
  static T Apply(T x) {
    return std::exp(x);
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
  // By the sign of x, so that exp never overflows.
  template <RealType T>
  static T Apply(T x) {
    const T e = std::exp(-std::abs(x));
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
  }
  template <ComplexType T>
  static T Apply(T x) {
    if (x.real() < 0) {
      const T e = std::exp(x);
      return e / (T{1} + e);
    }
    return T{1} / (T{1} + std::exp(-x));
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
    HAWSER_INDEPENDENT_TURNS
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

constexpr CpuKernel kKernels[] = {
    {&kAbs, RunElementwise, Unary<Abs>},
    {&kAdd, RunElementwise, Binary<Add>},
    {&kAnd, RunElementwise, Binary<And>},
    {&kAtan2, RunElementwise, Binary<Atan2>},
    {&kCeil, RunElementwise, Unary<Ceil>},
    {&kClamp, RunElementwise, Clamp::Element},
    {&kComplex, RunElementwise, Binary<Complex>},
    {&kCosine, RunElementwise, Unary<Cosine>},
    {&kDivide, RunElementwise, Binary<Divide>},
    {&kExponential, RunElementwise, Unary<Exponential>},
    {&kExponentialMinusOne, RunElementwise, Unary<ExponentialMinusOne>},
    {&kFloor, RunElementwise, Unary<Floor>},
    {&kImag, RunElementwise, Unary<Imag>},
    {&kIsFinite, RunElementwise, Unary<IsFinite>},
    {&kLog, RunElementwise, Unary<Log>},
    {&kLogPlusOne, RunElementwise, Unary<LogPlusOne>},
    {&kLogistic, RunElementwise, Unary<Logistic>},
    {&kMaximum, RunElementwise, Binary<Maximum>},
    {&kMinimum, RunElementwise, Binary<Minimum>},
    {&kMultiply, RunElementwise, Binary<Multiply>},
    {&kNegate, RunElementwise, Unary<Negate>},
    {&kNot, RunElementwise, Unary<Not>},
    {&kOr, RunElementwise, Binary<Or>},
    {&kPower, RunElementwise, Binary<Power>},
    {&kReal, RunElementwise, Unary<Real>},
    {&kRemainder, RunElementwise, Binary<Remainder>},
    {&kRoundNearestEven, RunElementwise, Unary<RoundNearestEven>},
    {&kRsqrt, RunElementwise, Unary<Rsqrt>},
    {&kShiftLeft, RunElementwise, Binary<ShiftLeft>},
    {&kShiftRightArithmetic, RunElementwise, Binary<ShiftRightArithmetic>},
    {&kShiftRightLogical, RunElementwise, Binary<ShiftRightLogical>},
    {&kSign, RunElementwise, Unary<Sign>},
    {&kSine, RunElementwise, Unary<Sine>},
    {&kSqrt, RunElementwise, Unary<Sqrt>},
    {&kSubtract, RunElementwise, Binary<Subtract>},
    {&kTanh, RunElementwise, Unary<Tanh>},
    {&kXor, RunElementwise, Binary<Xor>},
};

}  // namespace

absl::Span<const CpuKernel> ElementwiseKernels() { return kKernels; }

}  // namespace hawser::cpu
