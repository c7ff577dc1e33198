#include "core/ops/registry.h"

#include <set>
#include <string>

#include "core/ir/leaves.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/linalg/fft.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(Registry, FindsEveryOpByName) {
  EXPECT_GE(AllOps().size(), 60u);
  for (const OpDef* op : AllOps()) EXPECT_EQ(FindOp(op->name), op);
  EXPECT_EQ(FindOp("add"), &kAdd);
  EXPECT_EQ(FindOp("parameter"), &kParameter);
  EXPECT_EQ(FindOp("Add"), nullptr);
  EXPECT_EQ(FindOp(""), nullptr);
  EXPECT_EQ(FindOp("add "), nullptr);
}

TEST(Registry, IsSortedByUniqueNames) {
  absl::string_view last;
  for (const OpDef* op : AllOps()) {
    EXPECT_LT(last, op->name);
    last = op->name;
  }
}

TEST(Registry, EveryRowIsComplete) {
  for (const OpDef* op : AllOps()) {
    SCOPED_TRACE(std::string(op->name));
    EXPECT_FALSE(op->summary.empty());
    EXPECT_EQ(op->summary.back(), '.');
    EXPECT_FALSE(op->source.empty());
    EXPECT_NE(op->infer, nullptr);
    EXPECT_NE(op->axes, nullptr);
    EXPECT_FALSE(op->dtypes == DTypeSet());
    EXPECT_GE(op->since, 1);
    EXPECT_LE(op->since, kOpset);
    EXPECT_GE(op->ulp, 0);
    EXPECT_LE(op->arity.min, op->arity.max);
    EXPECT_EQ(op->gradient.kind == GradientDef::kRule,
              op->gradient.rule != nullptr);
  }
}

TEST(Registry, AttributesAreSortedUniqueAndExplained) {
  for (const OpDef* op : AllOps()) {
    SCOPED_TRACE(std::string(op->name));
    absl::string_view last;
    for (const AttributeSpec& spec : op->attributes) {
      EXPECT_LT(last, spec.name);
      EXPECT_FALSE(spec.summary.empty()) << spec.name;
      EXPECT_EQ(op->FindAttribute(spec.name), &spec);
      last = spec.name;
    }
    EXPECT_EQ(op->FindAttribute("no such"), nullptr);
  }
}

TEST(Registry, DTypeRulesPointAtSomething) {
  for (const OpDef* op : AllOps()) {
    SCOPED_TRACE(std::string(op->name));
    switch (op->result.kind) {
      case DTypeRule::kSameAs:
      case DTypeRule::kRealPartOf:
      case DTypeRule::kComplexOf:
        EXPECT_LT(op->result.operand, op->arity.min);
        break;
      case DTypeRule::kFixed:
        EXPECT_TRUE(IsSupported(op->result.fixed));
        break;
      case DTypeRule::kFromAttribute: {
        const AttributeSpec* spec = op->FindAttribute(op->result.attribute);
        ASSERT_NE(spec, nullptr);
        EXPECT_EQ(spec->required, op->result.fixed == DType::kInvalid);
        break;
      }
      case DTypeRule::kFromAttributeOrOperand: {
        const AttributeSpec* spec = op->FindAttribute(op->result.attribute);
        ASSERT_NE(spec, nullptr);
        EXPECT_FALSE(spec->required);
        EXPECT_LT(op->result.operand, op->arity.min);
        break;
      }
      case DTypeRule::kFromComputation:
        // Of a transform it goes by the type of that.
        EXPECT_TRUE(op->called.min >= 1 || op == &kFft);
        break;
    }
  }
}

TEST(Registry, TraitsAgreeWithTheRest) {
  for (const OpDef* op : AllOps()) {
    SCOPED_TRACE(std::string(op->name));
    EXPECT_EQ(op->Is(kNullary), op->arity.max == 0);
    EXPECT_EQ(op->Is(kHasRegions), op->called.max > 0);
    EXPECT_FALSE(op->Is(kElementwise) && op->Is(kDataMovement));
    if (op->Is(kCommutative)) {
      EXPECT_EQ(op->arity.min, 2);
      EXPECT_EQ(op->arity.max, 2);
    }
    if (op->Is(kDataMovement)) {
      EXPECT_EQ(op->ulp, 0);
    }
    EXPECT_EQ(static_cast<bool>(op->monoid), !op->monoid.name.empty());
    EXPECT_TRUE(!op->monoid || op->Is(kCommutative));
    EXPECT_TRUE(op->cost == CostClass::kSimple || op->Is(kElementwise));
    EXPECT_TRUE(!op->Is(kControlFlow) || op->Is(kHasRegions));
  }
}

TEST(Registry, OpsOutsideStableHloAreMarked) {
  std::set<absl::string_view> ours;
  for (const OpDef* op : AllOps()) {
    if (op->Is(kHawserOnly)) ours.insert(op->name);
  }
  EXPECT_THAT(
      ours, testing::ElementsAre("argmax", "argmin", "call", "convolution",
                                 "eig", "eigh", "fusion", "geqrf",
                                 "householder_product", "lu", "parameter", "qr",
                                 "scan", "stop_gradient", "svd", "unfold"));
}

}  // namespace
}  // namespace hawser
