#include "kernels/cpu/sorting/sort_order.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/expression.h"
#include "core/ops/movement/sort.h"

namespace hawser::cpu {
namespace {

// Decides if two values of a comparator are the same function of an element on
// the left and of the one on the right, all of one operand.
class Mirror {
 public:
  explicit Mirror(const Computation& c) : c_(c) {}

  bool Match(ValueId left, ValueId right) {
    if (const auto known = matched_.find(left); known != matched_.end()) {
      return known->second == right;
    }
    const Instruction& l = c_.instructions()[c_.producer(left)];
    const Instruction& r = c_.instructions()[c_.producer(right)];
    if (l.op != r.op || !l.called.empty() ||
        left - l.first_result != right - r.first_result) {
      return false;
    }
    if (l.op == &kParameter) return MatchParameters(left, right);
    if (!SameAttributes(l.attributes, r.attributes) ||
        l.operands.size() != r.operands.size()) {
      return false;
    }
    for (size_t k = 0; k < l.operands.size(); ++k) {
      if (!Match(l.operands[k], r.operands[k])) return false;
    }
    matched_[left] = right;
    return true;
  }
  // -1: no operand's.
  int operand() const { return operand_; }
  // True if "left" is what the comparator calls right.
  bool is_swapped() const { return is_swapped_; }

 private:
  bool MatchParameters(ValueId left, ValueId right) {
    const bool is_swapped = left > right;
    const ValueId lower = is_swapped ? right : left;
    if (left + right != 2 * lower + 1 || lower % 2 != 0) return false;
    if (operand_ >= 0 && (operand_ != lower / 2 || is_swapped != is_swapped_)) {
      return false;
    }
    operand_ = lower / 2;
    is_swapped_ = is_swapped;
    matched_[left] = right;
    return true;
  }

  const Computation& c_;
  absl::flat_hash_map<ValueId, ValueId> matched_;
  int operand_ = -1;
  bool is_swapped_ = false;
};

// The computation of `value` alone, from the parameter it is made of.
std::optional<Module> KeyModule(const Computation& c, ValueId parameter,
                                ValueId value) {
  std::vector<bool> needed(c.num_values(), false);
  needed[value] = true;
  for (size_t k = c.instructions().size(); k-- > 0;) {
    const Instruction& i = c.instructions()[k];
    if (!needed[i.first_result]) continue;
    for (const ValueId v : i.operands) needed[v] = true;
  }
  Module module("key");
  ComputationBuilder builder(&module, "key");
  std::vector<ValueId> moved(c.num_values(), kNoValue);
  moved[parameter] = builder.Parameter(c.shape(parameter), SourceLocation{});
  for (const Instruction& i : c.instructions()) {
    if (i.op == &kParameter || !needed[i.first_result]) continue;
    std::vector<ValueId> operands;
    for (const ValueId v : i.operands) operands.push_back(moved[v]);
    moved[i.first_result] =
        builder.Add(*i.op, operands, i.attributes, {}, SourceLocation{});
  }
  if (!builder.Finish({moved[value]}).ok()) return std::nullopt;
  return module;
}

// True if two values of computations of one parameter are the same function.
bool SameFunction(const Computation& a, ValueId x, const Computation& b,
                  ValueId y) {
  const Instruction& i = a.instructions()[a.producer(x)];
  const Instruction& j = b.instructions()[b.producer(y)];
  if (i.op != j.op || !i.called.empty() ||
      i.operands.size() != j.operands.size()) {
    return false;
  }
  if (i.op == &kParameter) return true;
  if (!SameAttributes(i.attributes, j.attributes)) return false;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    if (!SameFunction(a, i.operands[k], b, j.operands[k])) return false;
  }
  return true;
}

// The most instructions that are compared with OrderOf's.
constexpr size_t kFewInstructions = 32;

// True if `key` makes of a float what OrderOf makes of it.
bool IsKnownOrder(const Computation& key, DType dtype) {
  if (!IsFloat(dtype) || key.instructions().size() > kFewInstructions) {
    return false;
  }
  Module module("known");
  ComputationBuilder builder(&module, "known");
  Monoids monoids;
  ExpressionScope scope{builder, monoids};
  const Expression x(&scope,
                     builder.Parameter(Shape::Scalar(dtype), SourceLocation{}));
  const auto number = builder.Finish({OrderOf(x).value()});
  if (!number.ok()) return false;
  const Computation& known = module.computation(*number);
  return SameFunction(known, known.results()[0], key, key.results()[0]);
}

}  // namespace

std::optional<SortOrder> OrderOfComparator(const Computation& comparator) {
  const ValueId result = comparator.results()[0];
  const Instruction& last =
      comparator.instructions()[comparator.producer(result)];
  if (last.op != &kCompare) return std::nullopt;
  const CompareDirection direction = CompareDirectionOf(last.attributes);
  const bool greater = direction == CompareDirection::kGt;
  if (!greater && direction != CompareDirection::kLt) return std::nullopt;
  Mirror mirror(comparator);
  const ValueId left = last.operands[0];
  if (!mirror.Match(left, last.operands[1]) || mirror.operand() < 0) {
    return std::nullopt;
  }
  const DType key_dtype = comparator.shape(left).dtype();
  if (IsComplex(key_dtype)) return std::nullopt;
  SortOrder order{.operand = mirror.operand(),
                  .descending = greater != mirror.is_swapped(),
                  .key_dtype = key_dtype};
  const ValueId parameter = 2 * order.operand + (mirror.is_swapped() ? 1 : 0);
  if (left == parameter) return order;
  const auto module = KeyModule(comparator, parameter, left);
  if (!module) return std::nullopt;
  const Computation& key = module->computation(0);
  const DType dtype = comparator.shape(parameter).dtype();
  if (IsKnownOrder(key, dtype)) {
    order.key_dtype = dtype;
    return order;
  }
  order.is_plain = false;
  order.key = LaneProgram::Make(key);
  if (!order.key.has_value()) return std::nullopt;
  return order;
}

}  // namespace hawser::cpu
