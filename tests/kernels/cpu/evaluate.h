// Evaluating one op, or a small graph, on the CPU.
#ifndef HAWSER_TESTS_KERNELS_CPU_EVALUATE_H_
#define HAWSER_TESTS_KERNELS_CPU_EVALUATE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"
#include "kernels/cpu/evaluator.h"

namespace hawser::cpu {

using Values = std::vector<ValueId>;
// Fills a computation and gives its results.
using BodyFn =
    std::function<Values(ComputationBuilder&, absl::Span<const ValueId>)>;

// Adds a computation with these parameters; returns its index. Dies when it is
// not a computation: that is the test's own mistake.
int AddComputation(Module& module, std::string name,
                   absl::Span<const Shape> parameters, const BodyFn& body);

// A computation that applies one op to its parameters.
BodyFn OneOp(const OpDef& op, Attributes attributes = {});

struct Body {
  std::vector<Shape> parameters;
  BodyFn fn;
};

// A module of one instruction whose operands are the entry's parameters.
Module OpModule(const OpDef& op, absl::Span<const Shape> operands,
                const Attributes& attributes = {},
                const std::vector<Body>& called = {});

// So many threads, which stay; one: none but the caller's.
ThreadPool* Threads(int count);

absl::StatusOr<std::vector<Literal>> Evaluate(
    const Module& module, absl::Span<const Literal> arguments,
    const CpuEvaluator::Options& options = {});

// All results of one op; dies on an error.
std::vector<Literal> EvaluateAll(const OpDef& op,
                                 const std::vector<Literal>& operands,
                                 const Attributes& attributes = {},
                                 const std::vector<Body>& called = {},
                                 const CpuEvaluator::Options& options = {});
// Its only result.
Literal EvaluateOp(const OpDef& op, const std::vector<Literal>& operands,
                   const Attributes& attributes = {},
                   const std::vector<Body>& called = {},
                   const CpuEvaluator::Options& options = {});

// (i, limit) -> i counted up to limit, both s64[]: work as long as one likes.
Module CountModule();

template <typename T>
Literal Full(T value, const Dims& dims) {
  Literal out = Literal::Uninitialized(Shape::Of(kDTypeOf<T>, dims));
  for (T& element : out.mutable_data<T>()) element = value;
  return out;
}

// The literal with every element converted.
Literal Cast(const Literal& literal, DType dtype);

}  // namespace hawser::cpu
#endif  // HAWSER_TESTS_KERNELS_CPU_EVALUATE_H_
