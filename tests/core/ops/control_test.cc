#include "core/ops/contraction/control.h"

#include <string>
#include <vector>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes Invariant(int64_t n) { return {{"num_invariant", n}}; }

TEST(WhileInfer, GivesTheState) {
  EXPECT_THAT(
      Infer(kWhile, "s32[] f32[2,0]", {},
            {"s32[] f32[2,0] -> bool[]", "s32[] f32[2,0] -> s32[] f32[2,0]"}),
      Gives("s32[] f32[2,0]"));
  EXPECT_THAT(
      Infer(kWhile, "s32[] f32[2] f32[3]", Invariant(2),
            {"s32[] f32[2] f32[3] -> bool[]", "s32[] f32[2] f32[3] -> s32[]"}),
      Gives("s32[]"));
}

TEST(WhileInfer, RejectsInvariantsOutOfRange_C1) {
  for (int64_t bad : {int64_t{-1}, int64_t{1}, int64_t{2}, INT64_MIN}) {
    EXPECT_THAT(Infer(kWhile, "s32[]", Invariant(bad),
                      {"s32[] -> bool[]", "s32[] -> s32[]"}),
                Breaks(kWhile, 1))
        << bad;
  }
}

TEST(WhileInfer, RejectsConditionThatTakesSomethingElse_C2) {
  for (absl::string_view bad :
       {"-> bool[]", "s64[] -> bool[]", "s32[] s32[] -> bool[]"}) {
    EXPECT_THAT(Infer(kWhile, "s32[]", {}, {bad, "s32[] -> s32[]"}),
                Breaks(kWhile, 2))
        << bad;
  }
}

TEST(WhileInfer, RejectsConditionThatIsNotBool_C3) {
  for (absl::string_view bad : {"s32[] -> s32[]", "s32[] -> bool[1]",
                                "s32[] ->", "s32[] -> bool[] bool[]"}) {
    EXPECT_THAT(Infer(kWhile, "s32[]", {}, {bad, "s32[] -> s32[]"}),
                Breaks(kWhile, 3))
        << bad;
  }
}

TEST(WhileInfer, RejectsBodyThatTakesSomethingElse_C4) {
  EXPECT_THAT(Infer(kWhile, "s32[]", {}, {"s32[] -> bool[]", "f32[] -> s32[]"}),
              Breaks(kWhile, 4));
  // Invariants go to the body too.
  EXPECT_THAT(Infer(kWhile, "s32[] f32[]", Invariant(1),
                    {"s32[] f32[] -> bool[]", "s32[] -> s32[]"}),
              Breaks(kWhile, 4));
}

TEST(WhileInfer, RejectsBodyThatGivesSomethingElse_C5) {
  for (absl::string_view bad :
       {"s32[] -> f32[]", "s32[] ->", "s32[] -> s32[] s32[]"}) {
    EXPECT_THAT(Infer(kWhile, "s32[]", {}, {"s32[] -> bool[]", bad}),
                Breaks(kWhile, 5))
        << bad;
  }
  EXPECT_THAT(Infer(kWhile, "s32[] f32[]", Invariant(1),
                    {"s32[] f32[] -> bool[]", "s32[] f32[] -> s32[] f32[]"}),
              Breaks(kWhile, 5));
}

TEST(WhileAxes, AreOpaque) {
  EXPECT_EQ(AxesOf(kWhile, "f32[2,3] s32[]", Invariant(1),
                   {"f32[2,3] s32[] -> bool[]", "f32[2,3] s32[] -> f32[2,3]"}),
            "o0,o1 - -> o2,o3");
}

TEST(CaseInfer, GivesWhatTheBranchesGive) {
  EXPECT_THAT(Infer(kCase, "s32[] f32[2]", {},
                    {"f32[2] -> f32[] s8[0]", "f32[2] -> f32[] s8[0]"}),
              Gives("f32[] s8[0]"));
  EXPECT_THAT(Infer(kCase, "s32[]", {}, {"-> f32[]"}), Gives("f32[]"));
  EXPECT_THAT(Infer(kCase, "s32[]", {}, {"->"}), Gives(""));
}

TEST(CaseInfer, RejectsIndexThatIsNoS32Scalar_C1) {
  for (absl::string_view bad : {"s64[]", "bool[]", "f32[]", "s32[1]"}) {
    EXPECT_THAT(Infer(kCase, bad, {}, {"-> f32[]"}), Breaks(kCase, 1)) << bad;
  }
}

