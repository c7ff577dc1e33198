#include "core/ops/movement/shape.h"

#include <string>

#include "core/ir/leaves.h"
#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

constexpr int64_t kHuge = int64_t{1} << 62;

// ---- iota -----------------------------------------------------------------

Attributes Iota(DType dtype, Dims dims, int64_t dimension) {
  return {{"dims", dims}, {"dtype", dtype}, {"iota_dimension", dimension}};
}

TEST(IotaInfer, RejectsBoolAndUnsupported_C1) {
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kBool, {2}, 0)), Breaks(kIota, 1));
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kS4, {2}, 0)), Breaks(kIota, 1));
}

TEST(LeavesAxes, AllAreParallelButTheOneIotaCounts) {
  EXPECT_EQ(AxesOf(kIota, "", Iota(DType::kF32, {2, 3}, 1)), "-> p0,o1");
  EXPECT_EQ(AxesOf(kConstant, "", {{"value", Literal::Vector<float>({1, 2})}}),
            "-> p0");
  EXPECT_EQ(AxesOf(kParameter, "", {{"dtype", DType::kF32}, {"dims", Dims{}}}),
            "-> -");
}

TEST(IotaInfer, RejectsWhatIsNoShape_C2) {
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kF32, {-1}, 0)), Breaks(kIota, 2));
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kF32, {kHuge}, 0)),
              Breaks(kIota, 2));
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kF32, Dims(17, 1), 0)),
              Breaks(kIota, 2));
}

TEST(IotaInfer, RejectsDimensionThatIsNoAxis_C3) {
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kF32, {2}, 1)), Breaks(kIota, 3));
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kF32, {2}, -1)), Breaks(kIota, 3));
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kF32, {}, 0)), Breaks(kIota, 3));
}

TEST(IotaInfer, GivesItsAttributes) {
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kC64, {2, 0}, 1)),
              Gives("c64[2,0]"));
  EXPECT_THAT(Infer(kIota, "", Iota(DType::kU8, {300}, 0)), Gives("u8[300]"));
  EXPECT_EQ(AxesOf(kIota, "", Iota(DType::kF32, {2, 3, 4}, 1)), "-> p0,o2,p1");
}

// ---- broadcast_in_dim -----------------------------------------------------

Attributes Broadcast(Dims dims, Dims where) {
  return {{"dims", dims}, {"broadcast_dimensions", where}};
}

TEST(BroadcastInDimInfer, RejectsWhatIsNoShape_C1) {
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[]", Broadcast({kHuge}, {})),
              Breaks(kBroadcastInDim, 1));
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[]", Broadcast({-2}, {})),
              Breaks(kBroadcastInDim, 1));
}

TEST(BroadcastInDimInfer, RejectsWrongNumberOfDimensions_C2) {
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[2]", Broadcast({2, 2}, {0, 1})),
              Breaks(kBroadcastInDim, 2));
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[2]", Broadcast({2}, {})),
              Breaks(kBroadcastInDim, 2));
}

TEST(BroadcastInDimInfer, RejectsDimensionThatIsNoAxis_C3) {
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[2]", Broadcast({2}, {1})),
              Breaks(kBroadcastInDim, 3));
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[2]", Broadcast({2}, {-1})),
              Breaks(kBroadcastInDim, 3));
}

TEST(BroadcastInDimInfer, RejectsDimensionTwice_C4) {
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[2,2]", Broadcast({2, 2}, {0, 0})),
              Breaks(kBroadcastInDim, 4));
}

TEST(BroadcastInDimInfer, RejectsSizesThatDoNotStretch_C5) {
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[2]", Broadcast({3}, {0})),
              Breaks(kBroadcastInDim, 5));
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[2]", Broadcast({1}, {0})),
              Breaks(kBroadcastInDim, 5));
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[0]", Broadcast({1}, {0})),
              Breaks(kBroadcastInDim, 5));
}

