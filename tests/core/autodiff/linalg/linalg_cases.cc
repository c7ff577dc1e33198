// Cases of factorizations, of matrices that are well apart from singular ones.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/linalg/linalg.h"
#include "tests/core/autodiff/case_families.h"

namespace hawser {
namespace {

// Small elements, with `diagonal` added where row and column are the same.
Literal WithDiagonal(DType t, Dims dims, double diagonal, int seed = 0) {
  const int64_t n = dims.back();
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  std::vector<double> values;
  for (int64_t k = 0; k < count; ++k) {
    const double small = static_cast<double>((k * 7 + 3 * seed) % 11 - 5) / 8;
    values.push_back(small + (k / n % n == k % n ? diagonal : 0));
  }
  Literal out = Values(t, values, dims);
  if (!IsComplex(t)) return out;
  // Values has the numbers in reverse as imaginary parts, which are large.
  return Evaluate(
             ModuleOf(
                 {out},
                 [&](ComputationBuilder& b, Ids p) {
                   const ValueId part = b.Add(kReal, {p[0]});
                   const ValueId other =
                       b.Constant(Spaced(RealPart(t), dims, -0.5, 0.5, seed));
                   return std::vector<ValueId>{b.Add(kComplex, {part, other})};
                 }),
             {out})
      ->at(0);
}

Cases CholeskyCases(DType t) {
  Cases cases;
  for (const bool lower : {true, false}) {
    const std::string name = lower ? "lower" : "upper";
    const Attributes by = {{"lower", lower}};
    cases.push_back(Plain(name, kCholesky, {WithDiagonal(t, {3, 3}, 4)}, by));
    cases.push_back(Plain(absl::StrCat(name, " of two"), kCholesky,
                          {WithDiagonal(t, {2, 2, 2}, 3, 1)}, by));
    cases.push_back(Plain(absl::StrCat(name, " of one"), kCholesky,
                          {WithDiagonal(t, {1, 1}, 2)}, by));
    cases.push_back(Plain(absl::StrCat(name, " of none"), kCholesky,
                          {Spaced(t, {2, 0, 0}, 1, 2)}, by));
  }
  return cases;
}

Cases TriangularSolveCases(DType t) {
  Cases cases;
  for (const absl::string_view op : {kNoTranspose, kTransposeOf, kAdjointOf}) {
    for (int k = 0; k < 8; ++k) {
      const bool left = k & 1, lower = k & 2, unit = k & 4;
      cases.push_back(
          Plain(absl::StrCat(op, left ? " left" : " right",
                             lower ? " lower" : " upper", unit ? " unit" : ""),
                kTriangularSolve,
                {WithDiagonal(t, {3, 3}, 2, k),
                 Spaced(t, left ? Dims{3, 2} : Dims{2, 3}, -2, 2)},
                {{"left_side", left},
                 {"lower", lower},
                 {"transpose_a", std::string(op)},
                 {"unit_diagonal", unit}}));
    }
  }
  const Attributes plain = {{"left_side", true},
                            {"lower", true},
                            {"transpose_a", std::string(kNoTranspose)},
                            {"unit_diagonal", false}};
  cases.push_back(Plain(
      "of two", kTriangularSolve,
      {WithDiagonal(t, {2, 2, 2}, 2), Spaced(t, {2, 2, 1}, -2, 2)}, plain));
  cases.push_back(Plain("of none", kTriangularSolve,
                        {Spaced(t, {0, 0}, 1, 2), Spaced(t, {0, 2}, 1, 2)},
                        plain));
  return cases;
}

constexpr CaseRow kLinalgRows[] = {
    {&kCholesky, CholeskyCases},
    {&kTriangularSolve, TriangularSolveCases},
};

}  // namespace

absl::Span<const CaseRow> LinalgCases() { return kLinalgRows; }

}  // namespace hawser
