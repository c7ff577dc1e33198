#include "core/passes/fold.h"

#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "tests/core/passes/build_module.h"

namespace hawser {
namespace {

// Knows negate and add of f32, and counts its calls; refuses all else.
class TinyEvaluator {
 public:
  ConstantEvaluator get() {
    return [this](const Module& module, int n) {
      return Evaluate(module.computation(n));
    };
  }
  int calls = 0;

 private:
  absl::StatusOr<std::vector<Literal>> Evaluate(const Computation& c) {
    ++calls;
    EXPECT_EQ(c.num_parameters(), 0);
    std::vector<Literal> values;
    for (const Instruction& i : c.instructions()) {
      if (i.op == &kConstant) {
        values.push_back(i.attributes.GetLiteral("value"));
      } else if (i.op == &kNegate || i.op == &kAdd) {
        values.push_back(Sum(i, values));
      } else {
        return Unimplemented(i.op->name);
      }
    }
    std::vector<Literal> results;
    for (ValueId r : c.results()) results.push_back(values[r]);
    return results;
  }
  static Literal Sum(const Instruction& i, const std::vector<Literal>& values) {
    const Literal& x = values[i.operands[0]];
    Literal out = Literal::Uninitialized(x.shape());
    for (int64_t k = 0; k < x.shape().num_elements(); ++k) {
      const float a = x.data<float>()[k];
      out.mutable_data<float>()[k] =
          i.op == &kNegate ? -a : a + values[i.operands[1]].data<float>()[k];
    }
    return out;
  }
};

class FoldTest : public testing::Test {
 protected:
  std::string Folded(const Module& module, bool expect_change) {
    bool changed = false;
    const auto out = FoldConstants(module, evaluator_.get(), &changed);
    EXPECT_OK(out);
    EXPECT_OK(Verify(*out));
    EXPECT_EQ(changed, expect_change);
    EXPECT_EQ(out->signature(), module.signature());
    return EntryText(*out);
  }
  TinyEvaluator evaluator_;
};

TEST_F(FoldTest, ReplacesWhatDependsOnConstantsAlone) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF);
    const ValueId one = b.Constant(Literal::Scalar(1.0f));
    const ValueId two = b.Add(kAdd, {one, one});
    const ValueId minus = b.Add(kNegate, {two});
    return std::vector<ValueId>{b.Add(kAdd, {x, minus}), two};
  });
  EXPECT_EQ(Folded(module, true),
            "  %1: f32[] = constant() value=f32[] {1}\n"
            "  %2: f32[] = constant() value=f32[] {2}\n"
            "  %3: f32[] = constant() value=f32[] {-2}\n"
            "  %4: f32[] = add(%0, %3)\n"
            "  return %4, %2\n");
  EXPECT_EQ(evaluator_.calls, 1);
}

// Values between folded instructions are not worth a constant.
TEST_F(FoldTest, KeepsOnlyWantedValues) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    ValueId x = b.Constant(Literal::Scalar(1.0f));
    for (int i = 0; i < 5; ++i) x = b.Add(kAdd, {x, x});
    return std::vector<ValueId>{x};
  });
  EXPECT_EQ(Folded(module, true),
            "  %0: f32[] = constant() value=f32[] {1}\n"
            "  %1: f32[] = constant() value=f32[] {32}\n"
            "  return %1\n");
}

TEST_F(FoldTest, NothingToFoldCostsNoCall) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF);
    return std::vector<ValueId>{
        b.Add(kAdd, {x, b.Constant(Literal::Scalar(1.0f))})};
  });
  Folded(module, false);
  EXPECT_EQ(evaluator_.calls, 0);
}

TEST_F(FoldTest, WhatTheEvaluatorRefusesStays) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId one = b.Constant(Literal::Scalar(1.0f));
    return std::vector<ValueId>{b.Add(kExponential, {one})};
  });
  EXPECT_THAT(Folded(module, false), testing::HasSubstr("exponential"));
  EXPECT_EQ(evaluator_.calls, 1);
}

TEST_F(FoldTest, LargeResultsStay) {
  const auto negate = [](int64_t n) {
    return BuildModule([n](ComputationBuilder& b) {
      const ValueId x = b.Constant(Literal::Zeros(Shape::Of(DType::kF32, {n})));
      return std::vector<ValueId>{b.Add(kNegate, {x})};
    });
  };
  EXPECT_THAT(Folded(negate(1024), true),
              testing::Not(testing::HasSubstr("negate")));
  EXPECT_THAT(Folded(negate(1025), false), testing::HasSubstr("negate"));
}

TEST_F(FoldTest, ResultsLargerThanWhatTheyAreMadeOfStay) {
  const auto broadcast = [](int64_t n) {
    return BuildModule([n](ComputationBuilder& b) {
      const ValueId x = b.Constant(Literal::Vector({1.0f, 2.0f}));
      return std::vector<ValueId>{
          b.Add(kBroadcastInDim, {x},
                {{"dims", Dims{n, 2}}, {"broadcast_dimensions", Dims{1}}})};
    });
  };
  Folded(broadcast(9), false);
  EXPECT_EQ(evaluator_.calls, 0);
  Folded(broadcast(8), false);  // 64 bytes: asked, refused by this evaluator
  EXPECT_EQ(evaluator_.calls, 1);
}

