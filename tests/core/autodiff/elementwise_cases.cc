// Cases of what computes one element from one of each operand.
#include <algorithm>
#include <string>
#include <utility>

#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "tests/core/autodiff/case_families.h"

namespace hawser {
namespace {

const Dims kShapes[] = {{}, {5}, {2, 3}, {0}, {2, 1, 2}};

template <const OpDef& op, int low32, int high32>
Cases UnaryCases(DType t) {
  Cases cases;
  for (const Dims& dims : kShapes) {
    cases.push_back(Plain(DimsToString(dims), op,
                          {Spaced(t, dims, low32 / 32.0, high32 / 32.0)}));
  }
  return cases;
}

// The first operand from [low, high], the second from [low2, high2].
template <const OpDef& op, int low, int high, int low2, int high2>
Cases BinaryCases(DType t) {
  Cases cases;
  for (const Dims& dims : kShapes) {
    cases.push_back(Plain(DimsToString(dims), op,
                          {Spaced(t, dims, low, high, 1),
                           Spaced(t, dims, low2, high2, 4)}));
  }
  const Literal x = Spaced(t, {3}, std::max(low, low2), std::min(high, high2));
  cases.push_back(Case("same operand twice", {x}, {0},
                       [](ComputationBuilder& b, Ids p) {
                         return std::vector<ValueId>{b.Add(op, {p[0], p[0]})};
                       }));
  return cases;
}

// Where the operands differ: equal ones are ties.
template <const OpDef& op>
Cases DistinctCases(DType t) {
  Cases cases;
  for (const Dims& dims : kShapes) {
    const int64_t elements = Shape::Of(t, dims).num_elements();
    const Literal both = Spaced(t, {2, elements}, -3, 3);
    cases.push_back(Case(
        DimsToString(dims), {both}, {0}, [&](ComputationBuilder& b, Ids p) {
          std::vector<ValueId> rows;
          for (int64_t i : {0, 1}) {
            const ValueId row = b.Add(
                kSlice, {p[0]},
                {{"start_indices", Dims{i, 0}},
                 {"limit_indices", Dims{i + 1, elements}},
                 {"strides", Dims{1, 1}}});
            rows.push_back(b.Add(kReshape, {row}, {{"dims", dims}}));
          }
          return std::vector<ValueId>{b.Add(op, rows)};
        }));
  }
  return cases;
}

// On either side of 0, where it has no derivative.
Cases CbrtCases(DType t) {
  Cases cases = UnaryCases<kCbrt, 16, 96>(t);
  for (OpCase& c : UnaryCases<kCbrt, -96, -16>(t)) {
    cases.push_back(std::move(c));
  }
  return cases;
}

// Between poles, and where it turns.
Cases LgammaCases(DType t) {
  Cases cases = UnaryCases<kLgamma, 16, 160>(t);
  for (OpCase& c : UnaryCases<kLgamma, -60, -38>(t)) {
    cases.push_back(std::move(c));
  }
  return cases;
}

// With all bits, so that it is smooth.
Cases ReducePrecisionCases(DType t) {
  return {
      Plain("all bits", kReducePrecision, {Spaced(t, {2, 3}, -2, 2)},
            {{"exponent_bits", int64_t{11}}, {"mantissa_bits", int64_t{52}}})};
}

Cases RemainderCases(DType t) {
  return {Plain("signs", kRemainder,
                {Values(t, {5, -5, 7.5, -7.5, 0.5, 9}),
                 Values(t, {3, 3, -2, -2, 4, -4})})};
}

Cases PowerCases(DType t) {
  Cases cases = BinaryCases<kPower, 1, 3, -2, 2>(t);
  if (IsComplex(t)) return cases;
  const Literal exponents = Values(t, {2, 3, -1, -2, 1, 0});
  const Literal bases = Values(t, {-2, -1.5, -0.5, 3, -4, -2});
  cases.push_back(Case("negative base", {bases}, {0},
                       [&](ComputationBuilder& b, Ids p) {
                         return std::vector<ValueId>{
                             b.Add(kPower, {p[0], b.Constant(exponents)})};
                       }));
  return cases;
}

Cases ClampCases(DType t) {
  return {Plain("bounds are tensors", kClamp,
                {Values(t, {-1, -1, -1, 3, 1}), Values(t, {-2, 0.5, 4, 2.5, 3}),
                 Values(t, {2, 2, 2, 2, 2})}),
          Plain("bounds are scalars", kClamp,
                {Values(t, -1.0), Values(t, {-2, 0.5, 4, -3, 1.5}),
                 Values(t, 2.0)}),
          Plain("scalars", kClamp,
                {Values(t, -1.0), Values(t, 0.5), Values(t, 2.0)})};
}

Cases SelectCases(DType t) {
  const Literal mask = Literal::Of<bool>({true, false, true}, {3});
  return {Plain("elements", kSelect,
                {mask, Spaced(t, {3}, -2, 2), Spaced(t, {3}, -2, 2, 1)}),
          Plain("scalar predicate", kSelect,
                {Literal::Scalar(false), Spaced(t, {2, 2}, -2, 2),
                 Spaced(t, {2, 2}, -2, 2, 1)})};
}

Cases ConvertCases(DType t) {
  Cases cases;
  for (DType to : {DType::kF64, DType::kC128, t}) {
    cases.push_back(Plain(std::string(DTypeName(to)), kConvert,
                          {Spaced(t, {2, 3}, -2, 2)}, {{"dtype", to}}));
  }
  return cases;
}

Cases ComplexCases(DType t) {
  if (IsComplex(t)) return {};
  return BinaryCases<kComplex, -2, 2, -2, 2>(t);
}

// Ranges of unary ops are in thirty-seconds.
constexpr CaseRow kElementwiseRows[] = {
    {&kAbs, UnaryCases<kAbs, -64, 64>},
    {&kAdd, BinaryCases<kAdd, -2, 2, -2, 2>},
    {&kAtan2, BinaryCases<kAtan2, -2, 3, -2, 3>},
    {&kCbrt, CbrtCases},
    {&kClamp, ClampCases},
    {&kComplex, ComplexCases},
    {&kConvert, ConvertCases},
    {&kCosine, UnaryCases<kCosine, -96, 96>},
    {&kDivide, BinaryCases<kDivide, -2, 2, 1, 3>},
    {&kErf, UnaryCases<kErf, -64, 64>},
    {&kErfc, UnaryCases<kErfc, -64, 64>},
    {&kExponential, UnaryCases<kExponential, -64, 64>},
    {&kExponentialMinusOne, UnaryCases<kExponentialMinusOne, -64, 64>},
    {&kImag, UnaryCases<kImag, -64, 64>},
    {&kLgamma, LgammaCases},
    {&kLog, UnaryCases<kLog, 8, 96>},
    {&kLogPlusOne, UnaryCases<kLogPlusOne, -24, 96>},
    {&kLogistic, UnaryCases<kLogistic, -96, 96>},
    {&kMaximum, DistinctCases<kMaximum>},
    {&kMinimum, DistinctCases<kMinimum>},
    {&kMultiply, BinaryCases<kMultiply, -2, 2, -2, 2>},
    {&kNegate, UnaryCases<kNegate, -64, 64>},
    {&kPower, PowerCases},
    {&kReal, UnaryCases<kReal, -64, 64>},
    {&kReducePrecision, ReducePrecisionCases},
    {&kRemainder, RemainderCases},
    {&kRsqrt, UnaryCases<kRsqrt, 8, 96>},
    {&kSelect, SelectCases},
    {&kSign, UnaryCases<kSign, -64, 64>},
    {&kSine, UnaryCases<kSine, -96, 96>},
    {&kSqrt, UnaryCases<kSqrt, 8, 96>},
    {&kSubtract, BinaryCases<kSubtract, -2, 2, -2, 2>},
    {&kTan, UnaryCases<kTan, -36, 36>},
    {&kTanh, UnaryCases<kTanh, -64, 64>},
};

}  // namespace

absl::Span<const CaseRow> ElementwiseCases() { return kElementwiseRows; }

}  // namespace hawser
