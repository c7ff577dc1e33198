// Number: an element of any dtype, as the reference computes with it.
#ifndef HAWSER_TESTS_REFERENCE_NUMBER_NUMBER_H_
#define HAWSER_TESTS_REFERENCE_NUMBER_NUMBER_H_

#include <complex>
#include <cstdint>

#include "core/base/values/literal.h"

namespace hawser::reference {

// Each dtype's elements fit; one operation of f16, bf16 or f32 in it, rounded
// to them, is the operation rounded once.
using Complex = std::complex<double>;
// Holds all integers; sums and products of many are made in it.
using Wide = long double;
using WideComplex = std::complex<Wide>;

// The element's dtype tells which of the two counts.
struct Number {
  uint64_t bits = 0;  // of bool and integers; signed ones are extended
  Complex value;      // of floats and complex numbers

  static Number Of(uint64_t bits) { return {bits, 0}; }
  static Number Of(Complex value) { return {0, value}; }
};

// Returns `x` in a dtype: integers wrap, floats round to nearest even once.
Number InDType(const Number& x, DType dtype);
// A float or complex number, rounded once.
Number InDType(const WideComplex& x, DType dtype);
inline WideComplex WideOf(const Number& x) {
  return {x.value.real(), x.value.imag()};
}

// Multiplies by the formula, which makes NaN of infinities where C would not.
inline WideComplex ProductOf(const WideComplex& a, const WideComplex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}

// Element `at` of a value, in row-major order.
Number ReadNumber(const Literal& from, int64_t at);
// Writes what `x` is in the dtype of `to`.
void WriteNumber(const Number& x, int64_t at, Literal* to);

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_NUMBER_NUMBER_H_
