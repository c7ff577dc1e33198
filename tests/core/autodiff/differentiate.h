// Gradients and finite differences of small modules, on this CPU.
#ifndef HAWSER_TESTS_CORE_AUTODIFF_DIFFERENTIATE_H_
#define HAWSER_TESTS_CORE_AUTODIFF_DIFFERENTIATE_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/autodiff/gradient_transform.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"
#include "tests/testing/matchers.h"

namespace hawser {

using Arguments = std::vector<Literal>;
// Grows a computation over its parameters; returns the results.
using Body = std::function<std::vector<ValueId>(ComputationBuilder&,
                                                absl::Span<const ValueId>)>;

int AddComputation(Module* module, std::string name,
                   absl::Span<const Shape> parameters, const Body& body);
// A module whose entry takes parameters like `arguments`.
Module ModuleOf(const Arguments& arguments, const Body& body);

absl::StatusOr<std::vector<Literal>> Evaluate(const Module& module,
                                              const Arguments& arguments);
// The derivatives of result 0 at `arguments`, one for each of `by`.
absl::StatusOr<std::vector<Literal>> GradientAt(const Module& module,
                                                const Arguments& arguments,
                                                std::vector<int> by = {0});

// `module` with one result more, in front: the real sum of the floating and
// complex results from `first_result` on, each element with a weight of its
// own, so that no two errors cancel.
Module WithObjective(const Module& module, int first_result = 0);

// The same by central differences of result 0, a real scalar, for f64 and c128
// arguments.
absl::StatusOr<std::vector<Literal>> DifferencesAt(const Module& module,
                                                   const Arguments& arguments,
                                                   const std::vector<int>& by);

// `values` as elements of `dtype`; a complex one's imaginary parts are the
// values in reverse, so that they differ from the real ones.
Literal Values(DType dtype, absl::Span<const double> values, Dims dims);
inline Literal Values(DType dtype, std::initializer_list<double> values) {
  return Values(dtype, {values.begin(), values.size()},
                {static_cast<int64_t>(values.size())});
}
inline Literal Values(DType dtype, double value) {
  return Values(dtype, absl::Span<const double>(&value, 1), {});
}
// Distinct odd multiples of 1/32 between `low` and `high` (as long as they
// last): exact in every dtype, never whole, never equal.
Literal Spaced(DType dtype, Dims dims, double low, double high, int seed = 0);

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_AUTODIFF_DIFFERENTIATE_H_
