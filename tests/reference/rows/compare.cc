// Predicates and the choice by predicate.
#include "core/ops/elementwise/compare.h"

#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

template <typename T>
bool Holds(CompareDirection direction, T a, T b) {
  switch (direction) {
    case CompareDirection::kEq:
      return a == b;
    case CompareDirection::kNe:
      return a != b;
    case CompareDirection::kGe:
      return a >= b;
    case CompareDirection::kGt:
      return a > b;
    case CompareDirection::kLe:
      return a <= b;
    case CompareDirection::kLt:
      break;
  }
  return a < b;
}

bool HoldsFor(CompareDirection direction, DType dtype, const Number& a,
              const Number& b) {
  if (IsComplex(dtype)) {
    return (direction == CompareDirection::kEq) == (a.value == b.value);
  }
  if (IsFloat(dtype)) return Holds(direction, a.value.real(), b.value.real());
  if (!IsSigned(dtype)) return Holds(direction, a.bits, b.bits);
  return Holds(direction, static_cast<int64_t>(a.bits),
               static_cast<int64_t>(b.bits));
}

absl::StatusOr<Values> Compare(const Context& c) {
  const CompareDirection direction = CompareDirectionOf(c.attributes());
  const DType dtype = c.shape(0).dtype();
  HAWSER_ASSIGN_OR_RETURN(
      Literal out, FillByPlace(c, c.result_shape(), [&](int64_t place) {
        return Number::Of(uint64_t{HoldsFor(direction, dtype,
                                            ReadNumber(c.operands[0], place),
                                            ReadNumber(c.operands[1], place))});
      }));
  return Values{std::move(out)};
}

Number Select(DType, Numbers x) { return x[0].bits != 0 ? x[1] : x[2]; }

constexpr Row kCompareRows[] = {
    {&kCompare, Compare},
    {&kSelect, ElementByElement<Select>},
};

}  // namespace

absl::Span<const Row> CompareRows() { return kCompareRows; }

}  // namespace hawser::reference
