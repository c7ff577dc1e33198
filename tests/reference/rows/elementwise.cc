// One element of the result from one of each operand: arithmetic and bits.
#include "core/ops/elementwise/elementwise.h"

#include <algorithm>
#include <cmath>

#include "core/base/status.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

// The operands of an op, of one dtype.
struct Elements {
  DType dtype;
  absl::Span<const Number> x;

  bool is_integer() const { return IsInteger(dtype) || IsBool(dtype); }
  bool is_complex() const { return IsComplex(dtype); }
  uint64_t bits(int k) const { return x[k].bits; }
  int64_t integer(int k) const { return static_cast<int64_t>(x[k].bits); }
  double real(int k) const { return x[k].value.real(); }
  Complex complex(int k) const { return x[k].value; }
};

Number OfReal(double x) { return Number::Of(Complex(x, 0)); }
Number OfBits(uint64_t x) { return Number::Of(x); }

// ---- of one -----------------------------------------------------------------

Number Abs(DType dtype, Numbers x) {
  const Elements e{dtype, x};
  if (e.is_integer()) {
    const bool negative = IsSigned(dtype) && e.integer(0) < 0;
    return OfBits(negative ? -e.bits(0) : e.bits(0));
  }
  return OfReal(e.is_complex() ? std::abs(x[0].value) : std::fabs(e.real(0)));
}

Number Negate(DType dtype, Numbers x) {
  const Elements e{dtype, x};
  return e.is_integer() ? OfBits(-e.bits(0)) : Number::Of(-e.complex(0));
}

Number Sign(DType dtype, Numbers x) {
  const Elements e{dtype, x};
  if (e.is_integer()) {
    const bool negative = IsSigned(dtype) && e.integer(0) < 0;
    return OfBits(negative ? ~uint64_t{0} : uint64_t{e.bits(0) != 0});
  }
  if (e.is_complex()) {
    const WideComplex z = WideOf(x[0]);
    const Wide size = std::abs(z);
    return size == 0 ? x[0] : InDType(z / size, dtype);
  }
  const double real = e.real(0);
  return real == 0 || std::isnan(real) ? x[0]
                                       : OfReal(std::copysign(1.0, real));
}

Number Floor(DType, Numbers x) { return OfReal(std::floor(x[0].value.real())); }
Number Ceil(DType, Numbers x) { return OfReal(std::ceil(x[0].value.real())); }
Number RoundNearestEven(DType, Numbers x) {
  return OfReal(std::nearbyint(x[0].value.real()));
}
Number RoundNearestAfz(DType, Numbers x) {
  const double size = std::fabs(x[0].value.real());
  const double whole = std::trunc(size);
  return OfReal(
      std::copysign(size - whole < 0.5 ? whole : whole + 1, x[0].value.real()));
}
Number IsFinite(DType, Numbers x) {
  return OfBits(uint64_t{std::isfinite(x[0].value.real())});
}
Number Not(DType dtype, Numbers x) {
  return OfBits(IsBool(dtype) ? uint64_t{x[0].bits == 0} : ~x[0].bits);
}
Number PopulationCount(DType dtype, Numbers x) {
  uint64_t count = 0;
  for (int k = 0; k < BitWidth(dtype); ++k) count += x[0].bits >> k & 1;
  return OfBits(count);
}
Number CountLeadingZeros(DType dtype, Numbers x) {
  const auto width = static_cast<uint64_t>(BitWidth(dtype));
  uint64_t count = 0;
  while (count < width && (x[0].bits >> (width - 1 - count) & 1) == 0) ++count;
  return OfBits(count);
}
Number RealPart(DType, Numbers x) { return OfReal(x[0].value.real()); }
Number ImagPart(DType, Numbers x) { return OfReal(x[0].value.imag()); }

// ---- of two -----------------------------------------------------------------

Number Add(DType dtype, Numbers x) {
  const Elements e{dtype, x};
  if (e.is_integer()) return OfBits(e.bits(0) + e.bits(1));
  return Number::Of(e.complex(0) + e.complex(1));
}

