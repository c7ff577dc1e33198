#include "core/ops/contraction/trip_count.h"

#include <deque>
#include <limits>
#include <string>
#include <utility>

#include "core/base/values/literal.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"

namespace hawser {
namespace {

// A computation, seen from outside through the fusion that calls it.
struct CalledScope {
  const Computation* computation;
  const Instruction* fusion = nullptr;
  const CalledScope* outer = nullptr;
};
struct ScopedValue {
  const CalledScope* scope;
  ValueId id;
};
// parameter + constant; without a parameter (-1) a constant.
struct Linear {
  int parameter = -1;
  int64_t constant = 0;
};

// Follows scalars through fusions.
class Tracer {
 public:
  explicit Tracer(const Module& module) : module_(module) {}

  const CalledScope* Enter(int computation) {
    return &scopes_.emplace_back(
        CalledScope{&module_.computation(computation)});
  }

  static const Instruction& Producer(ScopedValue v) {
    return v.scope->computation
        ->instructions()[v.scope->computation->producer(v.id)];
  }

  // Returns the value that makes `v`, once no fusion stands in between.
  ScopedValue Peel(ScopedValue v) {
    while (true) {
      const Instruction& i = Producer(v);
      if (i.op == &kFusion) {
        const Computation& inner = module_.computation(i.called[0]);
        const int result = v.id - i.first_result;
        v = {&scopes_.emplace_back(CalledScope{&inner, &i, v.scope}),
             inner.results()[result]};
      } else if (i.op == &kParameter && v.scope->outer != nullptr) {
        const int parameter = v.scope->computation->producer(v.id);
        v = {v.scope->outer, v.scope->fusion->operands[parameter]};
      } else {
        return v;
      }
    }
  }

  // Follows at most `additions`, one of whose sides is a parameter or a
  // constant.
  std::optional<Linear> LinearOf(ScopedValue v,
                                 int additions = kMostAdditions) {
    v = Peel(v);
    const Instruction& i = Producer(v);
    if (i.op == &kParameter) {
      return Linear{v.scope->computation->producer(v.id), 0};
    }
    if (i.op == &kConstant) {
      const auto value = IntegerOf(i.attributes.GetLiteral("value"));
      if (!value) return std::nullopt;
      return Linear{-1, *value};
    }
    if (additions == 0 || (i.op != &kAdd && i.op != &kSubtract)) {
      return std::nullopt;
    }
    const ScopedValue right = Peel({v.scope, i.operands[1]});
    const ScopedValue left = Peel({v.scope, i.operands[0]});
    if (!IsLeaf(left) && !IsLeaf(right)) return std::nullopt;
    const auto a = LinearOf(left, additions - 1);
    const auto b = LinearOf(right, additions - 1);
    if (!a || !b || (a->parameter >= 0 && b->parameter >= 0)) {
      return std::nullopt;
    }
    const bool minus = i.op == &kSubtract;
    if (minus && b->parameter >= 0) return std::nullopt;
    Linear sum{a->parameter >= 0 ? a->parameter : b->parameter, 0};
    if (minus
            ? __builtin_sub_overflow(a->constant, b->constant, &sum.constant)
            : __builtin_add_overflow(a->constant, b->constant, &sum.constant)) {
      return std::nullopt;
    }
    return sum;
  }

 private:
  // A counter is added to once an iteration, also in iterations that were
  // written out.
  static constexpr int kMostAdditions = 512;

  static bool IsLeaf(ScopedValue v) {
    const OpDef* op = Producer(v).op;
    return op == &kParameter || op == &kConstant;
  }

