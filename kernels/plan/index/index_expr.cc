#include "kernels/plan/index/index_expr.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::plan {
namespace {

constexpr int64_t kFar = int64_t{1} << 62;

int64_t Saturate(__int128 value) {
  return static_cast<int64_t>(
      std::clamp<__int128>(value, -__int128{kFar}, __int128{kFar}));
}

int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0);
}

int CompareNumbers(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

int CompareAtoms(const IndexAtom& a, const IndexAtom& b) {
  if (a.kind != b.kind) return CompareNumbers(a.kind, b.kind);
  if (a.index != b.index) return CompareNumbers(a.index, b.index);
  if (a.divisor != b.divisor) return CompareNumbers(a.divisor, b.divisor);
  if (a.inner == b.inner) return 0;
  return a.inner->Compare(*b.inner);
}

IndexAtom Divided(IndexAtom::Kind kind, const IndexExpr& inner,
                  int64_t divisor) {
  const Bounds b = inner.bounds();
  Bounds bounds{0, divisor - 1};
  if (kind == IndexAtom::kDiv) {
    bounds = {FloorDivide(b.min, divisor), FloorDivide(b.max, divisor)};
  }
  return {.kind = kind,
          .bounds = bounds,
          .divisor = divisor,
          .inner = std::make_shared<const IndexExpr>(inner)};
}

}  // namespace

IndexExpr IndexExpr::Constant(int64_t value) {
  IndexExpr e;
  e.constant_ = value;
  return e;
}

IndexExpr IndexExpr::Dim(int index, int64_t extent) {
  if (extent <= 1) return IndexExpr();
  IndexExpr e;
  e.AddTerm(
      1, {.kind = IndexAtom::kDim, .index = index, .bounds = {0, extent - 1}});
  return e;
}

IndexExpr IndexExpr::Symbol(int index, Bounds bounds) {
  if (bounds.min == bounds.max) return Constant(bounds.min);
  IndexExpr e;
  e.AddTerm(1, {.kind = IndexAtom::kSymbol, .index = index, .bounds = bounds});
  return e;
}

void IndexExpr::AddTerm(int64_t coefficient, const IndexAtom& atom) {
  auto at = terms_.begin();
  while (at != terms_.end()) {
    const int order = CompareAtoms(at->atom, atom);
    if (order == 0) {
      at->coefficient += coefficient;
      if (at->coefficient == 0) terms_.erase(at);
      return;
    }
    if (order > 0) break;
    ++at;
  }
  terms_.insert(at, Term{coefficient, atom});
}

// k*c * (x / k) + c * (x % k) is c * x. The result may merge again.
void IndexExpr::MergeDivisions() {
  for (size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i].atom.kind != IndexAtom::kMod) continue;
    const Term mod = terms_[i];
    const IndexExpr quotient = mod.atom.inner->FloorDiv(mod.atom.divisor);
    if (quotient.terms_.size() != 1 || quotient.constant_ != 0) continue;
    const Term& want = quotient.terms_[0];
    const int64_t coefficient =
        mod.coefficient * mod.atom.divisor * want.coefficient;
    const auto div =
        std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) {
          return t.coefficient == coefficient &&
                 CompareAtoms(t.atom, want.atom) == 0;
        });
    if (div == terms_.end()) continue;
    AddTerm(-coefficient, want.atom);
    AddTerm(-mod.coefficient, mod.atom);
    AddScaled(*mod.atom.inner, mod.coefficient);
    return;
  }
}

void IndexExpr::AddScaled(const IndexExpr& other, int64_t factor) {
  if (factor == 0) return;
  constant_ += other.constant_ * factor;
  for (const Term& t : other.terms_) AddTerm(t.coefficient * factor, t.atom);
  MergeDivisions();
}

IndexExpr IndexExpr::operator+(const IndexExpr& other) const {
  IndexExpr sum = *this;
  sum.AddScaled(other, 1);
  return sum;
}

IndexExpr IndexExpr::operator-(const IndexExpr& other) const {
  IndexExpr difference = *this;
  difference.AddScaled(other, -1);
  return difference;
}