TEST_F(FoldTest, OneElementStaysRepeated) {
  Folded(BuildModule([](ComputationBuilder& b) {
           const ValueId x = b.Constant(Literal::Scalar(1.0f));
           return std::vector<ValueId>{
               b.Add(kBroadcastInDim, {x},
                     {{"dims", Dims{2}}, {"broadcast_dimensions", Dims{}}})};
         }),
         false);
  EXPECT_EQ(evaluator_.calls, 0);
}

TEST_F(FoldTest, OpsWithoutOperandsStay) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId x = b.Add(kIota, {},
                            {{"dims", Dims{2}},
                             {"dtype", DType::kF32},
                             {"iota_dimension", int64_t{0}}});
    return std::vector<ValueId>{b.Add(kNegate, {x})};
  });
  Folded(module, false);
  EXPECT_EQ(evaluator_.calls, 0);
}

// A loop may take for ever, also when it hides in a reduction.
TEST_F(FoldTest, LoopsAndBranchesStay) {
  Module module("m");
  const int branch = AddComputation(&module, "f", [](ComputationBuilder& b) {
    return std::vector<ValueId>{b.Parameter(kF)};
  });
  const int fold = AddComputation(&module, "g", [&](ComputationBuilder& b) {
    b.Parameter(kF);
    const ValueId x = b.Parameter(kF);
    const ValueId i = b.Constant(Literal::Scalar<int32_t>(0));
    return std::vector<ValueId>{b.Add(kCase, {i, x}, {}, {branch})};
  });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId zero = b.Constant(Literal::Scalar(0.0f));
    const ValueId x = b.Constant(Literal::Vector<float>({1, 2}));
    return std::vector<ValueId>{
        b.Add(kReduce, {x, zero}, {{"dimensions", Dims{0}}}, {fold})};
  });
  Folded(module, false);
  EXPECT_EQ(evaluator_.calls, 0);
}

TEST_F(FoldTest, FoldsInsideCalledComputations) {
  Module module("m");
  const int branch = AddComputation(&module, "f", [](ComputationBuilder& b) {
    const ValueId one = b.Constant(Literal::Scalar(1.0f));
    return std::vector<ValueId>{b.Add(kNegate, {one})};
  });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
    return std::vector<ValueId>{b.Add(kCase, {i}, {}, {branch})};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out,
                       FoldConstants(module, evaluator_.get(), &changed));
  EXPECT_TRUE(changed);
  EXPECT_THAT(Print(out), testing::Not(testing::HasSubstr("negate")));
  EXPECT_THAT(Print(out), testing::HasSubstr("value=f32[] {-1}"));
}

// What is called keeps its number in the module the evaluator gets.
TEST_F(FoldTest, TheEvaluatorSeesCalledComputations) {
  Module module("m");
  const int add = AddComputation(&module, "add", [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF);
    return std::vector<ValueId>{b.Add(kAdd, {x, b.Parameter(kF)})};
  });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId zero = b.Constant(Literal::Scalar(0.0f));
    const ValueId x = b.Constant(Literal::Vector<float>({1, 2}));
    return std::vector<ValueId>{
        b.Add(kReduce, {x, zero}, {{"dimensions", Dims{0}}}, {add})};
  });
  bool changed = false;
  const auto evaluate = [&](const Module& m, int n) {
    EXPECT_OK(Verify(m));
    const Instruction& i = m.computation(n).instructions().back();
    EXPECT_EQ(m.computation(i.called[0]).name(), "add");
    return std::vector<Literal>{Literal::Scalar(3.0f)};
  };
  ASSERT_OK_AND_ASSIGN(const Module out,
                       FoldConstants(module, evaluate, &changed));
  EXPECT_THAT(EntryText(out), testing::HasSubstr("value=f32[] {3}"));
}

TEST_F(FoldTest, AWrongAnswerIsABugWithAName) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId one = b.Constant(Literal::Scalar(1.0f));
    return std::vector<ValueId>{b.Add(kNegate, {one})};
  });
  bool changed = false;
  const auto wrong = [](const Module&, int) {
    return std::vector<Literal>{Literal::Vector<float>({1, 2})};
  };
  EXPECT_THAT(FoldConstants(module, wrong, &changed),
              StatusIs(absl::StatusCode::kInternal, "for negate"));
  const auto nothing = [](const Module&, int) {
    return std::vector<Literal>();
  };
  EXPECT_THAT(FoldConstants(module, nothing, &changed),
              StatusIs(absl::StatusCode::kInternal, "for negate"));
}

}  // namespace
}  // namespace hawser
