// What the families of op cases share, and their tables.
#ifndef HAWSER_TESTS_CORE_AUTODIFF_CASE_FAMILIES_H_
#define HAWSER_TESTS_CORE_AUTODIFF_CASE_FAMILIES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tests/core/autodiff/differentiate.h"
#include "tests/core/autodiff/op_cases.h"

namespace hawser {

using Cases = std::vector<OpCase>;
using Ids = absl::Span<const ValueId>;

// How the cases of one op are made, with numbers of a dtype.
struct CaseRow {
  const OpDef* op;
  Cases (*make)(DType);
};
absl::Span<const CaseRow> ElementwiseCases();
absl::Span<const CaseRow> MovementCases();
absl::Span<const CaseRow> IndexedCases();
absl::Span<const CaseRow> ContractionCases();
absl::Span<const CaseRow> LinalgCases();
absl::Span<const CaseRow> TransformCases();

OpCase Case(std::string name, Arguments arguments, std::vector<int> by,
            const Body& body);
// `op` of the parameters, differentiated by all floating and complex ones.
OpCase Plain(std::string name, const OpDef& op, Arguments arguments,
             Attributes attributes = {});

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_AUTODIFF_CASE_FAMILIES_H_
