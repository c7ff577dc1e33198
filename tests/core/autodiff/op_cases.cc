#include "tests/core/autodiff/op_cases.h"

#include <utility>

#include "tests/core/autodiff/case_families.h"

namespace hawser {

OpCase Case(std::string name, Arguments arguments, std::vector<int> by,
            const Body& body) {
  Module module = ModuleOf(arguments, body);
  return {std::move(name), std::move(arguments), std::move(by),
          std::move(module)};
}

OpCase Plain(std::string name, const OpDef& op, Arguments arguments,
             Attributes attributes) {
  std::vector<int> by;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const DType d = arguments[i].shape().dtype();
    if (IsFloat(d) || IsComplex(d)) by.push_back(static_cast<int>(i));
  }
  return Case(std::move(name), std::move(arguments), by,
              [&](ComputationBuilder& b, Ids p) {
                const ValueId first = b.Add(op, p, attributes);
                std::vector<ValueId> results;
                const int count =
                    b.status().ok()
                        ? b.computation().instructions().back().num_results
                        : 0;
                for (int k = 0; k < count; ++k) results.push_back(first + k);
                return results;
              });
}

std::vector<OpCase> CasesOf(const OpDef& op, DType dtype) {
  for (const auto& family :
       {ElementwiseCases(), MovementCases(), IndexedCases(), ContractionCases(),
        LinalgCases(), TransformCases()}) {
    for (const CaseRow& row : family) {
      if (row.op != &op) continue;
      return op.dtypes.Has(dtype) ? row.make(dtype) : Cases();
    }
  }
  ADD_FAILURE() << op.name << " has a gradient rule but no row in "
                << "tests/core/autodiff/**/*_cases.cc";
  return {};
}

}  // namespace hawser
