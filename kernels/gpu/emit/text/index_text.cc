#include "kernels/gpu/emit/text/index_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hawser::gpu {
namespace {

using plan::IndexAtom;
using plan::IndexExpr;

std::string AtomText(const IndexAtom& atom, const IndexNames& names) {
  switch (atom.kind) {
    case IndexAtom::kDim:
      return names.loops[atom.index];
    case IndexAtom::kSymbol:
      return names.symbols[atom.index];
    case IndexAtom::kDiv:
    case IndexAtom::kMod:
      break;
  }
  // An operand that may be negative is moved up by whole divisors.
  const int64_t low = std::min<int64_t>(atom.inner->bounds().min, 0);
  const int64_t moved = (atom.divisor - 1 - low) / atom.divisor;
  const std::string inner =
      IndexText(*atom.inner + moved * atom.divisor, names);
  const std::string by = names.Number(atom.divisor);
  if (atom.kind == IndexAtom::kMod) {
    return absl::StrCat("((", inner, ") % ", by, ")");
  }
  return moved == 0 ? absl::StrCat("((", inner, ") / ", by, ")")
                    : absl::StrCat("((", inner, ") / ", by, " - ",
                                   names.Number(moved), ")");
}

}  // namespace

std::string IndexNames::Number(int64_t value) const {
  return absl::StrCat(value, wide ? "ull" : "u");
}

std::string IndexText(const IndexExpr& e, const IndexNames& names) {
  if (e.IsConstant() && e.constant() >= 0) return names.Number(e.constant());
  std::string text;
  for (const IndexExpr::Term& t : e.terms()) {
    const bool minus = t.coefficient < 0;
    const int64_t size = minus ? -t.coefficient : t.coefficient;
    absl::StrAppend(&text, text.empty() ? (minus ? "0u - " : "")
                           : minus      ? " - "
                                        : " + ");
    if (size != 1) absl::StrAppend(&text, names.Number(size), " * ");
    absl::StrAppend(&text, AtomText(t.atom, names));
  }
  if (text.empty()) text = "0u";
  if (e.constant() > 0) {
    absl::StrAppend(&text, " + ", names.Number(e.constant()));
  } else if (e.constant() < 0) {
    absl::StrAppend(&text, " - ", names.Number(-e.constant()));
  }
  return text;
}

// One comparison: what lies below `min` wraps to above everything.
std::string PredicateText(const plan::Predicate& p, const IndexNames& names) {
  if (p.bounds.max < p.bounds.min) return "false";
  return absl::StrCat(IndexText(p.value + -p.bounds.min, names), " <= ",
                      names.Number(p.bounds.max - p.bounds.min));
}

bool FitsU32(const IndexExpr& e) {
  constexpr int64_t kEnd = int64_t{1} << 31;
  const plan::Bounds b = e.bounds();
  return b.min > -kEnd && b.max < kEnd &&
         std::all_of(e.terms().begin(), e.terms().end(),
                     [](const IndexExpr::Term& t) {
                       return t.atom.inner == nullptr || FitsU32(*t.atom.inner);
                     });
}

}  // namespace hawser::gpu
