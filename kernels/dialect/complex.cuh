// Complex numbers. Sums and moves are exact, all else is good to a few units in
// the last place of the magnitude. Needs reduce.cuh before it.
#ifndef HK_COMPLEX
#define HK_COMPLEX

namespace hk {
template <class T> struct Type<Complex<T>> : FloatType<false, Complex<T>> {};
template <class T> constexpr bool kComplex = false;
template <class T> constexpr bool kComplex<Complex<T>> = true;

template <class T> HK_DEVICE Complex<T> MakeComplex(T re, T im) {
  return {re, im};
}
template <class T> HK_DEVICE T Real(Complex<T> z) { return z.re; }
template <class T> HK_DEVICE T Imag(Complex<T> z) { return z.im; }
template <class T>
HK_DEVICE bool operator==(Complex<T> a, Complex<T> b) {
  return a.re == b.re && a.im == b.im;
}
template <class T>
HK_DEVICE bool operator!=(Complex<T> a, Complex<T> b) {
  return !(a == b);
}
template <class T> HK_DEVICE Complex<T> Add(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T> HK_DEVICE Complex<T> Subtract(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T> HK_DEVICE Complex<T> Negate(Complex<T> a) {
  return {-a.re, -a.im};
}
template <class T> HK_DEVICE Complex<T> Multiply(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
HK_DEVICE float Abs(c64 z) { return hypotf(z.re, z.im); }
HK_DEVICE double Abs(c128 z) { return hypot(z.re, z.im); }
template <class T> HK_DEVICE bool IsFinite(Complex<T> z) {
  return IsFinite(z.re) && IsFinite(z.im);
}
template <class T> HK_DEVICE Complex<T> Scale(Complex<T> z, T by) {
  return {z.re * by, z.im * by};
}
// 2^e, of the exponents that Exponent gives and half of their differences.
template <class T> HK_DEVICE T TwoTo(s32 e) {
  if constexpr (kSame<T, float>) return BitCast<float>((u32)(e + 127) << 23);
  else return BitCast<double>((u64)(e + 1023) << 52);
}
// TwoTo(-Exponent(z)) times z has no part that is 4 or more, and one that is 1
// or more unless both were subnormal. Zeros, infinities and NaN stay so.
template <class T> HK_DEVICE s32 Exponent(Complex<T> z) {
  constexpr s32 kMost = kSame<T, float> ? 126 : 1022;
  const T size = Max(Abs(z.re), Abs(z.im));
  s32 field;
  if constexpr (kSame<T, float>) field = (s32)(BitCast<u32>(size) >> 23);
  else field = (s32)(BitCast<u64>(size) >> 52);
  return Clamp(-kMost, field - kMost - 1, kMost);
}
// Divides by the larger part of b (Smith), after both are brought to where
// nothing overflows.
template <class T> HK_DEVICE Complex<T> Divide(Complex<T> a, Complex<T> b) {
  const s32 up = Exponent(a), down = Exponent(b);
  a = Scale(a, TwoTo<T>(-up));
  b = Scale(b, TwoTo<T>(-down));
  Complex<T> z;
  if (Abs(b.re) >= Abs(b.im)) {
    const T r = b.im / b.re, d = b.re + b.im * r;
    z = {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  } else {
    const T r = b.re / b.im, d = b.re * r + b.im;
    z = {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
  }
  // 2^(up - down) may be beyond all numbers where the quotient is not.
  const s32 half = (up - down) / 2;
  return Scale(Scale(z, TwoTo<T>(half)), TwoTo<T>(up - down - half));
}
template <class T> HK_DEVICE Complex<T> Sign(Complex<T> z) {
  if (z.re == 0 && z.im == 0) return z;
  z = Scale(z, TwoTo<T>(-Exponent(z)));
  const T size = Abs(z);
  return {z.re / size, z.im / size};
}
// Infinities and NaN as C has them.
template <class T> HK_DEVICE Complex<T> Exp(Complex<T> z) {
  if (z.im == 0) return {Exp(z.re), z.im};
  if (!IsFinite(z.im)) {
    const T none = z.im - z.im;
    if (IsFinite(z.re) || z.re != z.re) return {none, none};
    return z.re < 0 ? Complex<T>{0, 0} : Complex<T>{z.re, none};
  }
  const T c = Cos(z.im), s = Sin(z.im);
  // If e^a is beyond all numbers or has few digits, e^(a/2) is multiplied
  // twice.
  if (Abs(z.re) > (kSame<T, float> ? 80 : 700)) {
    const T half = Exp(z.re / 2);
    return {half * c * half, half * s * half};
  }
  const T e = Exp(z.re);
  return {e * c, e * s};
}
// Near 0 nothing cancels: expm1(a) cos b - 2 sin^2(b/2) + i e^a sin b.
template <class T> HK_DEVICE Complex<T> Expm1(Complex<T> z) {
  if (!(Abs(z.re) <= 1)) return Subtract(Exp(z), Complex<T>{1, 0});
  const T half = Sin(z.im / 2);
  return {Expm1(z.re) * Cos(z.im) - 2 * half * half, Exp(z.re) * Sin(z.im)};
}
// log |z|, also where |z| is beyond all numbers or has few digits.
template <class T> HK_DEVICE T LogOfSize(Complex<T> z) {
  const s32 e = Exponent(z) / 64 * 64;
  return Log(Abs(Scale(z, TwoTo<T>(-e)))) + e * (T)0.69314718055994531;
}
// |1+z|^2 - 1 = a (2 + a) + b^2, exact near 0; 1 + a is exact near -1.
template <class T> HK_DEVICE Complex<T> Log1p(Complex<T> z) {
  const T a = z.re, b = z.im;
  if (!(Abs(a) < (T)0.5 && Abs(b) < 1)) {
    return {LogOfSize(Complex<T>{1 + a, b}), Atan2(b, 1 + a)};
  }
  return {Log1p(a * (2 + a) + b * b) / 2, Atan2(b, 1 + a)};
}
template <class T> HK_DEVICE Complex<T> Log(Complex<T> z) {
  const T size = Abs(z);
  if (size > (T)0.5 && size < 2) return Log1p(Complex<T>{z.re - 1, z.im});
  return {LogOfSize(z), Atan2(z.im, z.re)};
}
// 1 + e^z of a real part a <= 0; nothing cancels near its zeros, i pi and the
// like: (1 - e^a) + 2 e^a cos^2(b/2) + i e^a sin b.
template <class T> HK_DEVICE Complex<T> OnePlusExp(Complex<T> z) {
  if (!(z.re >= -1)) return Add(Complex<T>{1, 0}, Exp(z));
  const T e = Exp(z.re), half = Cos(z.im / 2);
  return {2 * e * half * half - Expm1(z.re), e * Sin(z.im)};
}
template <class T> HK_DEVICE Complex<T> Logistic(Complex<T> z) {
  if (z.re < 0) return Divide(Exp(z), OnePlusExp(z));
  return Divide(Complex<T>{1, 0}, OnePlusExp(Negate(z)));
}
// Scales to numbers whose halves are exact and whose magnitudes are finite.
template <class T> HK_DEVICE Complex<T> Sqrt(Complex<T> z) {
  if (z.re == 0 && z.im == 0) return {0, z.im};
  const s32 half = Exponent(z) / 2;
  z = Scale(z, TwoTo<T>(-2 * half));
  const T t = Sqrt(Abs(z.re) / 2 + Abs(z) / 2), back = TwoTo<T>(half);
  if (z.re >= 0) return {t * back, z.im / (2 * t) * back};
  // A zero's sign tells on which side of the branch cut it is.
  const bool is_below = z.im < 0 || 1 / z.im < 0;
  return {Abs(z.im) / (2 * t) * back, is_below ? -t * back : t * back};
}
template <class T> HK_DEVICE bool IsInfinite(T x) {
  return x == x && !IsFinite(x);
}
// 0 of what is infinite, as C's quotient is.
template <class T> HK_DEVICE Complex<T> Rsqrt(Complex<T> z) {
  if (IsInfinite(z.re) || IsInfinite(z.im)) return {0, 0};
  return Divide(Complex<T>{1, 0}, Sqrt(z));
}
template <class T> HK_DEVICE T Sinh(T x) {
  if (x == 0) return x;  // keeps its sign
  const T e = Expm1(Abs(x));
  const T s = e > 1 ? e / 2 + (1 - 1 / (e + 1)) / 2 : e / 2 + e / (e + 1) / 2;
  return x < 0 ? -s : s;
}
template <class T> HK_DEVICE T Cosh(T x) {
  const T e = Exp(Abs(x));
  return e / 2 + (T)0.5 / e;
}
template <class T> HK_DEVICE Complex<T> Sin(Complex<T> z) {
  return {Sin(z.re) * Cosh(z.im), Cos(z.re) * Sinh(z.im)};
}
template <class T> HK_DEVICE Complex<T> Cos(Complex<T> z) {
  return {Cos(z.re) * Cosh(z.im), -(Sin(z.re) * Sinh(z.im))};
}
// (s c + i sin b cos b) / (s^2 + cos^2 b) of s = sinh a, c = cosh a, both over
// c^2 where they are large.
template <class T> HK_DEVICE Complex<T> Tanh(Complex<T> z) {
  const T u = Sin(z.im), v = Cos(z.im);
  if (Abs(z.re) > 8) {
    const T e = Exp(-Abs(z.re));
    const T d = 1 + 2 * e * e * (v * v - u * u) + e * e * e * e;
    return {(1 - e * e * e * e) / (z.re < 0 ? -d : d), 4 * u * v * e * e / d};
  }
  const T s = Sinh(z.re), c = Cosh(z.re), d = s * s + v * v;
  return {s * c / d, u * v / d};
}
// -i tanh(iz).
template <class T> HK_DEVICE Complex<T> Tan(Complex<T> z) {
  const Complex<T> turned = Tanh(Complex<T>{-z.im, z.re});
  return {turned.im, -turned.re};
}
// Between complex types, from and to real ones (the imaginary part is lost).
template <class To, class From> HK_DEVICE To ConvertComplex(From x) {
  if constexpr (kComplex<From> && kComplex<To>) {
    return {Convert<decltype(To::re)>(x.re), Convert<decltype(To::im)>(x.im)};
  } else if constexpr (kComplex<From>) {
    return Convert<To>(x.re);
  } else {
    return {Convert<decltype(To::re)>(x), 0};
  }
}
}  // namespace hk
#endif  // HK_COMPLEX