IndexExpr IndexExpr::operator*(int64_t factor) const {
  if (factor == 0) return IndexExpr();
  IndexExpr product = *this;
  product.constant_ *= factor;
  for (Term& t : product.terms_) t.coefficient *= factor;
  return product;
}

IndexExpr IndexExpr::operator+(int64_t value) const {
  IndexExpr sum = *this;
  sum.constant_ += value;
  return sum;
}

Bounds IndexExpr::bounds() const {
  __int128 low = constant_, high = constant_;
  for (const Term& t : terms_) {
    const __int128 a = __int128{t.coefficient} * t.atom.bounds.min;
    const __int128 b = __int128{t.coefficient} * t.atom.bounds.max;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  return {Saturate(low), Saturate(high)};
}

IndexExpr IndexExpr::SplitOff(int64_t divisor, IndexExpr* quotient) const {
  IndexExpr rest;
  const int64_t whole = FloorDivide(constant_, divisor);
  rest.constant_ = constant_ - whole * divisor;
  quotient->constant_ = whole;
  for (const Term& t : terms_) {
    const int64_t part = FloorDivide(t.coefficient, divisor);
    const bool divides = part * divisor == t.coefficient;
    (divides ? *quotient : rest)
        .AddTerm(divides ? part : t.coefficient, t.atom);
  }
  return rest;
}

IndexExpr IndexExpr::FloorDiv(int64_t divisor) const {
  HAWSER_CHECK(divisor >= 1);
  if (divisor == 1) return *this;
  IndexExpr quotient;
  IndexExpr rest = SplitOff(divisor, &quotient);
  const Bounds b = rest.bounds();
  if (FloorDivide(b.min, divisor) == FloorDivide(b.max, divisor)) {
    return quotient + FloorDivide(b.min, divisor);
  }
  // (g*x + r) / (g*k) is x / k where 0 <= r < g.
  for (const Term& t : rest.terms_) {
    const int64_t g = std::gcd(t.coefficient, divisor);
    if (g <= 1) continue;
    IndexExpr outer;
    const IndexExpr small = rest.SplitOff(g, &outer);
    const Bounds s = small.bounds();
    if (s.min < 0 || s.max >= g) continue;
    return quotient + outer.FloorDiv(divisor / g);
  }
  // (x / a) / b is x / (a*b).
  if (rest.constant_ == 0 && rest.terms_.size() == 1 &&
      rest.terms_[0].coefficient == 1 &&
      rest.terms_[0].atom.kind == IndexAtom::kDiv) {
    const IndexAtom& atom = rest.terms_[0].atom;
    return quotient + atom.inner->FloorDiv(atom.divisor * divisor);
  }
  IndexExpr divided;
  divided.AddTerm(1, Divided(IndexAtom::kDiv, rest, divisor));
  return quotient + divided;
}

IndexExpr IndexExpr::Mod(int64_t divisor) const {
  HAWSER_CHECK(divisor >= 1);
  if (divisor == 1) return IndexExpr();
  IndexExpr quotient;
  const IndexExpr rest = SplitOff(divisor, &quotient);
  const Bounds b = rest.bounds();
  const int64_t whole = FloorDivide(b.min, divisor);
  if (whole == FloorDivide(b.max, divisor)) return rest + -whole * divisor;
  // (g*x + r) % (g*k) is g * (x % k) + r where 0 <= r < g.
  for (const Term& t : rest.terms_) {
    const int64_t g = std::gcd(t.coefficient, divisor);
    if (g <= 1) continue;
    IndexExpr outer;
    const IndexExpr small = rest.SplitOff(g, &outer);
    const Bounds s = small.bounds();
    if (s.min < 0 || s.max >= g) continue;
    return outer.Mod(divisor / g) * g + small;
  }
  // (x % (a*b)) % b is x % b.
  if (rest.constant_ == 0 && rest.terms_.size() == 1 &&
      rest.terms_[0].coefficient == 1 &&
      rest.terms_[0].atom.kind == IndexAtom::kMod &&
      rest.terms_[0].atom.divisor % divisor == 0) {
    return rest.terms_[0].atom.inner->Mod(divisor);
  }
  IndexExpr remainder;
  remainder.AddTerm(1, Divided(IndexAtom::kMod, rest, divisor));
  return remainder;
}

IndexExpr IndexExpr::Substitute(absl::Span<const IndexExpr> dims) const {
  IndexExpr result = Constant(constant_);
  for (const Term& t : terms_) {
    switch (t.atom.kind) {
      case IndexAtom::kDim:
        result.AddScaled(dims[t.atom.index], t.coefficient);
        break;
      case IndexAtom::kSymbol:
        result.AddTerm(t.coefficient, t.atom);
        break;
      case IndexAtom::kDiv:
        result.AddScaled(
            t.atom.inner->Substitute(dims).FloorDiv(t.atom.divisor),
            t.coefficient);
        break;
      case IndexAtom::kMod:
        result.AddScaled(t.atom.inner->Substitute(dims).Mod(t.atom.divisor),
                         t.coefficient);
        break;
    }
  }
  return result;
}

int64_t IndexExpr::CoefficientOf(int index) const {
  for (const Term& t : terms_) {
    if (t.atom.kind == IndexAtom::kDim && t.atom.index == index) {
      return t.coefficient;
    }
  }
  return 0;
}

bool IndexExpr::DividesDim(int index) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const Term& t) {
    return t.atom.inner != nullptr && t.atom.inner->UsesDim(index);
  });
}

