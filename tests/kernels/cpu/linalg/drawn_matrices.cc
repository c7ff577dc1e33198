#include "tests/kernels/cpu/linalg/drawn_matrices.h"

#include <cmath>
#include <complex>
#include <random>
#include <utility>

#include "core/base/status.h"
#include "core/base/threads/cancel.h"
#include "core/ir/builder.h"

namespace hawser::cpu {
namespace {

template <typename Fn>
void VisitFloating(DType dtype, Fn fn) {
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T> || std::is_same_v<T, float> ||
                  std::is_same_v<T, double>) {
      fn(tag);
    } else {
      HAWSER_CHECK(false);
    }
  });
}

template <typename T>
T NumberOf(double re, double im) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(re), static_cast<Part>(im));
  } else {
    return static_cast<T>(re);
  }
}

}  // namespace

absl::StatusOr<std::vector<Literal>> RunOp(
    const OpDef& op, const std::vector<Literal>& operands,
    const Attributes& attributes, const CpuEvaluator::Options& options) {
  Module module(std::string(op.name));
  ComputationBuilder builder(&module, "main");
  std::vector<ValueId> parameters, results;
  for (const Literal& operand : operands) {
    parameters.push_back(builder.Parameter(operand.shape()));
  }
  const ValueId first = builder.Add(op, parameters, attributes);
  HAWSER_RETURN_IF_ERROR(builder.status());
  for (ValueId v = first; v < builder.computation().num_values(); ++v) {
    results.push_back(v);
  }
  HAWSER_RETURN_IF_ERROR(builder.Finish(results).status());
  CpuEvaluator evaluator(options);
  return evaluator.Evaluate(module, 0, operands, CancelToken());
}

Literal DrawnMatrices(DType dtype, const Dims& dims, double diagonal,
                      uint64_t seed, double size) {
  Literal out = Literal::Uninitialized(Shape::Of(dtype, dims));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> around(-size, size);
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  VisitFloating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto elements = out.mutable_data<T>();
    for (int64_t k = 0; k < out.shape().num_elements(); ++k) {
      const bool on_diagonal = k / columns % rows == k % columns;
      const double re = around(random) + (on_diagonal ? diagonal : 0);
      elements[k] = NumberOf<T>(re, around(random));
    }
  });
  return out;
}

Literal DefiniteMatrices(DType dtype, const Dims& dims, uint64_t seed) {
  const int64_t n = dims.back();
  const Literal drawn = DrawnMatrices(
      dtype, dims, 2 * std::sqrt(static_cast<double>(n)) + 1, seed);
  Literal out = Literal::Uninitialized(drawn.shape());
  VisitFloating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = drawn.data<T>();
    auto to = out.mutable_data<T>();
    for (int64_t k = 0; k < drawn.shape().num_elements(); ++k) {
      const int64_t first = k / (n * n) * n * n;
      const T other = from[first + k % n * n + k / n % n];
      if constexpr (kIsComplex<T>) {
        to[k] = from[k] + std::conj(other);
      } else {
        to[k] = from[k] + other;
      }
    }
  });
  return out;
}

Literal CopyOf(const Literal& x) {
  return *Literal::FromBytes(x.shape(), x.bytes());
}

void SetElement(Literal* x, int64_t k, double value) {
  VisitFloating(x->shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    x->mutable_data<T>()[k] = NumberOf<T>(value, 0);
  });
}

bool IsNanAt(const Literal& x, int64_t k) {
  bool nan = false;
  VisitFloating(x.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    nan = x.data<T>()[k] != x.data<T>()[k];
  });
  return nan;
}

bool NoneIsNan(const Literal& x, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; ++k) {
    if (IsNanAt(x, k)) return false;
  }
  return true;
}

bool AllAreNan(const Literal& x, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; ++k) {
    if (!IsNanAt(x, k)) return false;
  }
  return true;
}

}  // namespace hawser::cpu
