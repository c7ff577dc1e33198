// IndexExpr: an integer as a function of a region's loop indices. Everything
// the planner and the emitters know about addresses is written in it.
// FIXED: emitters are written over this header.
#ifndef HAWSER_KERNELS_PLAN_INDEX_INDEX_EXPR_H_
#define HAWSER_KERNELS_PLAN_INDEX_INDEX_EXPR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace hawser::plan {

// Inclusive.
struct Bounds {
  int64_t min = 0;
  int64_t max = 0;
  bool operator==(const Bounds&) const = default;
};

class IndexExpr;

// An expression is linear in atoms.
struct IndexAtom {
  enum Kind : uint8_t {
    kDim,     // loop index number `index`
    kSymbol,  // run-time number `index`: a clamped start of a slice
    kDiv,     // floor(inner / divisor), divisor > 1
    kMod,     // inner - divisor * floor(inner / divisor)
  };
  Kind kind = kDim;
  int index = 0;                           // kDim, kSymbol
  Bounds bounds;                           // of the atom's value
  int64_t divisor = 1;                     // kDiv, kMod
  std::shared_ptr<const IndexExpr> inner;  // kDiv, kMod
};

// constant + sum of coefficient * atom, always simplified: equal terms are one,
// none has coefficient 0, terms stand in one order, what the bounds decide is
// decided, `k * (x / k) + x % k` is x. So equal expressions mostly have equal
// forms, and operator== compares forms. Immutable value; cheap to copy.
//
// Numbers must stay below 2^62 (shapes do). Division rounds down. Bounds know
// nothing of predicates, so under a predicate, too, a numerator's bounds may be
// negative; emitters then move it up by whole divisors, for C's division.
class IndexExpr {
 public:
  struct Term {
    int64_t coefficient;
    IndexAtom atom;
  };
  using Terms = absl::InlinedVector<Term, 2>;

  IndexExpr() = default;  // 0
  static IndexExpr Constant(int64_t value);
  // Loop index `index` of a loop of `extent` iterations: 0 if that is 1.
  static IndexExpr Dim(int index, int64_t extent);
  static IndexExpr Symbol(int index, Bounds bounds);

  IndexExpr operator+(const IndexExpr& other) const;
  IndexExpr operator-(const IndexExpr& other) const;
  IndexExpr operator*(int64_t factor) const;
  IndexExpr operator+(int64_t value) const;
  // *this = *this + other * factor.
  void AddScaled(const IndexExpr& other, int64_t factor);
  // divisor >= 1.
  IndexExpr FloorDiv(int64_t divisor) const;
  IndexExpr Mod(int64_t divisor) const;

  // Returns it with every loop index i replaced by dims[i], simplified anew.
  IndexExpr Substitute(absl::Span<const IndexExpr> dims) const;

  int64_t constant() const { return constant_; }
  const Terms& terms() const { return terms_; }
  Bounds bounds() const;

  bool IsConstant() const { return terms_.empty(); }
  // Returns the coefficient of loop index `index`, outside divisions.
  int64_t CoefficientOf(int index) const;
  // True if loop index `index` stands under a division.
  bool DividesDim(int index) const;
  bool UsesDim(int index) const;
  bool UsesSymbol() const;
  // Adds the numbers of the symbols it uses to `*symbols`.
  void CollectSymbols(std::vector<int>* symbols) const;

  // "4*d0 + (d1 / 3) + s0 + 7"
  std::string ToString() const;
  bool operator==(const IndexExpr& other) const;
  // A total order of forms.
  int Compare(const IndexExpr& other) const;

 private:
  void AddTerm(int64_t coefficient, const IndexAtom& atom);
  void MergeDivisions();
  // Takes all terms that `divisor` divides out into `*quotient`, already
  // divided; returns the rest.
  IndexExpr SplitOff(int64_t divisor, IndexExpr* quotient) const;

  int64_t constant_ = 0;
  Terms terms_;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_INDEX_INDEX_EXPR_H_
