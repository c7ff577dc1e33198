#include "core/ops/contraction/dot.h"

#include <string>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

struct Axes {
  Dims lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;

  operator Attributes() const {  // NOLINT: reads like the op's text
    return {{"lhs_batching_dimensions", lhs_batch},
            {"rhs_batching_dimensions", rhs_batch},
            {"lhs_contracting_dimensions", lhs_contracting},
            {"rhs_contracting_dimensions", rhs_contracting}};
  }
};
Axes Matrices() { return {{}, {}, {1}, {0}}; }

TEST(DotGeneralInfer, GivesBatchThenFreeAxes) {
  EXPECT_THAT(Infer(kDotGeneral, "f32[2,3] f32[3,4]", Matrices()),
              Gives("f32[2,4]"));
  EXPECT_THAT(Infer(kDotGeneral, "f32[3] f32[3]", Axes{{}, {}, {0}, {0}}),
              Gives("f32[]"));
  EXPECT_THAT(Infer(kDotGeneral, "s8[2] s8[3]", Axes{}), Gives("s8[2,3]"));
  EXPECT_THAT(Infer(kDotGeneral, "f32[2,0] f32[0,4]", Matrices()),
              Gives("f32[2,4]"));
  EXPECT_THAT(Infer(kDotGeneral, "bf16[5,2,3,7] bf16[3,7,5,4]",
                    Axes{{0}, {2}, {3, 2}, {1, 0}}),
              Gives("bf16[5,2,4]"));
}

TEST(DotGeneralInfer, RejectsBool_C1) {
  EXPECT_THAT(Infer(kDotGeneral, "bool[2,3] bool[3,4]", Matrices()),
              Breaks(kDotGeneral, 1));
}

TEST(DotGeneralInfer, RejectsMixedDTypes_C2) {
  EXPECT_THAT(Infer(kDotGeneral, "f32[2,3] bf16[3,4]", Matrices()),
              Breaks(kDotGeneral, 2));
}

TEST(DotGeneralInfer, RejectsUnpairedBatch_C3) {
  EXPECT_THAT(Infer(kDotGeneral, "f32[2,3] f32[3,4]", Axes{{0}, {}, {1}, {0}}),
              Breaks(kDotGeneral, 3));
}

TEST(DotGeneralInfer, RejectsUnpairedContracting_C4) {
  EXPECT_THAT(Infer(kDotGeneral, "f32[2,3] f32[3,4]", Axes{{}, {}, {1}, {}}),
              Breaks(kDotGeneral, 4));
}

TEST(DotGeneralInfer, RejectsWhatIsNoAxis_C5) {
  for (const Axes& bad : {Axes{{}, {}, {2}, {0}}, Axes{{}, {}, {1}, {-1}},
                          Axes{{2}, {0}, {}, {}}, Axes{{0}, {2}, {}, {}}}) {
    EXPECT_THAT(Infer(kDotGeneral, "f32[3,3] f32[3,3]", bad),
                Breaks(kDotGeneral, 5));
  }
}

TEST(DotGeneralInfer, RejectsAxesTwice_C6) {
  for (const Axes& bad :
       {Axes{{}, {}, {0, 0}, {0, 1}}, Axes{{0}, {0}, {0}, {1}},
        Axes{{0, 0}, {0, 1}, {}, {}}, Axes{{0}, {1}, {1}, {1}}}) {
    EXPECT_THAT(Infer(kDotGeneral, "f32[3,3] f32[3,3]", bad),
                Breaks(kDotGeneral, 6));
  }
}

TEST(DotGeneralInfer, RejectsBatchOfOtherSizes_C7) {
  EXPECT_THAT(Infer(kDotGeneral, "f32[2,3] f32[3,3]", Axes{{0}, {0}, {1}, {1}}),
              Breaks(kDotGeneral, 7));
}

TEST(DotGeneralInfer, RejectsContractingOfOtherSizes_C8) {
  EXPECT_THAT(Infer(kDotGeneral, "f32[2,3] f32[2,4]", Matrices()),
              Breaks(kDotGeneral, 8));
  EXPECT_THAT(Infer(kDotGeneral, "f32[2,1] f32[2,4]", Matrices()),
              Breaks(kDotGeneral, 8));
}

TEST(DotGeneralInfer, RejectsAResultLargerThanAShape_C9) {
  const std::string nine =
      absl::StrCat("f32[", absl::StrJoin(Dims(9, 1), ","), "]");
  EXPECT_THAT(Infer(kDotGeneral, absl::StrCat(nine, " ", nine), Axes{}),
              Breaks(kDotGeneral, 9));
  const std::string wide = absl::StrCat("f32[", int64_t{1} << 40, "]");
  EXPECT_THAT(Infer(kDotGeneral, absl::StrCat(wide, " ", wide), Axes{}),
              Breaks(kDotGeneral, 9));
}

Attributes MatricesIn(DType dtype) {
  Attributes attributes = Matrices();
  attributes.Set("result_dtype", dtype);
  return attributes;
}

TEST(DotGeneralInfer, GivesTheWiderDTypeAskedFor) {
  const std::pair<const char*, DType> wider[] = {
      {"s8", DType::kS16},  {"s8", DType::kS64},   {"u16", DType::kU32},
      {"f16", DType::kF32}, {"bf16", DType::kF32}, {"bf16", DType::kF64},
      {"f32", DType::kF64}, {"c64", DType::kC128},
  };
  for (const auto& [from, to] : wider) {
    EXPECT_THAT(Infer(kDotGeneral, absl::StrCat(from, "[2,3] ", from, "[3,4]"),
                      MatricesIn(to)),
                Gives(absl::StrCat(DTypeName(to), "[2,4]")));
  }
}

TEST(DotGeneralInfer, RejectsAResultDTypeThatIsNotWiderOrOfAnotherKind_C10) {
  const std::pair<const char*, DType> bad[] = {
      {"f32", DType::kF32},  {"f64", DType::kF32},     {"f16", DType::kBF16},
      {"bf16", DType::kF16}, {"s8", DType::kS8},       {"s32", DType::kS16},
      {"u8", DType::kS32},   {"s8", DType::kU32},      {"s8", DType::kF32},
      {"f32", DType::kC64},  {"c128", DType::kC64},    {"f16", DType::kS32},
      {"u8", DType::kBool},  {"f16", DType::kInvalid},
  };
  for (const auto& [from, to] : bad) {
    EXPECT_THAT(Infer(kDotGeneral, absl::StrCat(from, "[2,3] ", from, "[3,4]"),
                      MatricesIn(to)),
                Breaks(kDotGeneral, 10))
        << from << " " << to;
  }
}

TEST(DotGeneralAxes, BatchFreeAndContracted) {
  EXPECT_EQ(AxesOf(kDotGeneral, "f32[2,3] f32[3,4]", Matrices()),
            "p0,c2 c2,p1 -> p0,p1");
  EXPECT_EQ(AxesOf(kDotGeneral, "f32[5,2,3,7] f32[3,7,5,4]",
                   Axes{{0}, {2}, {3, 2}, {1, 0}}),
            "p0,p1,c4,c3 c4,c3,p0,p2 -> p0,p1,p2");
  EXPECT_EQ(AxesOf(kDotGeneral, "f32[3] f32[3]", Axes{{}, {}, {0}, {0}}),
            "c0 c0 -> -");
}

}  // namespace
}  // namespace hawser