TEST(BroadcastInDimInfer, GivesDims) {
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[]", Broadcast({2, 0}, {})),
              Gives("f32[2,0]"));
  EXPECT_THAT(Infer(kBroadcastInDim, "bool[2,3]", Broadcast({3, 5, 2}, {2, 0})),
              Gives("bool[3,5,2]"));
  EXPECT_THAT(Infer(kBroadcastInDim, "f32[1]", Broadcast({0}, {0})),
              Gives("f32[0]"));
}

TEST(BroadcastInDimAxes, NewAndStretchedAxesAreBroadcast) {
  EXPECT_EQ(AxesOf(kBroadcastInDim, "f32[3,1]", Broadcast({2, 3, 4}, {1, 2})),
            "p0,o3 -> b1,p0,b2");
  EXPECT_EQ(AxesOf(kBroadcastInDim, "f32[2,3]", Broadcast({3, 2}, {1, 0})),
            "p0,p1 -> p1,p0");
  EXPECT_EQ(AxesOf(kBroadcastInDim, "f32[]", Broadcast({2}, {})), "- -> b0");
}

// ---- reshape --------------------------------------------------------------

Attributes Sizes(Dims dims) { return {{"dims", dims}}; }

TEST(ReshapeInfer, RejectsWhatIsNoShape_C1) {
  EXPECT_THAT(Infer(kReshape, "f32[2]", Sizes({-1, -2})), Breaks(kReshape, 1));
  EXPECT_THAT(Infer(kReshape, "f32[1]", Sizes(Dims(17, 1))),
              Breaks(kReshape, 1));
  EXPECT_THAT(Infer(kReshape, "f32[0]", Sizes({0, kHuge})),
              Breaks(kReshape, 1));
}

TEST(ReshapeInfer, RejectsOtherNumberOfElements_C2) {
  EXPECT_THAT(Infer(kReshape, "f32[2,3]", Sizes({5})), Breaks(kReshape, 2));
  EXPECT_THAT(Infer(kReshape, "f32[0]", Sizes({})), Breaks(kReshape, 2));
}

TEST(ReshapeInfer, GivesDims) {
  EXPECT_THAT(Infer(kReshape, "f32[2,3]", Sizes({3, 1, 2})),
              Gives("f32[3,1,2]"));
  EXPECT_THAT(Infer(kReshape, "s8[1,1]", Sizes({})), Gives("s8[]"));
  EXPECT_THAT(Infer(kReshape, "f32[0,3]", Sizes({7, 0})), Gives("f32[7,0]"));
}

TEST(ReshapeAxes, UntouchedAxesAreParallel) {
  EXPECT_EQ(AxesOf(kReshape, "f32[4,6]", Sizes({4, 2, 3})),
            "p0,o1 -> p0,o2,o3");
  EXPECT_EQ(AxesOf(kReshape, "f32[2,3,4]", Sizes({6, 4})), "o1,o2,p0 -> o3,p0");
  EXPECT_EQ(AxesOf(kReshape, "f32[2,6]", Sizes({3, 4})), "o0,o1 -> o2,o3");
  EXPECT_EQ(AxesOf(kReshape, "f32[2,3]", Sizes({2, 1, 3})),
            "p0,p1 -> p0,o2,p1");
  EXPECT_EQ(AxesOf(kReshape, "f32[1,6]", Sizes({6, 1})), "o1,p0 -> p0,o2");
  // 2 and 3 change places: the same sizes, other elements before them.
  EXPECT_EQ(AxesOf(kReshape, "f32[2,3,5]", Sizes({3, 2, 5})),
            "o1,o2,p0 -> o3,o4,p0");
  EXPECT_EQ(AxesOf(kReshape, "f32[1]", Sizes({})), "o0 -> -");
  EXPECT_EQ(AxesOf(kReshape, "f32[4,0]", Sizes({4, 0, 2})),
            "p0,p1 -> p0,p1,o2");
}

// ---- transpose ------------------------------------------------------------