  const Module& module_;
  std::deque<CalledScope> scopes_;
};

// One counter's way: from `start` by `step`, as long as `direction` holds
// against `limit`.
struct Count {
  __int128 start, step, limit;
};

std::optional<__int128> Upwards(const Count& c) {
  if (c.start >= c.limit) return 0;
  if (c.step <= 0) return std::nullopt;
  return (c.limit - c.start + c.step - 1) / c.step;
}
std::optional<__int128> Downwards(const Count& c) {
  return Upwards({-c.start, -c.step, -c.limit});
}
std::optional<__int128> Until(const Count& c) {
  if (c.start == c.limit) return 0;
  if (c.step == 0 || (c.limit - c.start) % c.step != 0) return std::nullopt;
  const __int128 iterations = (c.limit - c.start) / c.step;
  return iterations > 0 ? std::optional<__int128>(iterations) : std::nullopt;
}

// The iterations while the counter is in `direction` of the limit.
std::optional<__int128> IterationsWhile(CompareDirection direction, Count c) {
  switch (direction) {
    case CompareDirection::kLe:
      ++c.limit;
      [[fallthrough]];
    case CompareDirection::kLt:
      return Upwards(c);
    case CompareDirection::kGe:
      --c.limit;
      [[fallthrough]];
    case CompareDirection::kGt:
      return Downwards(c);
    case CompareDirection::kNe:
      return Until(c);
    case CompareDirection::kEq:
      break;
  }
  return std::nullopt;
}

std::pair<__int128, __int128> RangeOf(DType dtype) {
  const int bits = 8 * static_cast<int>(ByteWidth(dtype));
  if (IsUnsigned(dtype)) return {0, (__int128{1} << bits) - 1};
  return {-(__int128{1} << (bits - 1)), (__int128{1} << (bits - 1)) - 1};
}

struct CountedLoop {
  const CalledScope *outer, *condition, *body;
  const Instruction* instruction;
  int num_state;
};

// The number that operand `k` of the loop keeps from its start on.
std::optional<int64_t> ConstantOperand(Tracer& tracer, const CountedLoop& loop,
                                       int k) {
  const auto start =
      tracer.LinearOf({loop.outer, loop.instruction->operands[k]});
  if (!start || start->parameter >= 0) return std::nullopt;
  return start->constant;
}
std::optional<int64_t> LimitOf(Tracer& tracer, const CountedLoop& loop,
                               const Linear& side) {
  if (side.parameter < 0) return side.constant;
  if (side.parameter < loop.num_state) {
    const auto next = tracer.LinearOf(
        {loop.body, loop.body->computation->results()[side.parameter]});
    if (!next || next->parameter != side.parameter || next->constant != 0) {
      return std::nullopt;
    }
  }
  const auto limit = ConstantOperand(tracer, loop, side.parameter);
  if (!limit || side.constant != 0) return std::nullopt;
  return limit;
}

std::optional<int64_t> IterationsOf(Tracer& tracer, const CountedLoop& loop,
                                    CompareDirection direction,
                                    const Linear& counter, const Linear& side) {
  if (counter.parameter < 0 || counter.parameter >= loop.num_state ||
      counter.constant != 0) {
    return std::nullopt;
  }
  const auto next = tracer.LinearOf(
      {loop.body, loop.body->computation->results()[counter.parameter]});
  const auto start = ConstantOperand(tracer, loop, counter.parameter);
  const auto limit = LimitOf(tracer, loop, side);
  if (!next || !start || !limit || next->parameter != counter.parameter) {
    return std::nullopt;
  }
  const auto [least, most] =
      RangeOf(loop.body->computation->shape(counter.parameter).dtype());
  const Count count{*start, next->constant, *limit};
  const auto iterations = IterationsWhile(direction, count);
  if (!iterations || *iterations > std::numeric_limits<int64_t>::max()) {
    return std::nullopt;
  }
  const __int128 end = count.start + *iterations * count.step;
  if (end < least || end > most) return std::nullopt;  // it wraps
  return static_cast<int64_t>(*iterations);
}

}  // namespace

std::optional<int64_t> TripCount(const Module& module, int computation,
                                 int instruction) {
  Tracer tracer(module);
  const Instruction& i =
      module.computation(computation).instructions()[instruction];
  const CountedLoop loop{tracer.Enter(computation), tracer.Enter(i.called[0]),
                         tracer.Enter(i.called[1]), &i, i.num_results};
  const ScopedValue holds =
      tracer.Peel({loop.condition, loop.condition->computation->results()[0]});
  const Instruction& compare = Tracer::Producer(holds);
  if (compare.op != &kCompare) return std::nullopt;
  const CompareDirection direction = CompareDirectionOf(compare.attributes);
  const auto left = tracer.LinearOf({holds.scope, compare.operands[0]});
  const auto right = tracer.LinearOf({holds.scope, compare.operands[1]});
  if (!left || !right) return std::nullopt;
  if (auto iterations = IterationsOf(tracer, loop, direction, *left, *right)) {
    return iterations;
  }
  return IterationsOf(tracer, loop, Mirrored(direction), *right, *left);
}

}  // namespace hawser
