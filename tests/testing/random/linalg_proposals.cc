// Matrices to factor: some that have a factor of small whole numbers, so that
// every engine finds the same bits, and any others.
#include <algorithm>
#include <string>
#include <utility>

#include "core/ops/linalg/linalg.h"
#include "tests/testing/random/random_draft.h"

namespace hawser {
namespace {

// Square matrices of a dtype of the family, in a batch as that of a value.
Shape SquareShape(Draft& d, DTypeSet dtypes) {
  const Shape shape = d.shape(d.AnyOf(dtypes, 2));
  Dims dims = shape.dims();
  int64_t& rows = dims[dims.size() - 2];
  rows = dims.back() = std::min(rows, dims.back());
  return Shape::Of(shape.dtype(), dims);
}

// fn(real, imaginary) parts of element (i, j) of each matrix: whole numbers.
template <typename Fn>
Literal FilledMatrices(const Shape& shape, Fn fn) {
  Literal out = Literal::Uninitialized(shape);
  const int64_t rows = shape.dim(-2), columns = shape.dim(-1);
  VisitDType(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto elements = out.mutable_data<T>();
    for (int64_t k = 0; k < shape.num_elements(); ++k) {
      const auto [re, im] =
          fn(k / (rows * columns), k / columns % rows, k % columns);
      if constexpr (kIsComplex<T>) {
        using Part = typename T::value_type;
        elements[k] = T(static_cast<Part>(re), static_cast<Part>(im));
      } else if constexpr (kIsFloat<T>) {
        elements[k] = T(static_cast<float>(re));
      }
    }
  });
  return out;
}

// Whole numbers from -2 to 2 below a diagonal of 1, 2 or 4.
struct Whole {
  int64_t re = 0, im = 0;
};
Whole FactorElement(Random& random, int64_t i, int64_t j) {
  if (i == j) return {int64_t{1} << random.Below(3), 0};
  if (i < j) return {};
  return {random.Between(-2, 2), random.Between(-2, 2)};
}

// L L^H of such L.
Literal DefiniteMatrices(const Shape& shape, Random& random) {
  const int64_t n = shape.dim(-1);
  std::vector<Whole> factor;
  int64_t drawn = -1;
  return FilledMatrices(shape, [&](int64_t matrix, int64_t i, int64_t j) {
    if (matrix != drawn) {
      factor.clear();
      for (int64_t k = 0; k < n * n; ++k) {
        factor.push_back(FactorElement(random, k / n, k % n));
        if (!IsComplex(shape.dtype())) factor.back().im = 0;
      }
      drawn = matrix;
    }
    std::pair<int64_t, int64_t> sum;
    for (int64_t k = 0; k < n; ++k) {
      const Whole x = factor[i * n + k], y = factor[j * n + k];
      sum.first += x.re * y.re + x.im * y.im;
      sum.second += x.im * y.re - x.re * y.im;
    }
    return sum;
  });
}

// Such L, with other whole numbers above.
Literal TriangularMatrices(const Shape& shape, bool lower, Random& random) {
  return FilledMatrices(shape, [&](int64_t, int64_t i, int64_t j) {
    const Whole x = FactorElement(random, std::max(i, j), std::min(i, j));
    const bool read = i == j || (i > j) == lower;
    return std::pair<int64_t, int64_t>(read ? x.re : 7, x.im);
  });
}

}  // namespace

Proposal ProposeCholesky(const OpDef& op, Draft& d) {
  const Shape shape = SquareShape(d, op.dtypes);
  const bool lower = d.random().OneIn(2);
  const ValueId a = d.random().OneIn(2)
                        ? d.Constant(DefiniteMatrices(shape, d.random()))
                        : d.AnyOfShape(shape);
  return {{a}, {{"lower", lower}}, {}};
}

Proposal ProposeTriangularSolve(const OpDef& op, Draft& d) {
  constexpr absl::string_view kOps[] = {kNoTranspose, kTransposeOf, kAdjointOf};
  const Shape shape = SquareShape(d, op.dtypes);
  const bool left = d.random().OneIn(2), lower = d.random().OneIn(2);
  Dims of_b = shape.dims();
  of_b[of_b.size() - (left ? 1 : 2)] = d.random().Between(0, 3);
  const ValueId a =
      d.random().OneIn(2)
          ? d.Constant(TriangularMatrices(shape, lower, d.random()))
          : d.AnyOfShape(shape);
  return {{a, d.AnyOfShape(Shape::Of(shape.dtype(), of_b))},
          {{"left_side", left},
           {"lower", lower},
           {"transpose_a", std::string(kOps[d.random().Below(3)])},
           {"unit_diagonal", d.random().OneIn(3)}},
          {}};
}

// Any matrices, and flags for what the op has.
Proposal ProposeFactors(const OpDef& op, Draft& d) {
  const bool square = &op == &kEigh || &op == &kEig;
  Proposal p;
  p.operands.push_back(square ? d.AnyOfShape(SquareShape(d, op.dtypes))
                              : d.AnyOf(op.dtypes, 2));
  for (const AttributeSpec& flag : op.attributes) {
    p.attributes.Set(flag.name, d.random().OneIn(2));
  }
  return p;
}

// Vectors of reflections, no more of them than they are long.
Proposal ProposeHouseholderProduct(const OpDef& op, Draft& d) {
  const Shape shape = d.shape(d.AnyOf(op.dtypes, 2));
  Dims dims = shape.dims();
  if (dims.back() > dims[dims.size() - 2]) {
    std::swap(dims.back(), dims[dims.size() - 2]);
  }
  Dims of_taus(dims.begin(), dims.end() - 1);
  of_taus.back() = d.random().Between(0, dims.back());
  return {{d.AnyOfShape(Shape::Of(shape.dtype(), dims)),
           d.AnyOfShape(Shape::Of(shape.dtype(), of_taus))},
          {},
          {}};
}

}  // namespace hawser
