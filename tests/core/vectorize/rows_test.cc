// The table of batch rules.
#include <string>

#include "core/ir/builder.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/registry.h"
#include "core/vectorize/vectorize.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/vectorize/entries.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(BatchRows, EveryOpHasOne) {
  for (const OpDef* op : AllOps()) {
    EXPECT_TRUE(op->batch.rule != nullptr || op->Is(kNullary))
        << op->name << " has no .batch in its row";
  }
}

// An attribute that a row forgets would be wrong by one axis.
TEST(BatchRows, NameAttributesOfTheirOp) {
  for (const OpDef* op : AllOps()) {
    for (const AttributeEdit& edit : op->batch.edits) {
      EXPECT_NE(op->FindAttribute(edit.name), nullptr)
          << op->name << " has no attribute " << edit.name;
    }
  }
}

constexpr OpDef kNew{.name = "brand_new",
                     .arity = {1, 1},
                     .dtypes = kAnyDType,
                     .infer = InferElementwise,
                     .axes = ElementwiseAxes,
                     .summary = "x",
                     .source = "this test"};

Module OneOp(const OpDef& op, const Shape& shape) {
  Module module("test");
  ComputationBuilder b(&module, "main");
  EXPECT_OK(b.Finish({b.Add(op, {b.Parameter(shape)})}));
  return module;
}

TEST(Vectorize, NamesAnOpWithoutARowAndItsPlace) {
  const Module module = OneOp(kNew, Shape::Of(DType::kF32, {2}));
  const SourceLocation where[] = {{}, {"user.cc", 7}};
  EXPECT_THAT(Vectorize(module, {.size = 2, .batched = {true}, .where = where}),
              StatusIs(StatusCode::kUnimplemented, "brand_new"));
  EXPECT_THAT(Vectorize(module, {.size = 2, .batched = {true}, .where = where}),
              StatusIs(StatusCode::kUnimplemented, "user.cc:7"));
  EXPECT_OK(Vectorize(module, {.size = 2, .batched = {false}}));
}

TEST(Vectorize, RefusesWhatDoesNotFitTheModule) {
  const Module module = OneOp(kNegate, Shape::Of(DType::kF32, {2}));
  EXPECT_THAT(Vectorize(Module(), {}),
              StatusIs(StatusCode::kInvalidArgument, "empty"));
  EXPECT_THAT(Vectorize(module, {.size = 2, .batched = {}}),
              StatusIs(StatusCode::kInvalidArgument, "0 parameters"));
  EXPECT_THAT(Vectorize(module, {.size = -1, .batched = {true}}),
              StatusIs(StatusCode::kInvalidArgument, "-1 entries"));
}

TEST(Vectorize, RefusesAnAxisMoreThanAShapeMayHave) {
  const Module module =
      OneOp(kNegate, Shape::Of(DType::kF32, Dims(kMaxRank, 1)));
  EXPECT_THAT(Vectorize(module, {.size = 2, .batched = {true}}),
              StatusIs(StatusCode::kInvalidArgument, "rank"));
}

TEST(Vectorize, SaysWhichInstructionEachComesFrom) {
  const Module module = ParsedModule(R"(module "m"
computation @0 "main" (%0: f32[2], %1: f32[2]) {
  %2: f32[2] = negate(%1)
  %3: f32[2] = add(%0, %2)
  return %3, %2
}
)");
  std::vector<int> origins;
  const auto batch = Vectorize(
      module, {.size = 3, .batched = {true, false}, .origins = &origins});
  ASSERT_OK(batch);
  // Both parameters, negate, its repetition for add, add, that of a result.
  EXPECT_THAT(origins, testing::ElementsAre(0, 1, 2, 3, 3, -1));
  EXPECT_EQ(batch->entry().instructions()[2].op, &kNegate);
  EXPECT_EQ(batch->entry().shape(2).rank(), 1) << "computed once";
}

}  // namespace
}  // namespace hawser
