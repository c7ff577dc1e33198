#include "core/passes/canonicalize.h"

#include <complex>

#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "tests/core/passes/build_module.h"

namespace hawser {
namespace {

// What becomes of `op` on a f32[2,3] parameter (and more operands).
std::string Canonical(const Body& body, bool expect_change = true) {
  bool changed = false;
  const auto out = Canonicalize(BuildModule(body), &changed);
  EXPECT_OK(out);
  EXPECT_OK(Verify(*out));
  EXPECT_EQ(changed, expect_change);
  return EntryText(*out);
}

Body One(const OpDef& op, const Attributes& attributes) {
  return [&op, attributes](ComputationBuilder& b) {
    return std::vector<ValueId>{b.Add(op, {b.Parameter(kF23)}, attributes)};
  };
}

struct Case {
  const char* name;
  const OpDef& op;
  Attributes attributes;
};

TEST(Canonicalize, TakesOutWhatChangesNothing) {
  const Case cases[] = {
      {"transpose", kTranspose, {{"permutation", Dims{0, 1}}}},
      {"reshape", kReshape, {{"dims", Dims{2, 3}}}},
      {"convert", kConvert, {{"dtype", DType::kF32}}},
      {"bitcast", kBitcastConvert, {{"dtype", DType::kF32}}},
      {"broadcast",
       kBroadcastInDim,
       {{"dims", Dims{2, 3}}, {"broadcast_dimensions", Dims{0, 1}}}},
      {"slice",
       kSlice,
       {{"start_indices", Dims{0, 0}},
        {"limit_indices", Dims{2, 3}},
        {"strides", Dims{1, 1}}}},
      {"reverse", kReverse, {{"dimensions", Dims{}}}},
      {"concatenate", kConcatenate, {{"dimension", int64_t{0}}}},
      {"real", kReal, {}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Canonical(One(c.op, c.attributes)), "  return %0\n") << c.name;
  }
}

TEST(Canonicalize, KeepsWhatChangesSomething) {
  const Case cases[] = {
      {"transpose", kTranspose, {{"permutation", Dims{1, 0}}}},
      {"reshape", kReshape, {{"dims", Dims{3, 2}}}},
      {"convert", kConvert, {{"dtype", DType::kF64}}},
      {"bitcast", kBitcastConvert, {{"dtype", DType::kU32}}},
      {"broadcast",
       kBroadcastInDim,
       {{"dims", Dims{2, 3, 1}}, {"broadcast_dimensions", Dims{0, 1}}}},
      {"slice",
       kSlice,
       {{"start_indices", Dims{0, 0}},
        {"limit_indices", Dims{2, 2}},
        {"strides", Dims{1, 1}}}},
      {"reverse", kReverse, {{"dimensions", Dims{1}}}},
      {"imag", kImag, {}},
  };
  for (const Case& c : cases) {
    const std::string text = Canonical(One(c.op, c.attributes), false);
    EXPECT_TRUE(absl::StrContains(text, "return %1")) << c.name;
  }
}

// Same sizes, but another order of equal axes.
TEST(Canonicalize, KeepsAPermutingBroadcast) {
  const auto body = [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(Shape::Of(DType::kF32, {2, 2}));
    return std::vector<ValueId>{
        b.Add(kBroadcastInDim, {x},
              {{"dims", Dims{2, 2}}, {"broadcast_dimensions", Dims{1, 0}}}),
        b.Add(kTranspose, {x}, {{"permutation", Dims{1, 0}}})};
  };
  EXPECT_EQ(Canonical(body, false),
            "  %1: f32[2,2] = broadcast_in_dim(%0) "
            "broadcast_dimensions=[1,0] dims=[2,2]\n"
            "  %2: f32[2,2] = transpose(%0) permutation=[1,0]\n"
            "  return %1, %2\n");
}

TEST(Canonicalize, MergesTransposes) {
  const auto body = [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(Shape::Of(DType::kF32, {2, 3, 4}));
    const ValueId t = b.Add(kTranspose, {x}, {{"permutation", Dims{1, 2, 0}}});
    return std::vector<ValueId>{
        b.Add(kTranspose, {t}, {{"permutation", Dims{1, 0, 2}}}),
        b.Add(kTranspose, {t}, {{"permutation", Dims{2, 0, 1}}})};
  };
  EXPECT_EQ(Canonical(body),
            "  %1: f32[3,4,2] = transpose(%0) permutation=[1,2,0]\n"
            "  %2: f32[4,3,2] = transpose(%0) permutation=[2,1,0]\n"
            "  return %2, %0\n");
}

TEST(Canonicalize, MergesReshapesOfAWholeChain) {
  const auto body = [](ComputationBuilder& b) {
    ValueId x = b.Parameter(kF23);
    for (const Dims& dims : {Dims{6}, Dims{3, 2}, Dims{1, 6}, Dims{6, 1}}) {
      x = b.Add(kReshape, {x}, {{"dims", dims}});
    }
    return std::vector<ValueId>{x,
                                b.Add(kReshape, {x}, {{"dims", Dims{2, 3}}})};
  };
  EXPECT_EQ(Canonical(body),
            "  %1: f32[6] = reshape(%0) dims=[6]\n"
            "  %2: f32[3,2] = reshape(%0) dims=[3,2]\n"
            "  %3: f32[1,6] = reshape(%0) dims=[1,6]\n"
            "  %4: f32[6,1] = reshape(%0) dims=[6,1]\n"
            "  return %4, %0\n");
}

TEST(Canonicalize, MergesBroadcasts) {
  const auto body = [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(Shape::Of(DType::kF32, {3, 1}));
    const ValueId inner =
        b.Add(kBroadcastInDim, {x},
              {{"dims", Dims{2, 3, 1}}, {"broadcast_dimensions", Dims{1, 2}}});
    return std::vector<ValueId>{b.Add(
        kBroadcastInDim, {inner},
        {{"dims", Dims{4, 2, 3}}, {"broadcast_dimensions", Dims{1, 2, 0}}})};
  };
  EXPECT_EQ(Canonical(body),
            "  %1: f32[2,3,1] = broadcast_in_dim(%0) "
            "broadcast_dimensions=[1,2] dims=[2,3,1]\n"
            "  %2: f32[4,2,3] = broadcast_in_dim(%0) "
            "broadcast_dimensions=[2,0] dims=[4,2,3]\n"
            "  return %2\n");
}

TEST(Canonicalize, ReverseOfAxesOfSizeOne) {
  const auto body = [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(Shape::Of(DType::kF32, {1, 0, 3}));
    return std::vector<ValueId>{
        b.Add(kReverse, {x}, {{"dimensions", Dims{0, 1}}})};
  };
  EXPECT_EQ(Canonical(body), "  return %0\n");
}

TEST(Canonicalize, PadOnlyWithoutPadding) {
  const auto pad = [](int64_t low, int64_t high) -> Body {
    return [=](ComputationBuilder& b) {
      const ValueId x = b.Parameter(Shape::Of(DType::kF32, {4}));
      const ValueId value = b.Parameter(kF);
      return std::vector<ValueId>{b.Add(kPad, {x, value},
                                        {{"edge_padding_low", Dims{low}},
                                         {"edge_padding_high", Dims{high}},
                                         {"interior_padding", Dims{0}}})};
    };
  };
  EXPECT_EQ(Canonical(pad(0, 0)), "  return %0\n");
  // The same size, moved by one.
  EXPECT_TRUE(absl::StrContains(Canonical(pad(1, -1), false), "return %2"));
}

TEST(Canonicalize, WholeDynamicSlices) {
  const auto body = [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(Shape::Of(DType::kF32, {4}));
    const ValueId update = b.Parameter(Shape::Of(DType::kF32, {4}));
    const ValueId start = b.Parameter(Shape::Scalar(DType::kS32));
    return std::vector<ValueId>{
        b.Add(kDynamicSlice, {x, start}, {{"slice_sizes", Dims{4}}}),
        b.Add(kDynamicUpdateSlice, {x, update, start})};
  };
  EXPECT_EQ(Canonical(body), "  return %0, %1\n");
}

Body Select(const Literal& predicate) {
  return [predicate](ComputationBuilder& b) {
    const Shape shape = predicate.shape().WithDType(DType::kF32);
    const ValueId x = b.Parameter(shape);
    const ValueId y = b.Parameter(shape);
    return std::vector<ValueId>{b.Add(kSelect, {b.Constant(predicate), x, y})};
  };
}

TEST(Canonicalize, SelectByAConstant) {
  EXPECT_THAT(Canonical(Select(Literal::Scalar(true))),
              testing::HasSubstr("return %0\n"));
  EXPECT_THAT(Canonical(Select(Literal::Scalar(false))),
              testing::HasSubstr("return %1\n"));
  EXPECT_THAT(Canonical(Select(Literal::Vector<bool>({false, false}))),
              testing::HasSubstr("return %1\n"));
  EXPECT_THAT(Canonical(Select(Literal::Vector<bool>({}))),
              testing::HasSubstr("return %0\n"));
  EXPECT_THAT(Canonical(Select(Literal::Vector<bool>({true, false})), false),
              testing::HasSubstr("return %3\n"));
}

TEST(Canonicalize, SelectOfOneValue) {
  const auto body = [](ComputationBuilder& b) {
    const ValueId p = b.Parameter(Shape::Scalar(DType::kBool));
    const ValueId x = b.Parameter(kF);
    return std::vector<ValueId>{b.Add(kSelect, {p, x, x})};
  };
  EXPECT_EQ(Canonical(body), "  return %1\n");
}

TEST(Canonicalize, TakesOutFactorsOfOne) {
  const auto body = [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF23);
    const ValueId one = b.Constant(Literal::Scalar(1.0f));
    const ValueId ones =
        b.Add(kBroadcastInDim, {one},
              {{"dims", kF23.dims()}, {"broadcast_dimensions", Dims{}}});
    return std::vector<ValueId>{b.Add(kMultiply, {x, ones}),
                                b.Add(kMultiply, {ones, x}),
                                b.Add(kDivide, {x, ones})};
  };
  EXPECT_THAT(Canonical(body), testing::HasSubstr("return %0, %0, %0\n"));
}

// 1 / x is no x, and 1 times an infinite complex number is NaN in one part.
TEST(Canonicalize, KeepsOtherOnes) {
  const Shape complex = Shape::Scalar(DType::kC64);
  const auto body = [&](ComputationBuilder& b) {
    const ValueId x = b.Parameter(Shape::Scalar(DType::kF32));
    const ValueId z = b.Parameter(complex);
    const ValueId one = b.Constant(Literal::Scalar(1.0f));
    const ValueId complex_one =
        b.Constant(Literal::Scalar(std::complex<float>(1, 0)));
    return std::vector<ValueId>{b.Add(kDivide, {one, x}),
                                b.Add(kMultiply, {z, complex_one}),
                                b.Add(kDivide, {z, complex_one})};
  };
  EXPECT_THAT(Canonical(body, false),
              testing::HasSubstr("return %4, %5, %6\n"));
}

// -0 + 0 is 0, and 0 * NaN is NaN: neither identity is exact.
TEST(Canonicalize, LeavesZerosAlone) {
  const auto body = [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF);
    const ValueId zero = b.Constant(Literal::Scalar(0.0f));
    return std::vector<ValueId>{b.Add(kAdd, {x, zero}),
                                b.Add(kMultiply, {x, zero})};
  };
  EXPECT_THAT(Canonical(body, false), testing::HasSubstr("return %2, %3\n"));
}

}  // namespace
}  // namespace hawser