TEST(CaseInfer, RejectsBranchThatTakesSomethingElse_C2) {
  EXPECT_THAT(
      Infer(kCase, "s32[] f32[2]", {}, {"f32[2] -> f32[]", "f32[3] -> f32[]"}),
      Breaks(kCase, 2));
  EXPECT_THAT(Infer(kCase, "s32[] f32[2]", {}, {"-> f32[]"}), Breaks(kCase, 2));
}

TEST(CaseInfer, RejectsBranchesThatGiveOtherThings_C3) {
  EXPECT_THAT(Infer(kCase, "s32[]", {}, {"-> f32[]", "-> f32[1]"}),
              Breaks(kCase, 3));
  EXPECT_THAT(Infer(kCase, "s32[]", {}, {"-> f32[]", "-> f32[] f32[]"}),
              Breaks(kCase, 3));
}

TEST(FusionInfer, GivesWhatTheComputationGives) {
  EXPECT_THAT(
      Infer(kFusion, "s32[] f32[2]", {}, {"s32[] f32[2] -> f32[] s8[0]"}),
      Gives("f32[] s8[0]"));
  EXPECT_THAT(
      Infer(kFusion, "", {{"kind", std::string("loop")}}, {"-> f32[3]"}),
      Gives("f32[3]"));
}

TEST(FusionInfer, RejectsComputationThatTakesSomethingElse_C1) {
  EXPECT_THAT(Infer(kFusion, "f32[2]", {}, {"f32[3] -> f32[]"}),
              Breaks(kFusion, 1));
  EXPECT_THAT(Infer(kFusion, "f32[2]", {}, {"-> f32[]"}), Breaks(kFusion, 1));
}

TEST(CallInfer, GivesWhatTheComputationGives) {
  EXPECT_THAT(Infer(kCall, "s32[] f32[2]", {}, {"s32[] f32[2] -> f32[] s8[0]"}),
              Gives("f32[] s8[0]"));
  // The pull-back is of what has derivatives alone.
  EXPECT_THAT(Infer(kCall, "s32[] f32[2] c64[]", {},
                    {"s32[] f32[2] c64[] -> f64[3] s8[0]",
                     "f64[3] s32[] f32[2] c64[] -> f32[2] c64[]"}),
              Gives("f64[3] s8[0]"));
}

TEST(CallInfer, RejectsComputationThatTakesSomethingElse_C1) {
  EXPECT_THAT(Infer(kCall, "f32[2]", {}, {"f32[3] -> f32[]"}),
              Breaks(kCall, 1));
}

TEST(CallInfer, RejectsPullBackThatTakesSomethingElse_C2) {
  for (absl::string_view bad : {"f32[2] -> f32[2]", "f32[2] f32[] -> f32[2]",
                                "-> f32[2]", "f32[] f32[2] f32[2] -> f32[2]"}) {
    EXPECT_THAT(Infer(kCall, "f32[2]", {}, {"f32[2] -> f32[]", bad}),
                Breaks(kCall, 2))
        << bad;
  }
}

TEST(CallInfer, RejectsPullBackThatGivesSomethingElse_C3) {
  for (absl::string_view bad :
       {"f32[] f32[2] s32[] ->", "f32[] f32[2] s32[] -> f32[]",
        "f32[] f32[2] s32[] -> f32[2] s32[]"}) {
    EXPECT_THAT(
        Infer(kCall, "f32[2] s32[]", {}, {"f32[2] s32[] -> f32[]", bad}),
        Breaks(kCall, 3))
        << bad;
  }
}

TEST(CallAxes, AreOpaque) {
  EXPECT_EQ(AxesOf(kCall, "f32[2]", {}, {"f32[2] -> f32[2]"}), "o0 -> o1");
}

TEST(FusionAxes, AreOpaque) {
  EXPECT_EQ(AxesOf(kFusion, "f32[2]", {}, {"f32[2] -> f32[2]"}), "o0 -> o1");
}

TEST(CaseAxes, AreOpaque) {
  EXPECT_EQ(AxesOf(kCase, "s32[] f32[2]", {}, {"f32[2] -> f32[2]"}),
            "- o0 -> o1");
}

// A refusal must stay cheap and short, however much the wire sends.
TEST(WhileInfer, ErrorsStayShort) {
  std::string many;
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&many, "s32[] ");
  const auto result =
      Infer(kWhile, many, {}, {"s32[] -> bool[]", "s32[] -> s32[]"});
  EXPECT_THAT(result, Breaks(kWhile, 2));
  EXPECT_LT(result.status().message().size(), 500u);
}

}  // namespace
}  // namespace hawser
