// TailMatcher: what the values of a product's tail are.
#ifndef HAWSER_KERNELS_PLAN_REGION_TAIL_MATCHER_H_
#define HAWSER_KERNELS_PLAN_REGION_TAIL_MATCHER_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/base/values/literal.h"
#include "core/ir/leaves.h"
#include "core/ir/module.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"

namespace hawser::plan {

// Looks at a computation's values by structure: whether a value is one number,
// a bias or an activation of another. The computation outlives it.
class TailMatcher {
 public:
  explicit TailMatcher(const Computation& c) : c_(c) {}
  // Looks at `inside` (ascending) alone: what other instructions compute is
  // unknown.
  TailMatcher(const Computation& c, absl::Span<const int> inside)
      : c_(c), inside_(inside) {}

  bool Sees(ValueId v) const {
    return !inside_ ||
           std::binary_search(inside_->begin(), inside_->end(), c_.producer(v));
  }
  const Instruction& Producer(ValueId v) const {
    static const Instruction* const unseen = new Instruction{.op = &kParameter};
    return Sees(v) ? c_.instructions()[c_.producer(v)] : *unseen;
  }

  // The number every element of `v` is, looking through broadcasts, reshapes
  // and conversions.
  std::optional<double> Uniform(ValueId v) const {
    for (int depth = 0; depth < 8; ++depth) {
      const Instruction& i = Producer(v);
      if (i.op == &kConstant) {
        const Literal& value = i.attributes.GetLiteral("value");
        if (value.shape().num_elements() != 1) return std::nullopt;
        return ValueOf(value);
      }
      if (i.op != &kBroadcastInDim && i.op != &kReshape && i.op != &kConvert) {
        return std::nullopt;
      }
      v = i.operands[0];
    }
    return std::nullopt;
  }

  // A value of one element per column of `shape`: a broadcast along the last
  // axis.
  bool IsBias(ValueId v, const Shape& shape) const {
    const Instruction& i = Producer(v);
    if (i.op != &kBroadcastInDim || shape.rank() == 0) return false;
    const Shape& from = c_.shape(i.operands[0]);
    const auto to = i.attributes.GetInts("broadcast_dimensions");
    for (int a = 0; a < from.rank(); ++a) {
      if (from.dim(a) != 1 && to[a] != shape.rank() - 1) return false;
    }
    return from.num_elements() == shape.dims().back();
  }

  // The other operand of a binary op when one is `v`.
  ValueId Other(const Instruction& i, ValueId v) const {
    if (i.operands[0] == v) return i.operands[1];
    return i.operands[1] == v ? i.operands[0] : kNoValue;
  }

  bool IsRelu(ValueId y, ValueId x) const {
    const Instruction& i = Producer(y);
    if (i.op != &kMaximum) return false;
    const ValueId other = Other(i, x);
    return other != kNoValue && Uniform(other) == 0.0;
  }

  // 0.5 * x * (1 + tanh(0.79788 * (x + 0.044715 * x^3))), factors in any order.
  bool IsGeluTanh(ValueId y, ValueId x) const {
    const Factors f = FactorsOf(y);
    if (f.others.size() != 2 || !IsNear(f.number, 0.5, x)) return false;
    return (f.others[0] == x && IsGate(f.others[1], x)) ||
           (f.others[1] == x && IsGate(f.others[0], x));
  }

 private:
  struct Factors {
    double number = 1;  // of all numbers among them
    std::vector<ValueId> others;
  };

  // Collects through multiplications, as far as eight factors.
  Factors FactorsOf(ValueId v) const {
    Factors factors;
    std::vector<ValueId> open = {v};
    int products = 0;
    while (!open.empty()) {
      const ValueId at = open.back();
      open.pop_back();
      const Instruction& i = Producer(at);
      if (i.op == &kMultiply && ++products < 8) {
        open.insert(open.end(), i.operands.begin(), i.operands.end());
      } else if (const auto number = Uniform(at)) {
        factors.number *= *number;
      } else {
        factors.others.push_back(at);
      }
    }
    return factors;
  }

  // No farther off than rounding in x's dtype explains.
  bool IsNear(double number, double want, ValueId x) const {
    const int digits = ByteWidth(c_.shape(x).dtype()) == 2 ? 8 : 13;
    return std::abs(number - want) < std::ldexp(want, -digits);
  }

  static double ValueOf(const Literal& value) {
    return VisitDType(value.shape().dtype(), [&](auto tag) -> double {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, std::complex<float>> ||
                    std::is_same_v<T, std::complex<double>>) {
        return std::nan("");
      } else {
        return static_cast<double>(value.data<T>()[0]);
      }
    });
  }

  // 1 + tanh(...).
  bool IsGate(ValueId v, ValueId x) const {
    const Instruction& sum = Producer(v);
    if (sum.op != &kAdd) return false;
    for (const int k : {0, 1}) {
      const Instruction& tanh = Producer(sum.operands[k]);
      if (tanh.op == &kTanh && Uniform(sum.operands[1 - k]) == 1.0) {
        return IsCubic(tanh.operands[0], x);
      }
    }
    return false;
  }

  // 0.79788 * (x + 0.044715 * x^3).
  bool IsCubic(ValueId v, ValueId x) const {
    const Factors scaled = FactorsOf(v);
    if (scaled.others.size() != 1 || !IsNear(scaled.number, 0.7978845608, x)) {
      return false;
    }
    const Instruction& sum = Producer(scaled.others[0]);
    const ValueId cubic = sum.op == &kAdd ? Other(sum, x) : kNoValue;
    if (cubic == kNoValue) return false;
    const Factors cube = FactorsOf(cubic);
    return cube.others == std::vector<ValueId>(3, x) &&
           IsNear(cube.number, 0.044715, x);
  }

  const Computation& c_;
  const std::optional<absl::Span<const int>> inside_;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_TAIL_MATCHER_H_
