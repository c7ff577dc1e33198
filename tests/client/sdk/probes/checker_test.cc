// A checked module gives what the module gives, and a verdict that names what
// an interpreter of the test's own comes by first.
#include "client/sdk/probes/checker.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/compare.h"
#include "core/base/values/dtype.h"
#include "core/ir/builder.h"
#include "core/ir/leaves.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "tests/kernels/one_instruction.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::sdk {
namespace {

bool HasNan(const Literal& value) {
  return VisitDType(value.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const T x : value.data<T>()) {
      if constexpr (kIsComplex<T>) {
        if (std::isnan(x.real()) || std::isnan(x.imag())) return true;
      } else if constexpr (kIsHalf<T> || std::is_floating_point_v<T>) {
        if (std::isnan(static_cast<float>(x))) return true;
      }
    }
    return false;
  });
}

// Goes through a module one instruction at a time, and keeps the first one that
// makes a NaN of operands without one, with the turns it is in.
class Walk {
 public:
  struct Fault {
    std::string op;
    std::vector<int64_t> turns;
  };

  explicit Walk(const Module& module) : module_(module) {}

  std::vector<Literal> Run(int number, const std::vector<Literal>& arguments) {
    const Computation& c = module_.computation(number);
    std::vector<Literal> values = arguments;
    for (const Instruction& i : c.instructions()) {
      if (i.op == &kParameter) continue;
      std::vector<Literal> operands;
      for (const ValueId v : i.operands) operands.push_back(values[v]);
      for (Literal& result : Do(i, operands)) {
        values.push_back(std::move(result));
      }
    }
    std::vector<Literal> results;
    for (const ValueId v : c.results()) results.push_back(values[v]);
    return results;
  }

  const std::optional<Fault>& fault() const { return fault_; }

 private:
  std::vector<Literal> Do(const Instruction& i,
                          const std::vector<Literal>& operands) {
    if (i.op == &kWhile) return Loop(i, operands);
    if (i.op == &kCase) {
      const int64_t last = static_cast<int64_t>(i.called.size()) - 1;
      const int64_t index = operands[0].data<int32_t>()[0];
      return Run(i.called[index < 0 || index > last ? last : index],
                 {operands.begin() + 1, operands.end()});
    }
    std::vector<Literal> results = EvaluateInstruction(module_, i, operands);
    bool given = i.op == &kConstant;
    for (const Literal& operand : operands) given = given || HasNan(operand);
    for (const Literal& result : results) {
      if (given || fault_.has_value() || !HasNan(result)) continue;
      fault_ = {std::string(i.op->name), turns_};
    }
    return results;
  }

  std::vector<Literal> Loop(const Instruction& i, std::vector<Literal> state) {
    turns_.push_back(0);
    while (Run(i.called[0], state)[0].data<bool>()[0]) {
      std::vector<Literal> next = Run(i.called[1], state);
      std::move(next.begin(), next.end(), state.begin());
      ++turns_.back();
    }
    turns_.pop_back();
    state.resize(i.num_results);
    return state;
  }

  const Module& module_;
  std::vector<int64_t> turns_;
  std::optional<Fault> fault_;
};

std::vector<Literal> ValuesOf(const Module& module,
                              const std::vector<Literal>& arguments) {
  cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
  const int entry = static_cast<int>(module.computations().size()) - 1;
  auto values = evaluator.Evaluate(module, entry, arguments, CancelToken());
  EXPECT_OK(values) << Print(module);
  return values.ok() ? *std::move(values) : std::vector<Literal>();
}

// What a checked module is to say; nothing has NaN of its own making.
void ExpectVerdict(const std::optional<Walk::Fault>& want,
                   const std::vector<Check>& checks, const Literal& verdict) {
  const auto said = verdict.data<int64_t>();
  if (!want.has_value()) {
    EXPECT_EQ(said[0], kNoCheck);
    return;
  }
  ASSERT_NE(said[0], kNoCheck) << want->op;
  const Check& check = checks[said[0]];
  EXPECT_THAT(check.what, ::testing::HasSubstr(
                              absl::StrCat(": ", want->op, " gives NaN in a")));
  EXPECT_EQ(
      std::vector<int64_t>(said.begin() + 1, said.begin() + 1 + check.loops),
      want->turns);
}

// Loops and branches in each other, of random steps that make a NaN sooner or
// later. Every computation takes (s32 i, f32 x, f32 y) and gives (i + 1, f32,
// f32).
class RandomNest {
 public:
  explicit RandomNest(uint64_t seed) : random_(seed) { Add(3); }
  const Module& module() const { return module_; }

 private:
  struct State {
    ValueId i, x, y;
  };

