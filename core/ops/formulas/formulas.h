// Formula: a function of one number that is composed of ops there are.
#ifndef HAWSER_CORE_OPS_FORMULAS_FORMULAS_H_
#define HAWSER_CORE_OPS_FORMULAS_FORMULAS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/ops/expression.h"

namespace hawser {

using FormulaFn = Expression (*)(const Expression&);

struct Formula {
  absl::string_view name;       // CHLO's
  FormulaFn real = nullptr;     // of f32 or f64
  FormulaFn complex = nullptr;  // of c128; null: it takes reals alone
  // The most units in the last place that f64 is off by, and f32 if it is
  // computed in f32; units of 1 if the result is smaller and crosses 0. A
  // result that is computed wider is off by 1.
  int ulp = 0;
  bool wide = false;  // f32 is always computed in f64, for the sake of that
};

// The dtype that f32 is computed in: itself, unless its row says otherwise, or
// f64.
enum class Working { kOwn, kWide };

// True if it is a function of numbers of this dtype.
bool Takes(const Formula& formula, DType dtype);
// The formula of x, in x's dtype, which it takes.
Expression Computed(const Formula& formula, const Expression& x,
                    Working working = Working::kOwn);

namespace formulas {

Expression Sinh(const Expression& x);
Expression Cosh(const Expression& x);
Expression Asin(const Expression& x);
Expression Acos(const Expression& x);
Expression Atan(const Expression& x);
Expression Asinh(const Expression& x);
Expression Acosh(const Expression& x);
Expression Atanh(const Expression& x);

Expression ComplexSinh(const Expression& z);
Expression ComplexCosh(const Expression& z);
Expression ComplexAsin(const Expression& z);
Expression ComplexAcos(const Expression& z);
Expression ComplexAtan(const Expression& z);
Expression ComplexAsinh(const Expression& z);
Expression ComplexAcosh(const Expression& z);
Expression ComplexAtanh(const Expression& z);

Expression ErfInv(const Expression& x);
Expression Digamma(const Expression& x);
Expression BesselI0e(const Expression& x);
Expression BesselI1e(const Expression& x);

}  // namespace formulas

// ---- the rows ---------------------------------------------------------------

inline constexpr Formula kAcos = {"acos", formulas::Acos, formulas::ComplexAcos,
                                  4};
inline constexpr Formula kAcosh = {"acosh", formulas::Acosh,
                                   formulas::ComplexAcosh, 4};
inline constexpr Formula kAsin = {"asin", formulas::Asin, formulas::ComplexAsin,
                                  4};
inline constexpr Formula kAsinh = {"asinh", formulas::Asinh,
                                   formulas::ComplexAsinh, 4};
inline constexpr Formula kAtan = {"atan", formulas::Atan, formulas::ComplexAtan,
                                  4};
inline constexpr Formula kAtanh = {"atanh", formulas::Atanh,
                                   formulas::ComplexAtanh, 4};
inline constexpr Formula kBesselI0e = {"bessel_i0e", formulas::BesselI0e,
                                       nullptr, 16};
inline constexpr Formula kBesselI1e = {"bessel_i1e", formulas::BesselI1e,
                                       nullptr, 16};
inline constexpr Formula kCosh = {"cosh", formulas::Cosh, formulas::ComplexCosh,
                                  8};
inline constexpr Formula kDigamma = {"digamma", formulas::Digamma, nullptr, 16,
                                     /*wide=*/true};
inline constexpr Formula kErfInv = {"erf_inv", formulas::ErfInv, nullptr, 8};
inline constexpr Formula kSinh = {"sinh", formulas::Sinh, formulas::ComplexSinh,
                                  8};

inline constexpr const Formula* kFormulas[] = {
    &kAcos,      &kAcosh,     &kAsin, &kAsinh,   &kAtan,   &kAtanh,
    &kBesselI0e, &kBesselI1e, &kCosh, &kDigamma, &kErfInv, &kSinh};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_FORMULAS_FORMULAS_H_
