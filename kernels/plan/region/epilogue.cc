#include "kernels/plan/region/epilogue.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/ir/leaves.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "kernels/plan/region/node_table.h"
#include "kernels/plan/region/tail_matcher.h"

namespace hawser::plan {
namespace {

// Longer tails are kernels of their own.
constexpr int kMaxTail = 24;

bool IsProduct(const Instruction& i) {
  return NodeOf(*i.op).node == NodeClass::kDot;
}

// The form of a tail, from the product `x` to the value `y` that leaves.
struct TailForm {
  ValueId bias = kNoValue;
  ValueId residual = kNoValue;
  Activation activation = Activation::kIdentity;
};

bool Widens(const Computation& c, const Instruction& convert) {
  return ByteWidth(c.shape(convert.first_result).dtype()) >
         ByteWidth(c.shape(convert.operands[0]).dtype());
}

TailForm FormOf(const TailMatcher& matcher, const Computation& c, ValueId x,
                ValueId y, absl::Span<const int> members) {
  TailForm form;
  const auto member = [&](ValueId v) {
    return std::binary_search(members.begin(), members.end(), c.producer(v));
  };
  for (const int m : members) {
    const Instruction& i = c.instructions()[m];
    if (i.op == &kConvert && i.operands[0] == x) {
      // A call rounds once, at the end.
      if (i.first_result != y && !Widens(c, i)) break;
      x = i.first_result;
      continue;
    }
    const ValueId other = i.op == &kAdd ? matcher.Other(i, x) : kNoValue;
    if (other == kNoValue || member(other)) continue;
    ValueId& part =
        matcher.IsBias(other, c.shape(x)) ? form.bias : form.residual;
    if (part == kNoValue && !matcher.Uniform(other)) {
      part = other;
      x = i.first_result;
    }
  }
  if (matcher.Producer(y).op == &kConvert && y != x) {
    y = matcher.Producer(y).operands[0];
  }
  form.activation = y == x                     ? Activation::kIdentity
                    : matcher.IsRelu(y, x)     ? Activation::kRelu
                    : matcher.IsGeluTanh(y, x) ? Activation::kGeluTanh
                                               : Activation::kOther;
  return form;
}

std::optional<ProductCall> CallOf(const Computation& c, const Instruction& dot,
                                  ValueId exit, const TailForm& form) {
  auto call =
      CallOfDot(dot, c.shape(dot.operands[0]), c.shape(dot.operands[1]));
  if (!call) return std::nullopt;
  CallTail tail{.result = &c.shape(exit), .activation = form.activation};
  if (form.bias != kNoValue) {
    const Instruction& wide = c.instructions()[c.producer(form.bias)];
    tail.bias = &c.shape(wide.operands[0]);
  }
  if (form.residual != kNoValue) tail.residual = &c.shape(form.residual);
  if (!AddTail(tail, &*call)) return std::nullopt;
  return call;
}

// Returns those of `members` that a tail is made of.
std::vector<int> ChainOf(const Computation& c, absl::Span<const int> members) {
  std::vector<int> chain;
  for (const int m : members) {
    const Instruction& i = c.instructions()[m];
    if (i.op->Is(kElementwise) || i.op == &kDotGeneral) chain.push_back(m);
  }
  return chain;
}

class TailFinder {
 public:
  TailFinder(const Computation& c, const Target& target,
             const std::vector<absl::InlinedVector<int, 2>>& users,
             const std::vector<bool>& is_result)
      : c_(c), target_(target), users_(users), is_result_(is_result) {}

  // Grows from the product along users as long as all but one value stay
  // inside, and remembers the best tail the target takes.
  DotTail From(int dot) {
    DotTail best = Alone(dot);
    std::set<int> inside = {dot}, open;
    AddUsers(dot, &open);
    while (!open.empty() && inside.size() < kMaxTail) {
      const int next = *open.begin();
      open.erase(open.begin());
      if (!MayJoin(next, dot, inside)) break;
      inside.insert(next);
      AddUsers(next, &open);
      const int exit = OnlyExit(inside);
      if (exit < 0) continue;
      DotTail tail{
          .dot = dot, .exit = exit, .members = {inside.begin(), inside.end()}};
      if (!Worse(tail, best) && Takes(tail)) best = std::move(tail);
    }
    return best;
  }
  static DotTail Alone(int dot) {
    return {.dot = dot, .exit = dot, .members = {dot}};
  }

 private:
  void AddUsers(int instruction, std::set<int>* open) const {
    for (const int u : users_[c_.instructions()[instruction].first_result]) {
      open->insert(u);
    }
  }

  // Elementwise over the product's sizes; what it reads besides is not
  // computed from the product.
  bool MayJoin(int next, int dot, const std::set<int>& inside) const {
    const Instruction& i = c_.instructions()[next];
    const Shape& shape = c_.shape(c_.instructions()[dot].first_result);
    if (!i.op->Is(kElementwise) || !c_.shape(i.first_result).SameDims(shape)) {
      return false;
    }
    for (const ValueId v : i.operands) {
      const int producer = c_.producer(v);
      if (inside.count(producer) != 0) continue;
      // Computed before the product, so not from it.
      if (producer < dot) continue;
      if (TailMatcher(c_).Uniform(v)) continue;
      if (!TailMatcher(c_).IsBias(v, shape)) return false;
      if (c_.producer(c_.instructions()[producer].operands[0]) >= dot) {
        return false;
      }
    }
    return true;
  }

