// Reductions: many elements along axes become one.
#include "core/ops/contraction/reduce.h"

#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/rules.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

// Axes that stay and axes that go.
struct Axes {
  Axes(const Context& c, absl::Span<const int64_t> dimensions) {
    for (int d = 0; d < c.shape(0).rank(); ++d) {
      const bool goes = Contains(dimensions, d);
      (goes ? reduced : kept).push_back(d);
      (goes ? reduced_sizes : kept_sizes).push_back(c.shape(0).dim(d));
    }
  }
  // Returns the input's index.
  Dims Join(Index of_kept, Index of_reduced) const {
    Dims out(kept.size() + reduced.size());
    for (size_t k = 0; k < kept.size(); ++k) out[kept[k]] = of_kept[k];
    for (size_t k = 0; k < reduced.size(); ++k) {
      out[reduced[k]] = of_reduced[k];
    }
    return out;
  }
  Dims kept, reduced, kept_sizes, reduced_sizes;
};

// Sums and products of floats, rounded once.
absl::StatusOr<Values> FoldWide(const Context& c, bool adds) {
  const Axes axes(c, c.attributes().GetInts("dimensions"));
  HAWSER_ASSIGN_OR_RETURN(Literal out, Literal::Allocate(c.result_shape()));
  int64_t place = 0;
  HAWSER_RETURN_IF_ERROR(
      ForEachIndex(axes.kept_sizes, c.cancel, [&](Index kept) -> absl::Status {
        WideComplex all = WideOf(ReadNumber(c.operands[1], 0));
        HAWSER_RETURN_IF_ERROR(
            ForEachIndex(axes.reduced_sizes, c.cancel, [&](Index reduced) {
              const auto x =
                  WideOf(At(c.operands[0], axes.Join(kept, reduced)));
              if (adds) {
                all += x;
              } else if (IsComplex(c.shape(0).dtype())) {
                all = ProductOf(all, x);
              } else {
                all = all.real() * x.real();
              }
              return absl::OkStatus();
            }));
        WriteNumber(InDType(all, out.shape().dtype()), place++, &out);
        return absl::OkStatus();
      }));
  return Values{std::move(out)};
}

// Folds by its computation, one element after another.
absl::StatusOr<Values> FoldByCalls(const Context& c) {
  const Axes axes(c, c.attributes().GetInts("dimensions"));
  const size_t n = c.operands.size() / 2;
  Values out;
  for (size_t k = 0; k < n; ++k) {
    HAWSER_ASSIGN_OR_RETURN(Literal result,
                            Literal::Allocate(c.result_shape(k)));
    out.push_back(std::move(result));
  }
  int64_t place = 0;
  HAWSER_RETURN_IF_ERROR(
      ForEachIndex(axes.kept_sizes, c.cancel, [&](Index kept) -> absl::Status {
        Values running(c.operands.begin() + n, c.operands.end());
        HAWSER_RETURN_IF_ERROR(ForEachIndex(
            axes.reduced_sizes, c.cancel, [&](Index reduced) -> absl::Status {
              for (size_t k = 0; k < n; ++k) {
                running.push_back(
                    ScalarOf(At(c.operands[k], axes.Join(kept, reduced)),
                             c.shape(k).dtype()));
              }
              HAWSER_ASSIGN_OR_RETURN(running, c.call(0, std::move(running)));
              return absl::OkStatus();
            }));
        for (size_t k = 0; k < n; ++k) {
          WriteNumber(ReadNumber(running[k], 0), place, &out[k]);
        }
        ++place;
        return absl::OkStatus();
      }));
  return out;
}

absl::StatusOr<Values> Reduce(const Context& c) {
  const DType dtype = c.shape(0).dtype();
  const bool rounds = IsFloat(dtype) || IsComplex(dtype);
  const OpDef* monoid =
      c.operands.size() == 2
          ? MonoidOf(c.module.computation(c.instruction.called[0]))
          : nullptr;
  if (rounds && (monoid == &kAdd || monoid == &kMultiply)) {
    return FoldWide(c, monoid == &kAdd);
  }
  return FoldByCalls(c);
}

// True if x comes before the best so far.
bool Wins(const Number& x, const Number& best, DType dtype, bool largest,
          bool last) {
  const auto decide = [&](auto a, auto b) {
    if (a != a) return b == b || last;  // NaN
    if (b != b) return false;
    if (a == b) return last;
    return largest ? a > b : a < b;
  };
  if (IsFloat(dtype)) return decide(x.value.real(), best.value.real());
  if (!IsSigned(dtype)) return decide(x.bits, best.bits);
  return decide(static_cast<int64_t>(x.bits), static_cast<int64_t>(best.bits));
}

absl::StatusOr<Values> ArgExtreme(const Context& c) {
  const int64_t dimension = c.attributes().GetInt("dimension");
  const bool last = c.attributes().GetString("tie", "low") == "high";
  const bool largest = c.instruction.op == &kArgMax;
  const Axes axes(c, {dimension});
  HAWSER_ASSIGN_OR_RETURN(
      Literal out, FillByIndex(c, c.result_shape(), [&](Index kept) {
        int64_t best = 0;
        for (int64_t i = 1; i < c.shape(0).dim(dimension); ++i) {
          if (Wins(At(c.operands[0], axes.Join(kept, {i})),
                   At(c.operands[0], axes.Join(kept, {best})),
                   c.shape(0).dtype(), largest, last)) {
            best = i;
          }
        }
        return Number::Of(static_cast<uint64_t>(best));
      }));
  return Values{std::move(out)};
}

constexpr Row kReduceRows[] = {
    {&kReduce, Reduce},
    {&kArgMax, ArgExtreme},
    {&kArgMin, ArgExtreme},
};

}  // namespace

absl::Span<const Row> ReduceRows() { return kReduceRows; }

}  // namespace hawser::reference