Attributes Permutation(Dims permutation) {
  return {{"permutation", permutation}};
}

TEST(TransposeInfer, RejectsNonPermutation_C1) {
  for (const Dims& bad :
       {Dims{0}, Dims{0, 0}, Dims{0, 2}, Dims{-1, 0}, Dims{0, 1, 2}, Dims{}}) {
    EXPECT_THAT(Infer(kTranspose, "f32[2,3]", Permutation(bad)),
                Breaks(kTranspose, 1))
        << DimsToString(bad);
  }
}

TEST(TransposeInfer, ReordersSizes) {
  EXPECT_THAT(Infer(kTranspose, "f32[2,3,4]", Permutation({2, 0, 1})),
              Gives("f32[4,2,3]"));
  EXPECT_THAT(Infer(kTranspose, "f32[]", Permutation({})), Gives("f32[]"));
  EXPECT_THAT(Infer(kTranspose, "f32[0,3]", Permutation({1, 0})),
              Gives("f32[3,0]"));
  EXPECT_EQ(AxesOf(kTranspose, "f32[2,3,4]", Permutation({2, 0, 1})),
            "p1,p2,p0 -> p0,p1,p2");
}

// ---- concatenate ----------------------------------------------------------

Attributes Along(int64_t dimension) { return {{"dimension", dimension}}; }

TEST(ConcatenateInfer, RejectsMixedDTypes_C1) {
  EXPECT_THAT(Infer(kConcatenate, "f32[2] f64[2]", Along(0)),
              Breaks(kConcatenate, 1));
}

TEST(ConcatenateInfer, RejectsDimensionThatIsNoAxis_C2) {
  EXPECT_THAT(Infer(kConcatenate, "f32[2]", Along(1)), Breaks(kConcatenate, 2));
  EXPECT_THAT(Infer(kConcatenate, "f32[2]", Along(-1)),
              Breaks(kConcatenate, 2));
  EXPECT_THAT(Infer(kConcatenate, "f32[] f32[]", Along(0)),
              Breaks(kConcatenate, 2));
}

TEST(ConcatenateInfer, RejectsOtherSizesBesideIt_C3) {
  EXPECT_THAT(Infer(kConcatenate, "f32[2,3] f32[2,4]", Along(0)),
              Breaks(kConcatenate, 3));
  EXPECT_THAT(Infer(kConcatenate, "f32[2,3] f32[2]", Along(0)),
              Breaks(kConcatenate, 3));
  EXPECT_THAT(Infer(kConcatenate, "f32[2] f32[2,1]", Along(0)),
              Breaks(kConcatenate, 3));
}

TEST(ConcatenateInfer, RejectsAResultLargerThanAShape_C4) {
  const std::string huge = absl::StrCat("u8[", kHuge - 1, "]");
  EXPECT_THAT(Infer(kConcatenate, absl::StrCat(huge, " ", huge), Along(0)),
              Breaks(kConcatenate, 4));
  EXPECT_THAT(
      Infer(kConcatenate, absl::StrCat(huge, " ", huge, " ", huge), Along(0)),
      Breaks(kConcatenate, 4));
}

TEST(ConcatenateInfer, AddsSizes) {
  EXPECT_THAT(Infer(kConcatenate, "f32[2,3] f32[2,0] f32[2,1]", Along(1)),
              Gives("f32[2,4]"));
  EXPECT_THAT(Infer(kConcatenate, "f32[2]", Along(0)), Gives("f32[2]"));
  EXPECT_EQ(AxesOf(kConcatenate, "f32[2,3] f32[2,1]", Along(1)),
            "p0,o1 p0,o2 -> p0,o3");
}

// ---- reverse --------------------------------------------------------------

Attributes Reversed(Dims dimensions) { return {{"dimensions", dimensions}}; }