Number Subtract(DType dtype, Numbers x) {
  const Elements e{dtype, x};
  if (e.is_integer()) return OfBits(e.bits(0) - e.bits(1));
  return Number::Of(e.complex(0) - e.complex(1));
}

Number Multiply(DType dtype, Numbers x) {
  const Elements e{dtype, x};
  if (e.is_integer()) return OfBits(e.bits(0) * e.bits(1));
  if (!e.is_complex()) return OfReal(e.real(0) * e.real(1));
  return InDType(ProductOf(WideOf(x[0]), WideOf(x[1])), dtype);
}

Number Divide(DType dtype, Numbers x) {
  const Elements e{dtype, x};
  if (e.is_complex()) return InDType(WideOf(x[0]) / WideOf(x[1]), dtype);
  if (!e.is_integer()) return OfReal(e.real(0) / e.real(1));
  if (e.bits(1) == 0) return OfBits(~uint64_t{0});
  if (!IsSigned(dtype)) return OfBits(e.bits(0) / e.bits(1));
  if (e.integer(1) == -1) return OfBits(-e.bits(0));
  return OfBits(static_cast<uint64_t>(e.integer(0) / e.integer(1)));
}

Number Remainder(DType dtype, Numbers x) {
  const Elements e{dtype, x};
  if (!e.is_integer()) return OfReal(std::fmod(e.real(0), e.real(1)));
  if (e.bits(1) == 0) return x[0];
  if (!IsSigned(dtype)) return OfBits(e.bits(0) % e.bits(1));
  if (e.integer(1) == -1) return OfBits(0);
  return OfBits(static_cast<uint64_t>(e.integer(0) % e.integer(1)));
}

// True if x[above] is above x[below]; a NaN is above nothing and below nothing.
bool IsAbove(DType dtype, Numbers x, int above, int below) {
  const Elements e{dtype, x};
  if (e.is_integer()) {
    return IsSigned(dtype) ? e.integer(above) > e.integer(below)
                           : e.bits(above) > e.bits(below);
  }
  if (e.real(above) == 0 && e.real(below) == 0) {
    return std::signbit(e.real(below));
  }
  return e.real(above) > e.real(below);
}

bool IsNaN(DType dtype, const Number& x) {
  return IsFloat(dtype) && std::isnan(x.value.real());
}

Number Extreme(DType dtype, Numbers x, bool largest) {
  for (const Number& each : x) {
    if (IsNaN(dtype, each)) return each;
  }
  return IsAbove(dtype, x, 0, 1) == largest ? x[0] : x[1];
}
Number Maximum(DType dtype, Numbers x) { return Extreme(dtype, x, true); }
Number Minimum(DType dtype, Numbers x) { return Extreme(dtype, x, false); }

Number And(DType, Numbers x) { return OfBits(x[0].bits & x[1].bits); }
Number Or(DType, Numbers x) { return OfBits(x[0].bits | x[1].bits); }
Number Xor(DType, Numbers x) { return OfBits(x[0].bits ^ x[1].bits); }

// A negative number of places is a large one.
bool IsBeyond(DType dtype, const Number& places) {
  return places.bits >= static_cast<uint64_t>(BitWidth(dtype));
}
Number ShiftLeft(DType dtype, Numbers x) {
  return OfBits(IsBeyond(dtype, x[1]) ? 0 : x[0].bits << x[1].bits);
}
Number ShiftRightLogical(DType dtype, Numbers x) {
  if (IsBeyond(dtype, x[1])) return OfBits(0);
  const int unused = 64 - BitWidth(dtype);
  return OfBits((x[0].bits << unused >> unused) >> x[1].bits);
}
Number ShiftRightArithmetic(DType dtype, Numbers x) {
  const int unused = 64 - BitWidth(dtype);
  const uint64_t places = IsBeyond(dtype, x[1]) ? 63 : x[1].bits;
  const auto extended = static_cast<int64_t>(x[0].bits << unused) >> unused;
  return OfBits(static_cast<uint64_t>(extended >> places));
}

Number MakeComplex(DType, Numbers x) {
  return Number::Of(Complex(x[0].value.real(), x[1].value.real()));
}

