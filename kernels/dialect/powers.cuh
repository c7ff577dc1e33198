// Powers of complex numbers: e^(y log z), whose exponent needs more digits than
// the result has, since all that stand before its point are lost. Needs
// complex.cuh before it.
#ifndef HK_POWERS
#define HK_POWERS

namespace hk {
// The sum of two doubles, of which the second is less than the first has digits.
struct Twofold { double hi, lo; };
struct ComplexTwofold { Twofold re, im; };

HK_DEVICE Twofold SumOf(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
HK_DEVICE Twofold ProductOf(double a, double b) {
  const double product = a * b;
  return {product, fma(a, b, -product)};
}
HK_DEVICE Twofold Add(Twofold a, Twofold b) {
  const Twofold sum = SumOf(a.hi, b.hi);
  return SumOf(sum.hi, sum.lo + (a.lo + b.lo));
}
HK_DEVICE Twofold Negate(Twofold a) { return {-a.hi, -a.lo}; }
HK_DEVICE Twofold Multiply(Twofold a, Twofold b) {
  const Twofold product = ProductOf(a.hi, b.hi);
  return SumOf(product.hi,
               fma(a.hi, b.lo, fma(a.lo, b.hi, product.lo)));
}
HK_DEVICE Twofold DivideBy(Twofold a, double b) {
  const double quotient = a.hi / b;
  return SumOf(quotient, (fma(-quotient, b, a.hi) + a.lo) / b);
}
HK_DEVICE ComplexTwofold Multiply(ComplexTwofold a, ComplexTwofold b) {
  return {Add(Multiply(a.re, b.re), Negate(Multiply(a.im, b.im))),
          Add(Multiply(a.re, b.im), Multiply(a.im, b.re))};
}
HK_DEVICE ComplexTwofold TwofoldOf(c128 z) {
  return {{z.re, 0}, {z.im, 0}};
}

// Takes a size of at most 4: raises its 256th part, of which few powers count.
HK_DEVICE ComplexTwofold TwofoldExp(c128 z) {
  const ComplexTwofold part = TwofoldOf(Scale(z, 0x1p-8));
  ComplexTwofold sum = {{1, 0}, {0, 0}};
  for (int n = 10; n > 0; --n) {
    const ComplexTwofold next = Multiply(part, sum);
    sum = {Add({1, 0}, DivideBy(next.re, n)), DivideBy(next.im, n)};
  }
  for (int n = 0; n < 8; ++n) sum = Multiply(sum, sum);
  return sum;
}

// Takes a number that is finite and not 0. Newton's step from the logarithm w
// of a double: log z = w + (z e^-w - 1).
HK_DEVICE ComplexTwofold TwofoldLog(c128 z) {
  const s32 exponent = Exponent(z);
  z = Scale(z, TwoTo<double>(-exponent));
  const c128 w = Log(z);
  const ComplexTwofold quotient = Multiply(TwofoldOf(z), TwofoldExp(Negate(w)));
  const double off_re = quotient.re.hi - 1 + quotient.re.lo;
  const double off_im = quotient.im.hi + quotient.im.lo;
  const Twofold ln2 = {0.69314718055994529, 2.3190468138462996e-17};
  const Twofold scaled = Multiply({(double)exponent, 0}, ln2);
  return {Add(scaled, SumOf(w.re, off_re)), SumOf(w.im, off_im)};
}

template <class T> HK_DEVICE bool IsPlainPower(Complex<T> z, Complex<T> by) {
  const bool turns = by.im - by.im == 0;  // finite
  return (by.re == 0 && by.im == 0) ||
         (z.re == 0 && z.im == 0 && by.re > 0 && turns);
}
HK_DEVICE c128 Power(c128 z, c128 by) {
  if (IsPlainPower(z, by)) return {by.re == 0 && by.im == 0 ? 1. : 0., 0};
  if (IsFinite(z) && IsFinite(by) && z != c128{0, 0}) {
    const ComplexTwofold exponent = Multiply(TwofoldOf(by), TwofoldLog(z));
    const c128 rest = {exponent.re.lo, exponent.im.lo};
    const c128 power = Exp(c128{exponent.re.hi, exponent.im.hi});
    if (IsFinite(power) && IsFinite(rest)) return Multiply(power, Exp(rest));
  }
  return Exp(Multiply(by, Log(z)));
}
HK_DEVICE c64 Power(c64 z, c64 by) {
  if (IsPlainPower(z, by)) return {by.re == 0 && by.im == 0 ? 1.f : 0.f, 0};
  const c128 power =
      Exp(Multiply(c128{by.re, by.im}, Log(c128{z.re, z.im})));
  return {(float)power.re, (float)power.im};
}
}  // namespace hk
#endif  // HK_POWERS