  int OnlyExit(const std::set<int>& inside) const {
    int exit = -1;
    for (const int m : inside) {
      const ValueId v = c_.instructions()[m].first_result;
      const bool leaves =
          is_result_[v] ||
          std::any_of(users_[v].begin(), users_[v].end(),
                      [&](int u) { return inside.count(u) == 0; });
      if (!leaves) continue;
      if (exit >= 0) return -1;
      exit = m;
    }
    return exit;
  }

  ValueId ValueOf(int i) const { return c_.instructions()[i].first_result; }

  // True if a loop has to read the value that leaves, element by element.
  bool IsReadByALoop(int exit) const {
    const ValueId v = ValueOf(exit);
    return std::any_of(users_[v].begin(), users_[v].end(), [&](int u) {
      const Instruction& i = c_.instructions()[u];
      return i.op->Is(kElementwise) &&
             c_.shape(i.first_result).SameDims(c_.shape(v));
    });
  }
  // True if `tail` is worse than `than`, where both leave work to a loop: it
  // hands more bytes to it.
  bool Worse(const DotTail& tail, const DotTail& than) const {
    const auto bytes = [&](const DotTail& t) {
      return ByteWidth(c_.shape(ValueOf(t.exit)).dtype());
    };
    return IsReadByALoop(tail.exit) && bytes(tail) > bytes(than);
  }

  bool Takes(const DotTail& tail) const {
    if (target_.epilogues == EpilogueSupport::kAny) return true;
    const TailForm form = FormOf(TailMatcher(c_), c_, ValueOf(tail.dot),
                                 ValueOf(tail.exit), tail.members);
    const auto call =
        CallOf(c_, c_.instructions()[tail.dot], ValueOf(tail.exit), form);
    return call && target_.Takes(*call);
  }

  const Computation& c_;
  const Target& target_;
  const std::vector<absl::InlinedVector<int, 2>>& users_;
  const std::vector<bool>& is_result_;
};

}  // namespace

std::vector<DotTail> FindDotTails(
    const Computation& computation, const Target& target,
    const std::vector<absl::InlinedVector<int, 2>>& users,
    const std::vector<bool>& is_result, const std::set<int>& alone) {
  std::vector<DotTail> tails;
  TailFinder finder(computation, target, users, is_result);
  const auto instructions = computation.instructions();
  for (size_t k = 0; k < instructions.size(); ++k) {
    if (!IsProduct(instructions[k])) continue;
    const int dot = static_cast<int>(k);
    tails.push_back(alone.count(dot) > 0 ? TailFinder::Alone(dot)
                                         : finder.From(dot));
  }
  return tails;
}

std::optional<ProductCall> CallOfGroup(const Computation& c, int dot, int exit,
                                       absl::Span<const int> members) {
  const auto value = [&](int i) { return c.instructions()[i].first_result; };
  const TailMatcher matcher(c, members);
  const std::vector<int> chain = ChainOf(c, members);
  const TailForm form = FormOf(matcher, c, value(dot), value(exit), chain);
  // A library adds what is computed before.
  const bool added_is_there =
      (form.residual == kNoValue || !matcher.Sees(form.residual)) &&
      (form.bias == kNoValue ||
       !matcher.Sees(matcher.Producer(form.bias).operands[0]));
  if (!added_is_there) return std::nullopt;
  return CallOf(c, c.instructions()[dot], value(exit), form);
}

bool IsNumberOrBias(const Computation& computation, ValueId value,
                    const Shape& product) {
  const TailMatcher matcher(computation);
  return matcher.Uniform(value).has_value() ||
         (computation.shape(value).SameDims(product) &&
          matcher.IsBias(value, product));
}

void DescribeEpilogue(const Computation& computation, Region* region) {
  Epilogue& e = region->epilogue;
  std::vector<int> members;
  for (size_t n = 0; n < region->points.size(); ++n) {
    const Point& p = region->points[n];
    const Instruction& i = computation.instructions()[p.instruction];
    if (IsProduct(i)) {
      e.dot_instruction = p.instruction;
      e.dot_point = static_cast<PointId>(n);
    }
    if (i.op->Is(kElementwise) || IsProduct(i)) {
      members.push_back(p.instruction);
    }
  }
  if (e.dot_instruction < 0) return;
  std::sort(members.begin(), members.end());
  const ValueId product =
      computation.instructions()[e.dot_instruction].first_result;
  const ValueId exit = region->points[region->results[0]].value;
  const TailForm form =
      FormOf(TailMatcher(computation), computation, product, exit, members);
  e.present = exit != product;
  e.activation = form.activation;
  // The operand that `value` is. No library adds a value that is computed in
  // the region.
  const auto operand_of = [&](ValueId value) {
    for (const MemoryAccess& a : region->accesses) {
      if (a.operand >= 0 && region->points[a.point].value == value) {
        return a.operand;
      }
    }
    e.activation = Activation::kOther;
    return -1;
  };
  if (form.bias != kNoValue) {
    const int broadcast = computation.producer(form.bias);
    e.bias_operand =
        operand_of(computation.instructions()[broadcast].operands[0]);
  }
  if (form.residual != kNoValue) e.residual_operand = operand_of(form.residual);
  if (e.activation == Activation::kOther) return;
  if (computation.instructions()[e.dot_instruction].op != &kDotGeneral) return;
  e.call = CallOf(computation, computation.instructions()[e.dot_instruction],
                  exit, form);
}

}  // namespace hawser::plan