bool IndexExpr::UsesDim(int index) const {
  return CoefficientOf(index) != 0 || DividesDim(index);
}

bool IndexExpr::UsesSymbol() const {
  return std::any_of(terms_.begin(), terms_.end(), [](const Term& t) {
    return t.atom.kind == IndexAtom::kSymbol ||
           (t.atom.inner != nullptr && t.atom.inner->UsesSymbol());
  });
}

void IndexExpr::CollectSymbols(std::vector<int>* symbols) const {
  for (const Term& t : terms_) {
    if (t.atom.kind == IndexAtom::kSymbol) symbols->push_back(t.atom.index);
    if (t.atom.inner != nullptr) t.atom.inner->CollectSymbols(symbols);
  }
}

std::string IndexExpr::ToString() const {
  std::string text;
  for (const Term& t : terms_) {
    const int64_t size = t.coefficient < 0 ? -t.coefficient : t.coefficient;
    absl::StrAppend(&text, text.empty()        ? (t.coefficient < 0 ? "-" : "")
                           : t.coefficient < 0 ? " - "
                                               : " + ");
    if (size != 1) absl::StrAppend(&text, size, "*");
    switch (t.atom.kind) {
      case IndexAtom::kDim:
        absl::StrAppend(&text, "d", t.atom.index);
        break;
      case IndexAtom::kSymbol:
        absl::StrAppend(&text, "s", t.atom.index);
        break;
      case IndexAtom::kDiv:
      case IndexAtom::kMod:
        absl::StrAppend(&text, "((", t.atom.inner->ToString(), ")",
                        t.atom.kind == IndexAtom::kDiv ? " / " : " % ",
                        t.atom.divisor, ")");
        break;
    }
  }
  if (text.empty()) return absl::StrCat(constant_);
  if (constant_ > 0) absl::StrAppend(&text, " + ", constant_);
  if (constant_ < 0) absl::StrAppend(&text, " - ", -constant_);
  return text;
}

int IndexExpr::Compare(const IndexExpr& other) const {
  if (constant_ != other.constant_) {
    return CompareNumbers(constant_, other.constant_);
  }
  if (terms_.size() != other.terms_.size()) {
    return CompareNumbers(terms_.size(), other.terms_.size());
  }
  for (size_t i = 0; i < terms_.size(); ++i) {
    const Term& a = terms_[i];
    const Term& b = other.terms_[i];
    if (const int order = CompareAtoms(a.atom, b.atom)) return order;
    if (a.coefficient != b.coefficient) {
      return CompareNumbers(a.coefficient, b.coefficient);
    }
  }
  return 0;
}

bool IndexExpr::operator==(const IndexExpr& other) const {
  return Compare(other) == 0;
}

}  // namespace hawser::plan
