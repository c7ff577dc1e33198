// Complex numbers. Sums and moves are exact, all else is good to a few units in
// the last place of the magnitude. Behind reduce.cuh.
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
// By the larger part of b, so that no square overflows (Smith).
template <class T> HK_DEVICE Complex<T> Divide(Complex<T> a, Complex<T> b) {
  if (Abs(b.re) >= Abs(b.im)) {
    const T r = b.im / b.re, d = b.re + b.im * r;
    return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
  }
  const T r = b.re / b.im, d = b.re * r + b.im;
  return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}
template <class T> HK_DEVICE Complex<T> Sign(Complex<T> z) {
  if (z.re == 0 && z.im == 0) return z;
  const T size = Abs(z);
  // Two parts near the largest number have a magnitude beyond it.
  if (!IsFinite(size) && IsFinite(z)) return Sign(Scale(z, (T)0.5));
  return {z.re / size, z.im / size};
}
template <class T> HK_DEVICE Complex<T> Exp(Complex<T> z) {
  const T e = Exp(z.re);
  if (z.im == 0) return {e, z.im};
  return {e * Cos(z.im), e * Sin(z.im)};
}
// Near 0 nothing cancels: expm1(a) cos b - 2 sin^2(b/2) + i e^a sin b.
template <class T> HK_DEVICE Complex<T> Expm1(Complex<T> z) {
  if (!(Abs(z.re) <= 1 && IsFinite(z.im))) {
    return Subtract(Exp(z), Complex<T>{1, 0});
  }
  const T half = Sin(z.im / 2);
  return {Expm1(z.re) * Cos(z.im) - 2 * half * half, Exp(z.re) * Sin(z.im)};
}
// |1+z|^2 - 1 = a (2 + a) + b^2, exact near 0; 1 + a is exact near -1.
template <class T> HK_DEVICE Complex<T> Log1p(Complex<T> z) {
  const T a = z.re, b = z.im;
  if (!(Abs(a) < (T)0.5 && Abs(b) < 1)) {
    return {Log(Abs(Complex<T>{1 + a, b})), Atan2(b, 1 + a)};
  }
  return {Log1p(a * (2 + a) + b * b) / 2, Atan2(b, 1 + a)};
}
template <class T> HK_DEVICE Complex<T> Log(Complex<T> z) {
  const T size = Abs(z);
  if (size > (T)0.5 && size < 2 && z.re > 0) {
    return Log1p(Complex<T>{z.re - 1, z.im});
  }
  return {Log(size), Atan2(z.im, z.re)};
}
template <class T> HK_DEVICE Complex<T> Logistic(Complex<T> z) {
  const Complex<T> one = {1, 0};
  if (z.re < 0) {
    const Complex<T> e = Exp(z);
    return Divide(e, Add(one, e));
  }
  return Divide(one, Add(one, Exp(Negate(z))));
}
template <class T> HK_DEVICE Complex<T> Sqrt(Complex<T> z) {
  if (z.re == 0 && z.im == 0) return {0, z.im};
  const T t = Sqrt(Abs(z.re) / 2 + Abs(z) / 2);
  if (z.re >= 0) return {t, z.im / (2 * t)};
  // Of the branch cut's two sides a zero's sign tells which.
  const bool is_below = z.im < 0 || (z.im == 0 && 1 / z.im < 0);
  return {Abs(z.im) / (2 * t), is_below ? -t : t};
}
template <class T> HK_DEVICE Complex<T> Rsqrt(Complex<T> z) {
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
template <class T> HK_DEVICE Complex<T> Power(Complex<T> z, Complex<T> by) {
  if (by.re == 0 && by.im == 0) return {1, 0};
  if (z.re == 0 && z.im == 0 && by.re > 0) return {0, 0};
  return Exp(Multiply(by, Log(z)));
}
// Between complex types, from and to real ones (the imaginary part is lost).
template <class To, class From> HK_DEVICE To ConvertComplex(From x) {
  if constexpr (kComplex<From> && kComplex<To>) {
    return {Convert<decltype(To::re)>(x.re), Convert<decltype(To::im)>(x.im)};
  } else if constexpr (kComplex<From>) {
    if constexpr (kSame<To, bool>) return x.re != 0 || x.im != 0;
    else return Convert<To>(x.re);
  } else {
    return {Convert<decltype(To::re)>(x), 0};
  }
}
}  // namespace hk
#endif  // HK_COMPLEX
