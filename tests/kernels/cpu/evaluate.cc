#include "tests/kernels/cpu/evaluate.h"

#include <iostream>
#include <map>
#include <utility>

#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::cpu {
namespace {

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (!value.ok()) std::cerr << value.status() << std::endl;
  HAWSER_CHECK(value.ok());
  return *std::move(value);
}

}  // namespace

int AddComputation(Module& module, std::string name,
                   absl::Span<const Shape> parameters, const BodyFn& body) {
  ComputationBuilder builder(&module, std::move(name));
  Values values;
  for (const Shape& shape : parameters) {
    values.push_back(builder.Parameter(shape));
  }
  const Values results = body(builder, values);
  return OrDie(builder.Finish(results));
}

BodyFn OneOp(const OpDef& op, Attributes attributes) {
  return [&op, attributes](ComputationBuilder& b,
                           absl::Span<const ValueId> v) -> Values {
    return {b.Add(op, v, attributes)};
  };
}

Module OpModule(const OpDef& op, absl::Span<const Shape> operands,
                const Attributes& attributes,
                const std::vector<Body>& called) {
  Module module("test");
  std::vector<int> indices;
  for (const Body& body : called) {
    indices.push_back(
        AddComputation(module, "body", body.parameters, body.fn));
  }
  AddComputation(module, "main", operands,
                 [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
                   const ValueId first = b.Add(op, v, attributes, indices);
                   if (!b.status().ok()) return Values{};
                   Values results;
                   for (ValueId r = first; r < b.computation().num_values();
                        ++r) {
                     results.push_back(r);
                   }
                   return results;
                 });
  return module;
}

ThreadPool* Threads(int count) {
  static auto& pools = *new std::map<int, ThreadPool>();
  return count == 1 ? nullptr : &pools.try_emplace(count, count).first->second;
}

absl::StatusOr<std::vector<Literal>> Evaluate(
    const Module& module, absl::Span<const Literal> arguments,
    const CpuEvaluator::Options& options) {
  CpuEvaluator evaluator(options);
  return evaluator.Evaluate(
      module, static_cast<int>(module.computations().size()) - 1, arguments,
      {});
}

std::vector<Literal> EvaluateAll(const OpDef& op,
                                 const std::vector<Literal>& operands,
                                 const Attributes& attributes,
                                 const std::vector<Body>& called,
                                 const CpuEvaluator::Options& options) {
  std::vector<Shape> shapes;
  for (const Literal& operand : operands) shapes.push_back(operand.shape());
  return OrDie(
      Evaluate(OpModule(op, shapes, attributes, called), operands, options));
}

Literal EvaluateOp(const OpDef& op, const std::vector<Literal>& operands,
                   const Attributes& attributes,
                   const std::vector<Body>& called,
                   const CpuEvaluator::Options& options) {
  std::vector<Literal> results =
      EvaluateAll(op, operands, attributes, called, options);
  HAWSER_CHECK(results.size() == 1);
  return results[0];
}

Module CountModule() {
  const Shape s64 = Shape::Scalar(DType::kS64);
  return OpModule(
      kWhile, {s64, s64}, {{"num_invariant", int64_t{1}}},
      {{{s64, s64}, OneOp(kCompare, {{"direction", std::string("LT")}})},
       {{s64, s64}, [](ComputationBuilder& b, absl::Span<const ValueId> v) {
          const ValueId one = b.Constant(Literal::Scalar<int64_t>(1));
          return Values{b.Add(kAdd, {v[0], one})};
        }}});
}

Literal Cast(const Literal& literal, DType dtype) {
  return EvaluateOp(kConvert, {literal}, {{"dtype", dtype}});
}

}  // namespace hawser::cpu