// ---- of three ---------------------------------------------------------------

Number Clamp(DType dtype, Numbers x) {
  const Number low[] = {x[1], x[0]};
  const Number high[] = {Maximum(dtype, low), x[2]};
  return Minimum(dtype, high);
}

// Rounds by numbers: a float of fewer bits is a whole number of units. If two
// are as near, it is the one whose last bit is 0, which without a fraction is
// the exponent's.
double Reduced(double x, FloatBits to, FloatBits all) {
  if (!std::isfinite(x) || x == 0) return x;
  const int bias = (1 << (all.exponent - 1)) - 1;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| is in [0.5, 1) * 2 ** exponent
  const int field = std::max(exponent - 1 + bias, 0);
  const int unit = std::max(field, 1) - bias - to.mantissa;
  const double units = std::ldexp(x, -unit), below = std::trunc(units);
  double whole = std::nearbyint(units);
  if (to.mantissa == 0 && std::fabs(units - below) == 0.5) {
    whole = field % 2 == 0 ? below : below + std::copysign(1.0, x);
  }
  const double rounded = std::copysign(std::ldexp(whole, unit), x);
  if (to.exponent == all.exponent) return rounded;
  const int limit = 1 << (to.exponent - 1);
  if (std::fabs(rounded) >= std::ldexp(1.0, limit)) {
    return std::copysign(HUGE_VAL, x);
  }
  return std::fabs(rounded) < std::ldexp(1.0, 2 - limit) ? std::copysign(0.0, x)
                                                         : rounded;
}

absl::StatusOr<Values> ReducePrecision(const Context& c) {
  const DType dtype = c.result_shape().dtype();
  const FloatBits all = FloatBitsOf(dtype);
  const FloatBits to = PrecisionOf(c.attributes(), dtype);
  HAWSER_ASSIGN_OR_RETURN(Literal out,
                          FillByPlace(c, c.result_shape(), [&](int64_t place) {
                            const Number x = ReadNumber(c.operands[0], place);
                            return OfReal(Reduced(x.value.real(), to, all));
                          }));
  return Values{std::move(out)};
}

constexpr Row kElementwiseRows[] = {
    {&kAbs, ElementByElement<Abs>},
    {&kNegate, ElementByElement<Negate>},
    {&kSign, ElementByElement<Sign>},
    {&kFloor, ElementByElement<Floor>},
    {&kCeil, ElementByElement<Ceil>},
    {&kRoundNearestEven, ElementByElement<RoundNearestEven>},
    {&kRoundNearestAfz, ElementByElement<RoundNearestAfz>},
    {&kPopcnt, ElementByElement<PopulationCount>},
    {&kCountLeadingZeros, ElementByElement<CountLeadingZeros>},
    {&kReducePrecision, ReducePrecision},
    {&kIsFinite, ElementByElement<IsFinite>},
    {&kNot, ElementByElement<Not>},
    {&kReal, ElementByElement<RealPart>},
    {&kImag, ElementByElement<ImagPart>},
    {&kAdd, ElementByElement<Add>},
    {&kSubtract, ElementByElement<Subtract>},
    {&kMultiply, ElementByElement<Multiply>},
    {&kDivide, ElementByElement<Divide>},
    {&kRemainder, ElementByElement<Remainder>},
    {&kMaximum, ElementByElement<Maximum>},
    {&kMinimum, ElementByElement<Minimum>},
    {&kAnd, ElementByElement<And>},
    {&kOr, ElementByElement<Or>},
    {&kXor, ElementByElement<Xor>},
    {&kShiftLeft, ElementByElement<ShiftLeft>},
    {&kShiftRightLogical, ElementByElement<ShiftRightLogical>},
    {&kShiftRightArithmetic, ElementByElement<ShiftRightArithmetic>},
    {&kComplex, ElementByElement<MakeComplex>},
    {&kClamp, ElementByElement<Clamp>},
};

}  // namespace

absl::Span<const Row> ElementwiseRows() { return kElementwiseRows; }

}  // namespace hawser::reference
