#include "core/ops/formulas/formulas.h"

namespace hawser {
namespace {

DType WorkingDType(const Formula& formula, DType dtype, Working working) {
  if (IsComplex(dtype)) return DType::kC128;
  if (dtype == DType::kF64) return DType::kF64;
  const bool wide = formula.wide || working == Working::kWide;
  return dtype == DType::kF32 && wide ? DType::kF64 : DType::kF32;
}

}  // namespace

bool Takes(const Formula& formula, DType dtype) {
  return IsComplex(dtype) ? formula.complex != nullptr : IsFloat(dtype);
}

Expression Computed(const Formula& formula, const Expression& x,
                    Working working) {
  const DType dtype = x.dtype();
  const FormulaFn function = IsComplex(dtype) ? formula.complex : formula.real;
  const Expression in = ConvertTo(x, WorkingDType(formula, dtype, working));
  return ConvertTo(function(in), dtype);
}

}  // namespace hawser
