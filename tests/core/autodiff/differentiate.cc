#include "tests/core/autodiff/differentiate.h"

#include <cmath>
#include <complex>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "core/ir/verifier.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "kernels/cpu/evaluator.h"

namespace hawser {
namespace {

// A copy of the entry with further instructions, and its results.
struct Copy {
  explicit Copy(Module m)
      : module(std::move(m)),
        from(module.entry()),
        builder(&module, from.name()),
        scope{builder, monoids} {
    for (const Instruction& i : from.instructions()) {
      builder.Add(*i.op, i.operands, i.attributes, i.called);
    }
  }

  Module module;
  const Computation from;
  ComputationBuilder builder;
  Monoids monoids;
  ExpressionScope scope;
};

absl::StatusOr<double> ValueAt(const Module& module,
                               const Arguments& arguments) {
  HAWSER_ASSIGN_OR_RETURN(const auto results, Evaluate(module, arguments));
  return results[0].data<double>()[0];
}

// `argument` with component `part` (0 real, 1 imaginary) of an element moved.
Literal Moved(const Literal& argument, int64_t element, int part,
              double by) {
  Literal out = Literal::Uninitialized(argument.shape());
  const auto bytes = argument.bytes();
  std::copy(bytes.begin(), bytes.end(), out.mutable_bytes().begin());
  if (argument.shape().dtype() == DType::kF64) {
    out.mutable_data<double>()[element] += by;
  } else {
    out.mutable_data<std::complex<double>>()[element] +=
        part == 0 ? std::complex<double>(by, 0) : std::complex<double>(0, by);
  }
  return out;
}

absl::StatusOr<double> Difference(const Module& module, Arguments arguments,
                                  int parameter, int64_t element, int part) {
  // Both errors of a central difference are about 1e-10 then.
  const double step = 0x1p-17;
  const Literal at = arguments[parameter];
  arguments[parameter] = Moved(at, element, part, step);
  HAWSER_ASSIGN_OR_RETURN(const double above, ValueAt(module, arguments));
  arguments[parameter] = Moved(at, element, part, -step);
  HAWSER_ASSIGN_OR_RETURN(const double below, ValueAt(module, arguments));
  return (above - below) / (2 * step);
}

}  // namespace

int AddComputation(Module* module, std::string name,
                   absl::Span<const Shape> parameters, const Body& body) {
  ComputationBuilder builder(module, std::move(name));
  std::vector<ValueId> values;
  for (const Shape& shape : parameters) {
    values.push_back(builder.Parameter(shape));
  }
  const auto index = builder.Finish(body(builder, values));
  EXPECT_OK(index);
  return index.value_or(-1);
}

Module ModuleOf(const Arguments& arguments, const Body& body) {
  Module module("m");
  std::vector<Shape> shapes;
  for (const Literal& l : arguments) shapes.push_back(l.shape());
  AddComputation(&module, "main", shapes, body);
  return module;
}

absl::StatusOr<std::vector<Literal>> Evaluate(const Module& module,
                                              const Arguments& arguments) {
  // Room for the long chains that no wire would let pass.
  constexpr int64_t kMany = int64_t{1} << 24;
  HAWSER_RETURN_IF_ERROR(Verify(module, {.bytes = kMany << 8,
                                         .instructions = kMany,
                                         .operands = kMany}));
  cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
  return evaluator.Evaluate(
      module, static_cast<int>(module.computations().size()) - 1, arguments,
      CancelToken());
}

absl::StatusOr<std::vector<Literal>> GradientAt(const Module& module,
                                                const Arguments& arguments,
                                                std::vector<int> by) {
  const size_t count = by.size();
  HAWSER_ASSIGN_OR_RETURN(const Module both,
                          ValueAndGradient(module, {.parameters = by}));
  HAWSER_ASSIGN_OR_RETURN(const auto results, Evaluate(both, arguments));
  return std::vector<Literal>(results.end() - count, results.end());
}

Module WithObjective(const Module& module, int first_result) {
  Copy copy(module);
  ExpressionScope* scope = &copy.scope;
  Expression sum = Filled(scope, Shape::Scalar(DType::kF64), 0);
  int seed = 5;
  for (size_t k = first_result; k < copy.from.results().size(); ++k) {
    const Expression value(scope, copy.from.results()[k]);
    if (!IsFloat(value.dtype()) && !IsComplex(value.dtype())) continue;
    const Literal weights =
        Spaced(value.dtype(), value.dims(), 0.5, 2, seed++);
    const Expression part =
        SummedAll(value * Expression(scope, copy.builder.Constant(weights)));
    sum = sum + ConvertTo(part, DType::kF64);
  }
  std::vector<ValueId> results = {sum.value()};
  results.insert(results.end(), copy.from.results().begin(),
                 copy.from.results().end());
  EXPECT_OK(copy.builder.Finish(results));
  return std::move(copy.module);
}

absl::StatusOr<std::vector<Literal>> DifferencesAt(
    const Module& module, const Arguments& arguments,
    const std::vector<int>& by) {
  std::vector<Literal> out;
  for (int p : by) {
    Literal gradient = Literal::Zeros(arguments[p].shape());
    for (int64_t i = 0; i < gradient.shape().num_elements(); ++i) {
      HAWSER_ASSIGN_OR_RETURN(const double re,
                              Difference(module, arguments, p, i, 0));
      if (gradient.shape().dtype() == DType::kF64) {
        gradient.mutable_data<double>()[i] = re;
        continue;
      }
      HAWSER_ASSIGN_OR_RETURN(const double im,
                              Difference(module, arguments, p, i, 1));
      gradient.mutable_data<std::complex<double>>()[i] = {re, -im};
    }
    out.push_back(std::move(gradient));
  }
  return out;
}

Literal Values(DType dtype, absl::Span<const double> values, Dims dims) {
  return VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> elements;
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (kIsComplex<T>) {
        using Part = typename T::value_type;
        elements.emplace_back(
            static_cast<Part>(values[i]),
            static_cast<Part>(values[values.size() - 1 - i]));
      } else if constexpr (kIsHalf<T>) {
        elements.push_back(T(static_cast<float>(values[i])));
      } else {
        elements.push_back(static_cast<T>(values[i]));
      }
    }
    if constexpr (std::is_same_v<T, bool>) {
      Literal out = Literal::Uninitialized(Shape::Of(dtype, dims));
      for (size_t i = 0; i < values.size(); ++i) {
        out.mutable_data<bool>()[i] = elements[i];
      }
      return out;
    } else {
      return Literal::Of<T>(elements, dims);
    }
  });
}

Literal Spaced(DType dtype, Dims dims, double low, double high, int seed) {
  const int64_t first = static_cast<int64_t>(std::ceil(low * 16));
  const int64_t places =
      std::max<int64_t>(static_cast<int64_t>(std::floor(high * 16)) - first, 1);
  // A step without a common factor with the number of places visits them all.
  int64_t step = places * 5 / 8 + 1;
  while (std::gcd(step, places) != 1) ++step;
  std::vector<double> values;
  const int64_t count = Shape::Of(DType::kF64, dims).num_elements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = first + ((i + 3 * seed) * step + seed) % places;
    values.push_back((2 * place + 1) / 32.0);
  }
  return Values(dtype, values, dims);
}

}  // namespace hawser