  static State Parameters(ComputationBuilder& b) {
    const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
    const ValueId x = b.Parameter(Shape::Scalar(DType::kF32));
    return {i, x, b.Parameter(Shape::Scalar(DType::kF32))};
  }
  static ValueId Less(ComputationBuilder& b, ValueId x, ValueId y) {
    return b.Add(kCompare, {x, y}, {{"direction", std::string("LT")}});
  }

  int Add(int depth) {
    ComputationBuilder b(&module_, "nest");
    State s = Parameters(b);
    const ValueId next =
        b.Add(kAdd, {s.i, b.Constant(Literal::Scalar<int32_t>(1))});
    for (int64_t n = random_.Between(1, 3); n > 0; --n) Step(b, depth, &s);
    const auto number = b.Finish({next, s.x, s.y});
    EXPECT_OK(number);
    return number.ok() ? *number : 0;
  }

  void Step(ComputationBuilder& b, int depth, State* s) {
    const int64_t kind = random_.Below(depth > 0 ? 5 : 3);
    if (kind == 0) {
      s->x = b.Add(kSqrt, {s->x});
    } else if (kind == 1) {
      s->y = b.Add(kLog, {s->y});
    } else if (kind == 2) {
      const float by = static_cast<float>(random_.Between(-2, 4)) / 2;
      s->x = b.Add(kSubtract, {s->x, b.Constant(Literal::Scalar(by))});
      std::swap(s->x, s->y);
    } else if (kind == 3) {
      const int32_t turns = static_cast<int32_t>(random_.Between(0, 4));
      const ValueId zero = b.Constant(Literal::Scalar<int32_t>(0));
      const int condition = AddCondition(turns);
      const ValueId first =
          b.Add(kWhile, {zero, s->x, s->y}, {}, {condition, Add(depth - 1)});
      *s = {s->i, first + 1, first + 2};
    } else {
      const int one = Add(depth - 1), other = Add(depth - 1);
      const ValueId first =
          b.Add(kCase, {s->i, s->i, s->x, s->y}, {}, {one, other});
      *s = {s->i, first + 1, first + 2};
    }
  }

  // i < turns, and sometimes a root that says nothing.
  int AddCondition(int32_t turns) {
    ComputationBuilder b(&module_, "condition");
    const State s = Parameters(b);
    ValueId more = Less(b, s.i, b.Constant(Literal::Scalar(turns)));
    if (random_.OneIn(3)) {
      const ValueId root = b.Add(kSqrt, {s.y});
      const ValueId over = Less(b, b.Constant(Literal::Scalar(1e30f)), root);
      more = b.Add(kAnd, {more, b.Add(kNot, {over})});
    }
    const auto number = b.Finish({more});
    EXPECT_OK(number);
    return number.ok() ? *number : 0;
  }

  Random random_;
  Module module_;
};

// That a checked module gives what it gives without, and says what a walk finds
// first. Returns how many loops that is in; -1: there is none.
int ExpectAsWithout(const Module& module, const std::vector<Literal>& arguments,
                    CheckKinds kinds) {
  Checker checker(module, kinds);
  if (!checker.has_checks()) return -1;
  const auto checked = checker.Run({});
  const std::vector<Check> checks = checker.TakeChecks();
  EXPECT_OK(checked) << Print(module);
  if (!checked.ok()) return -1;
  EXPECT_OK(Verify(*checked));
  const auto want = ValuesOf(module, arguments);
  const auto got = ValuesOf(*checked, arguments);
  EXPECT_EQ(got.size(), want.size() + 1);
  if (got.size() != want.size() + 1) return -1;
  for (size_t k = 0; k < want.size(); ++k) {
    EXPECT_OK(CompareLiterals(got[k], want[k], {.bits = true})) << k;
  }
  if (kinds.indices) return -1;
  Walk walk(module);
  walk.Run(static_cast<int>(module.computations().size()) - 1, arguments);
  ExpectVerdict(walk.fault(), checks, got.back());
  if (!walk.fault().has_value()) return -1;
  return static_cast<int>(walk.fault()->turns.size());
}

TEST(Checker, LeavesTheResultsOfRandomModulesAsTheyAre) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Module module = RandomModule(seed);
    Random random(seed);
    const auto arguments = RandomArguments(module.signature(), random);
    ExpectAsWithout(module, arguments, {.nan = true, .indices = true});
    ExpectAsWithout(module, arguments, {.nan = true});
  }
}

TEST(Checker, NamesWhatComesFirstInNestedLoops) {
  int found[5] = {};  // by the loops it is in; the last: none
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const int loops =
        ExpectAsWithout(RandomNest(seed).module(),
                        {Literal::Scalar<int32_t>(0), Literal::Scalar(3.0f),
                         Literal::Scalar(5.0f)},
                        {.nan = true});
    ++found[loops < 0 ? 4 : loops];
  }
  for (const int count : found) EXPECT_GT(count, 5);
}

}  // namespace
}  // namespace hawser::sdk
