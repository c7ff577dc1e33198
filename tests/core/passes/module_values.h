// What a module's entry gives, on this processor.
#ifndef HAWSER_TESTS_CORE_PASSES_MODULE_VALUES_H_
#define HAWSER_TESTS_CORE_PASSES_MODULE_VALUES_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/evaluator.h"
#include "tests/testing/matchers.h"

namespace hawser {

inline absl::StatusOr<std::vector<Literal>> Run(
    const Module& module, int n, absl::Span<const Literal> arguments) {
  static auto& evaluator = *new cpu::CpuEvaluator();
  return evaluator.Evaluate(module, n, arguments, CancelToken());
}

// All elements as text, which tells -0 from 0 but no NaN from another.
inline std::string Values(const Module& module,
                          absl::Span<const Literal> arguments) {
  const int entry = static_cast<int>(module.computations().size()) - 1;
  const auto results = Run(module, entry, arguments);
  EXPECT_OK(results);
  std::string text;
  if (!results.ok()) return text;
  for (const Literal& l : *results) {
    absl::StrAppend(&text, l.ToString(l.shape().num_elements()), "\n");
  }
  return text;
}

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_PASSES_MODULE_VALUES_H_
