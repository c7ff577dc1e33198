// Cases of factorizations, of matrices that are well apart from singular ones.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/ops/elementwise/convert.h"
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

// Pivots are far from others in their columns.
Cases LuCases(DType t) {
  return {Plain("square", kLu, {WithDiagonal(t, {3, 3}, 3)}),
          Plain("wide", kLu, {WithDiagonal(t, {2, 4}, 3)}),
          Plain("tall", kLu, {WithDiagonal(t, {4, 2}, 3, 2)}),
          Plain("of two", kLu, {WithDiagonal(t, {2, 2, 2}, 3)}),
          Plain("of one", kLu, {WithDiagonal(t, {1, 1}, 3)}),
          Plain("of none", kLu, {Spaced(t, {0, 2}, 1, 2)})};
}

Cases QrCases(DType t) {
  const Attributes reduced = {{"full_matrices", false}};
  const Attributes full = {{"full_matrices", true}};
  return {Plain("square", kQr, {WithDiagonal(t, {3, 3}, 3)}, reduced),
          Plain("full", kQr, {WithDiagonal(t, {3, 3}, 3)}, full),
          Plain("tall", kQr, {WithDiagonal(t, {4, 2}, 3, 2)}, reduced),
          Plain("wide", kQr, {WithDiagonal(t, {2, 4}, 3)}, reduced),
          Plain("of two", kQr, {WithDiagonal(t, {2, 2, 2}, 3)}, reduced)};
}

// `count` results of op, of which those from the second on are complex vectors
// that may turn by any angle: they are told by the sizes of their elements.
OpCase WithoutAngles(std::string name, const OpDef& op, Literal a,
                     const Attributes& by, int count) {
  return Case(
      std::move(name), {std::move(a)}, {0}, [&](ComputationBuilder& b, Ids p) {
        const ValueId first = b.Add(op, p, by);
        std::vector<ValueId> results = {first};
        for (int k = 1; k < count; ++k) {
          const ValueId x = first + k;
          if (!IsComplex(b.shape(x).dtype())) {
            results.push_back(x);
            continue;
          }
          const ValueId re = b.Add(kReal, {x}), im = b.Add(kImag, {x});
          results.push_back(b.Add(
              kAdd, {b.Add(kMultiply, {re, re}), b.Add(kMultiply, {im, im})}));
        }
        return results;
      });
}

// Eigenvalues far apart: of a diagonal that differs.
Literal Apart(DType t, Dims dims, int seed = 0) {
  const Literal small = WithDiagonal(t, dims, 0, seed);
  const int64_t n = dims.back();
  std::vector<double> diagonal;
  for (int64_t k = 0; k < small.shape().num_elements(); ++k) {
    const int64_t row = k / n % dims[dims.size() - 2];
    diagonal.push_back(row == k % n ? 3.0 * static_cast<double>(row) + 2 : 0);
  }
  return Evaluate(
             ModuleOf({small},
                      [&](ComputationBuilder& b, Ids p) {
                        Literal added = Values(RealPart(t), diagonal, dims);
                        ValueId v = b.Constant(std::move(added));
                        if (IsComplex(t))
                          v = b.Add(kConvert, {v}, {{"dtype", t}});
                        return std::vector<ValueId>{b.Add(kAdd, {p[0], v})};
                      }),
             {small})
      ->at(0);
}

Cases EighCases(DType t) {
  Cases cases;
  for (const bool lower : {true, false}) {
    const Attributes by = {{"lower", lower}};
    cases.push_back(WithoutAngles(lower ? "lower" : "upper", kEigh,
                                  Apart(t, {3, 3}), by, 2));
    cases.push_back(WithoutAngles(lower ? "of two" : "upper of two", kEigh,
                                  Apart(t, {2, 2, 2}, 1), by, 2));
  }
  return cases;
}

Cases EigCases(DType t) {
  return {WithoutAngles("square", kEig, Apart(t, {3, 3}), {}, 2),
          WithoutAngles("of two", kEig, Apart(t, {2, 2, 2}, 1), {}, 2),
          WithoutAngles("values", kEig, Apart(t, {3, 3}, 2), {}, 1),
          WithoutAngles("of one", kEig, WithDiagonal(t, {1, 1}, 2), {}, 2)};
}

Cases SvdCases(DType t) {
  const auto by = [](bool vectors, bool full) {
    return Attributes{{"compute_uv", vectors}, {"full_matrices", full}};
  };
  return {WithoutAngles("square", kSvd, Apart(t, {3, 3}), by(true, false), 3),
          WithoutAngles("full", kSvd, Apart(t, {2, 2}), by(true, true), 3),
          WithoutAngles("tall", kSvd, Apart(t, {4, 2}), by(true, false), 3),
          WithoutAngles("wide", kSvd, Apart(t, {2, 4}), by(true, false), 3),
          WithoutAngles("values", kSvd, Apart(t, {3, 2}), by(false, false), 1),
          WithoutAngles("values of full", kSvd, Apart(t, {3, 2}),
                        by(true, true), 1)};
}

constexpr CaseRow kLinalgRows[] = {
    {&kCholesky, CholeskyCases},
    {&kEig, EigCases},
    {&kEigh, EighCases},
    {&kLu, LuCases},
    {&kQr, QrCases},
    {&kSvd, SvdCases},
    {&kTriangularSolve, TriangularSolveCases},
};

}  // namespace

absl::Span<const CaseRow> LinalgCases() { return kLinalgRows; }

}  // namespace hawser
