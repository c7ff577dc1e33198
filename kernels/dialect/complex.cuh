// Complex numbers: arithmetic as std::complex has it. Behind reduce.cuh.
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