TEST(ReverseInfer, RejectsDimensionThatIsNoAxis_C1) {
  EXPECT_THAT(Infer(kReverse, "f32[2]", Reversed({1})), Breaks(kReverse, 1));
  EXPECT_THAT(Infer(kReverse, "f32[2]", Reversed({-1})), Breaks(kReverse, 1));
}

TEST(ReverseInfer, RejectsDimensionTwice_C2) {
  EXPECT_THAT(Infer(kReverse, "f32[2,3]", Reversed({1, 1})),
              Breaks(kReverse, 2));
}

TEST(ReverseInfer, KeepsShape) {
  EXPECT_THAT(Infer(kReverse, "f32[2,0]", Reversed({1, 0})), Gives("f32[2,0]"));
  EXPECT_THAT(Infer(kReverse, "f32[]", Reversed({})), Gives("f32[]"));
  EXPECT_EQ(AxesOf(kReverse, "f32[2,3]", Reversed({1})), "p0,o1 -> p0,o2");
}

// ---- pad ------------------------------------------------------------------

Attributes Padding(Dims low, Dims high, Dims interior) {
  return {{"edge_padding_low", low},
          {"edge_padding_high", high},
          {"interior_padding", interior}};
}

TEST(PadInfer, RejectsMixedDTypes_C1) {
  EXPECT_THAT(Infer(kPad, "f32[2] s32[]", Padding({0}, {0}, {0})),
              Breaks(kPad, 1));
}

TEST(PadInfer, RejectsValueThatIsNoScalar_C2) {
  EXPECT_THAT(Infer(kPad, "f32[2] f32[1]", Padding({0}, {0}, {0})),
              Breaks(kPad, 2));
}

TEST(PadInfer, RejectsWrongNumberOfEntries_C3) {
  EXPECT_THAT(Infer(kPad, "f32[2] f32[]", Padding({}, {0}, {0})),
              Breaks(kPad, 3));
  EXPECT_THAT(Infer(kPad, "f32[2] f32[]", Padding({0}, {0, 0}, {0})),
              Breaks(kPad, 3));
  EXPECT_THAT(Infer(kPad, "f32[2] f32[]", Padding({0}, {0}, {})),
              Breaks(kPad, 3));
}

TEST(PadInfer, RejectsNegativeInterior_C4) {
  EXPECT_THAT(Infer(kPad, "f32[2] f32[]", Padding({1}, {1}, {-1})),
              Breaks(kPad, 4));
}

TEST(PadInfer, RejectsWhatIsNoShape_C5) {
  EXPECT_THAT(Infer(kPad, "f32[2] f32[]", Padding({-2}, {-1}, {0})),
              Breaks(kPad, 5));
  EXPECT_THAT(Infer(kPad, "f32[2] f32[]", Padding({INT64_MAX}, {1}, {0})),
              Breaks(kPad, 5));
  EXPECT_THAT(Infer(kPad, "f32[2] f32[]", Padding({kHuge}, {0}, {0})),
              Breaks(kPad, 5));
  EXPECT_THAT(Infer(kPad, "f32[9] f32[]", Padding({0}, {0}, {kHuge})),
              Breaks(kPad, 5));
}

TEST(PadInfer, AddsEdgesAndGaps) {
  EXPECT_THAT(Infer(kPad, "f32[3] f32[]", Padding({1}, {2}, {4})),
              Gives("f32[14]"));
  EXPECT_THAT(Infer(kPad, "f32[0] f32[]", Padding({1}, {2}, {4})),
              Gives("f32[3]"));
  EXPECT_THAT(Infer(kPad, "f32[3] f32[]", Padding({-1}, {-2}, {0})),
              Gives("f32[0]"));
  EXPECT_THAT(Infer(kPad, "f32[] f32[]", Padding({}, {}, {})), Gives("f32[]"));
  EXPECT_EQ(AxesOf(kPad, "f32[2,3] f32[]", Padding({0, 1}, {0, 0}, {0, 0})),
            "p0,o1 - -> p0,o2");
}

}  // namespace
}  // namespace hawser
