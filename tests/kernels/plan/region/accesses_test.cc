// How a kernel's loops are merged, how each load and store meets memory, and
// what moves.
#include "kernels/plan/region/accesses.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/plan/words.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

using ::testing::ElementsAre;

// The one kernel of what `body` computes of parameters of these shapes.
Region KernelOf(const std::vector<Shape>& parameters,
                const std::function<Expression(const Values&)>& body,
                const Target& target = GpuTarget()) {
  Module module("kernel");
  ComputationBuilder builder(&module, "main");
  Monoids monoids;
  ExpressionScope scope{builder, monoids};
  Values values;
  for (const Shape& shape : parameters) {
    values.emplace_back(&scope, builder.Parameter(shape));
  }
  EXPECT_OK(builder.Finish({body(values).value()}));
  const auto plan = MakePlan(module, target);
  EXPECT_OK(plan);
  Region kernel;
  if (!plan.ok()) return kernel;
  int kernels = 0;
  for (const Region& r : plan->entry().regions) {
    if (r.launches == 0) continue;
    kernel = r;
    ++kernels;
  }
  EXPECT_EQ(kernels, 1) << Explain(*plan, target);
  return kernel;
}

const MemoryAccess& LoadOf(const Region& region, int operand) {
  for (const MemoryAccess& a : region.accesses) {
    if (a.operand == operand) return a;
  }
  static const MemoryAccess& none = *new MemoryAccess();
  ADD_FAILURE() << "operand " << operand << " is not loaded";
  return none;
}

Expression Sum(const Values& p) { return p[0] + p[1]; }
Expression Turned(const Values& p) { return Transposed(p[0], {1, 0}) + p[1]; }
Expression SliceOf(const Expression& x, const Dims& from, const Dims& to,
                   const Dims& steps) {
  return Apply(
      kSlice, {x},
      {{"start_indices", from}, {"limit_indices", to}, {"strides", steps}});
}

// ---- loops

TEST(Accesses, LoopsAreOneUnlessAnIndexIsUsedForItself) {
  const std::vector<Shape> two = {F32({4, 6}), F32({4, 6})};
  EXPECT_THAT(KernelOf(two, Sum).loops.extents, ElementsAre(24));
  for (const int64_t axis : {0, 1}) {
    const Region r = KernelOf({F32({4, 6})}, [axis](const Values& p) {
      const Expression iota = Expression(
          p[0].scope(), p[0].scope()->builder.Add(kIota, {},
                                                  {{"dtype", DType::kF32},
                                                   {"dims", Dims{4, 6}},
                                                   {"iota_dimension", axis}}));
      return p[0] + iota;
    });
    EXPECT_THAT(r.loops.extents, ElementsAre(4, 6)) << "iota along " << axis;
  }
}

// Both sides of the seam are one number each, which no offset tells.
TEST(Accesses, LoopsThatAPredicateTellsApartStay) {
  const std::vector<Shape> shapes = {F32({4, 6}), F32({}), F32({})};
  const Region r = KernelOf(shapes, [](const Values& p) {
    return p[0] +
           Apply(kConcatenate,
                 {Spread(p[1], {4, 2}, {0, 1}), Spread(p[2], {4, 4}, {0, 1})},
                 {{"dimension", int64_t{1}}});
  });
  EXPECT_THAT(r.loops.extents, ElementsAre(4, 6));
  // What is on no side but the last is the last.
  for (const Point& p : r.points) {
    if (p.kind != Point::kChoose) continue;
    EXPECT_EQ(p.cases.size(), 1u);
  }
}

TEST(Accesses, KeptLoopsEndWhereTheReducedBegin) {
  const auto sums = [](const Dims& dims, const Dims& axes) {
    const Region r = KernelOf({F32(dims)}, [&](const Values& p) {
      return Summed(p[0] * p[0], axes);
    });
    return absl::StrCat(DimsToString(r.loops.extents), " keeps ",
                        r.num_kept_loops);
  };
  EXPECT_EQ(sums({2, 3, 5, 7}, {2, 3}), "[6,35] keeps 1");
  EXPECT_EQ(sums({2, 3, 5, 7}, {3}), "[30,7] keeps 1");
  EXPECT_EQ(sums({2, 3, 5, 7}, {0, 2}), "[3,7,2,5] keeps 2");
  EXPECT_EQ(sums({2, 3, 5, 7}, {0, 1, 2, 3}), "[210] keeps 0");
  EXPECT_EQ(sums({1, 35}, {1}), "[35] keeps 0");
  EXPECT_EQ(sums({35, 1}, {1}), "[35] keeps 1");
}

// The store of a sum is at 0.
TEST(Accesses, OffsetsOfEveryAccessFitIn32Bits) {
  for (const int64_t more : {0, 1}) {
    const Region r =
        KernelOf({Shape::Of(DType::kU8, {(int64_t{1} << 31) + more})},
                 [](const Values& p) { return SummedAll(p[0]); });
    EXPECT_EQ(r.fits_u32, more == 0);
  }
}

// ---- kinds

TEST(Accesses, KindIsHowNeighboursAlongTheInnermostLoopLie) {
  // x[i / 2]
  const Region twice = KernelOf({F32({12}), F32({24})}, [](const Values& p) {
    return Reshaped(Spread(p[0], {12, 2}, {1}), {24}) + p[1];
  });
  EXPECT_EQ(LoadOf(twice, 0).kind, AccessKind::kStrided);
  EXPECT_EQ(LoadOf(twice, 0).vector_width, 1);
  EXPECT_EQ(LoadOf(twice, 1).kind, AccessKind::kContiguous);
  EXPECT_EQ(LoadOf(twice, 1).vector_width, 4);

  const Region rows = KernelOf({F32({12}), F32({12, 8})}, [](const Values& p) {
    return Spread(p[0], {12, 8}, {1}) + p[1];
  });
  EXPECT_EQ(LoadOf(rows, 0).kind, AccessKind::kUniform);

  const Region back = KernelOf({F32({12}), F32({12})}, [](const Values& p) {
    return Apply(kReverse, {p[0]}, {{"dimensions", Dims{0}}}) + p[1];
  });
  EXPECT_EQ(LoadOf(back, 0).kind, AccessKind::kStrided);

  const Region from = KernelOf(
      {Shape::Of(DType::kS32, {24}), Shape::Scalar(DType::kS32)},
      [](const Values& p) {
        return Apply(kDynamicSlice, {p[0], p[1]}, {{"slice_sizes", Dims{8}}}) +
               1.0;
      });
  EXPECT_EQ(LoadOf(from, 0).kind, AccessKind::kIndexed);
}

TEST(Accesses, LanesOfAColumnReductionRunOverTheColumns) {
  const Region r = KernelOf({F32({512, 8})},
                            [](const Values& p) { return Summed(p[0], {0}); });
  ASSERT_EQ(r.kind, RegionKind::kColumnReduction);
  EXPECT_EQ(LoadOf(r, 0).kind, AccessKind::kContiguous);
  EXPECT_EQ(r.vector_width, 4);
}

// ---- vectors

TEST(Accesses, VectorsAreOfTheWidestElementThatIsContiguous) {
  const auto width = [](DType dtype, int vector_bytes) {
    Target target = GpuTarget();
    target.vector_bytes = vector_bytes;
    const Shape shape = Shape::Of(dtype, {64});
    return KernelOf({shape, shape}, Sum, target).vector_width;
  };
  EXPECT_EQ(width(DType::kU8, 16), 16);
  EXPECT_EQ(width(DType::kF32, 16), 4);
  EXPECT_EQ(width(DType::kF64, 16), 2);
  EXPECT_EQ(width(DType::kC128, 16), 1);
  EXPECT_EQ(width(DType::kF64, 4), 1);
  // The double goes with every element.
  const Region mixed =
      KernelOf({Shape::Of(DType::kU8, {64}), Shape::Scalar(DType::kF64)},
               [](const Values& p) {
                 return p[0] + ConvertTo(Spread(p[1], {64}, {0}), DType::kU8);
               });
  EXPECT_EQ(mixed.vector_width, 16);
  // A store as wide as two loads.
  const Region wider = KernelOf({F32({64}), F32({64})}, [](const Values& p) {
    return ConvertTo(p[0] * p[1], DType::kF64);
  });
  EXPECT_EQ(wider.vector_width, 2);
}

TEST(Accesses, VectorsEndWithTheRowOrWithTheOnlyLoop) {
  const auto width = [](const Dims& dims) {
    const Shape row = F32({dims.back()});
    return KernelOf(
               {F32(dims), row},
               [&](const Values& p) {
                 return p[0] +
                        Spread(
                            p[1], dims,
                            OtherAxes(static_cast<int>(dims.size()),
                                      {static_cast<int64_t>(dims.size()) - 1}));
               })
        .vector_width;
  };
  EXPECT_EQ(width({64}), 4);
  EXPECT_EQ(width({7}), 4);
  EXPECT_EQ(width({4}), 4);
  EXPECT_EQ(width({3}), 2);
  EXPECT_EQ(width({1}), 1);
  EXPECT_EQ(width({0}), 1);
  EXPECT_EQ(width({3, 8}), 4);
  EXPECT_EQ(width({3, 6}), 2);
  EXPECT_EQ(width({8, 7}), 1);
}

TEST(Accesses, VectorsAreAlignedAndUnmasked) {
  for (const int64_t start : {0, 1, 2, 4}) {
    const Region r = KernelOf({F32({32})}, [start](const Values& p) {
      return SliceOf(p[0], {start}, {start + 24}, {1}) + 1.0;
    });
    EXPECT_EQ(LoadOf(r, 0).kind, AccessKind::kContiguous);
    EXPECT_EQ(LoadOf(r, 0).vector_width, start % 4 == 0 ? 4 : 1) << start;
    EXPECT_EQ(r.vector_width, 4);
  }
  const Region padded = KernelOf({F32({20})}, [](const Values& p) {
    return Apply(kPad, {p[0], Filled(p[0].scope(), F32({}), 3)},
                 {{"edge_padding_low", Dims{4}},
                  {"edge_padding_high", Dims{0}},
                  {"interior_padding", Dims{0}}});
  });
  EXPECT_TRUE(LoadOf(padded, 0).masked);
  EXPECT_EQ(LoadOf(padded, 0).vector_width, 1);
  EXPECT_EQ(padded.vector_width, 4);
}

// ---- what moves

TEST(Accesses, BytesAreThoseOfDistinctElements) {
  // What is read once per row moves once per row, however long the rows.
  const Region rows =
      KernelOf({F32({4, 256}), F32({1000})}, [](const Values& p) {
        return Summed(p[0] * p[0], {1}) + SliceOf(p[1], {0}, {4}, {1});
      });
  EXPECT_EQ(LoadOf(rows, 0).bytes, 4096);
  EXPECT_EQ(LoadOf(rows, 1).bytes, 16);
  EXPECT_EQ(rows.bytes_read, 4096 + 16);
  EXPECT_EQ(rows.bytes_written, 16);
  // Two halves of one operand, and one operand all over twice.
  const Region halves = KernelOf({F32({48})}, [](const Values& p) {
    return SliceOf(p[0], {0}, {24}, {1}) * SliceOf(p[0], {24}, {48}, {1});
  });
  EXPECT_EQ(halves.bytes_read, 192);
  const Region both = KernelOf({F32({24})}, [](const Values& p) {
    return p[0] * Apply(kReverse, {p[0]}, {{"dimensions", Dims{0}}});
  });
  EXPECT_EQ(both.bytes_read, 96);
}

// One instruction that reads the same value twice, as another planner may
// leave it.
TEST(Accesses, AnOperandThatIsReadTwiceMovesOnce) {
  Module module("twice");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(F32({24}));
  ASSERT_OK(b.Finish({b.Add(kMultiply, {x, x})}));
  ASSERT_OK_AND_ASSIGN(const Region r, LowerRegion(module, 0, 1, GpuTarget()));
  EXPECT_EQ(r.accesses.size(), 2u);
  EXPECT_EQ(LoadOf(r, 0).bytes, 96);
  EXPECT_EQ(r.bytes_read, 96);
}

TEST(Accesses, WhatAFusionHandsOnIsLoadedAndStored) {
  Module module("on");
  ComputationBuilder body(&module, "body");
  const ValueId x = body.Parameter(F32({24}));
  const ValueId y = body.Parameter(F32({24}));
  ASSERT_OK_AND_ASSIGN(const int called,
                       body.Finish({body.Add(kNegate, {x}), y}));
  ComputationBuilder b(&module, "main");
  const ValueId p = b.Parameter(F32({24}));
  const ValueId q = b.Parameter(F32({24}));
  const ValueId first =
      b.Add(kFusion, {p, q}, {{"kind", std::string("loop")}}, {called});
  ASSERT_OK(b.Finish({first, first + 1}));
  ASSERT_OK_AND_ASSIGN(const Region r, LowerRegion(module, 1, 2, GpuTarget()));
  EXPECT_EQ(r.accesses.size(), 4u);
  EXPECT_EQ(LoadOf(r, 1).bytes, 96);
  EXPECT_EQ(r.bytes_read, 192);
  EXPECT_EQ(r.bytes_written, 192);
}

TEST(Accesses, WorkIsCountedByTurn) {
  const auto operations = [](const Region& r) { return r.lane_operations; };
  EXPECT_EQ(operations(KernelOf({F32({24}), F32({24})}, Sum)), 24);
  // 1024 products and folds of 2 each, 4 additions.
  EXPECT_EQ(operations(KernelOf({F32({4, 256}), F32({4})},
                                [](const Values& p) {
                                  return Summed(p[0] * p[0], {1}) + p[1];
                                })),
            1024 + 2 * 1024 + 4);
}

TEST(Accesses, ProductsReadTheirFactorsWhole) {
  Target target = GpuTarget();
  target.epilogues = EpilogueSupport::kNone;
  const auto product = [](const Expression& a, const Expression& b) {
    return Apply(kDotGeneral, {a, b},
                 {{"lhs_batching_dimensions", Dims{}},
                  {"lhs_contracting_dimensions", Dims{1}},
                  {"rhs_batching_dimensions", Dims{}},
                  {"rhs_contracting_dimensions", Dims{0}}});
  };
  const Region two = KernelOf(
      {F32({4, 3}), F32({3, 5})},
      [&](const Values& p) { return product(p[0], p[1]); }, target);
  EXPECT_EQ(two.bytes_read, (12 + 15) * 4);
  EXPECT_EQ(two.bytes_written, 20 * 4);
  EXPECT_EQ(two.lane_operations, 2 * 20 * 3);
  const Region square = KernelOf(
      {F32({4, 4})}, [&](const Values& p) { return product(p[0], p[0]); },
      target);
  EXPECT_EQ(square.bytes_read, 16 * 4);
}

// Wherever it says to begin, there is one place.
TEST(Accesses, ASliceOfEverythingReadsNoStart) {
  for (const int64_t size : {24, 23}) {
    const Region r =
        KernelOf({Shape::Of(DType::kS32, {24}), Shape::Scalar(DType::kS32)},
                 [size](const Values& p) {
                   return Apply(kDynamicSlice, {p[0], p[1]},
                                {{"slice_sizes", Dims{size}}}) +
                          1.0;
                 });
    EXPECT_EQ(r.symbols.size(), size == 24 ? 0u : 1u);
    EXPECT_EQ(r.accesses.size(), size == 24 ? 2u : 3u);
    EXPECT_EQ(LoadOf(r, 0).kind,
              size == 24 ? AccessKind::kContiguous : AccessKind::kIndexed);
  }
}

// ---- transposes

TEST(Accesses, TilesAreForWhatNoCacheHolds) {
  for (const int64_t spare : {0, -1}) {
    Target target = GpuTarget();
    target.cached_bytes = 64 * 32 * 4 + spare;
    const Region r = KernelOf({F32({64, 32}), F32({32, 64})}, Turned, target);
    EXPECT_EQ(r.kind,
              spare == 0 ? RegionKind::kLoop : RegionKind::kTiledTranspose);
  }
}

TEST(Accesses, TilesAreForReadsAlongAnotherLoopAlone) {
  Target target = GpuTarget();
  target.cached_bytes = 64;
  // Every other column: apart, but along the loop that writes.
  EXPECT_EQ(KernelOf(
                {F32({32, 64})},
                [](const Values& p) {
                  return SliceOf(p[0], {0, 0}, {32, 64}, {1, 2}) + 1.0;
                },
                target)
                .kind,
            RegionKind::kLoop);
  // Rows that do not end where the next begins: still along it.
  EXPECT_EQ(KernelOf(
                {F32({32, 65})},
                [](const Values& p) {
                  return SliceOf(p[0], {0, 0}, {32, 64}, {1, 2}) + 1.0;
                },
                target)
                .kind,
            RegionKind::kLoop);
  // One element per row of the result.
  EXPECT_EQ(KernelOf(
                {F32({32}), F32({32, 64})},
                [](const Values& p) {
                  return Spread(p[0], {32, 64}, {1}) + p[1];
                },
                target)
                .kind,
            RegionKind::kLoop);
}

TEST(Accesses, AProductWithATransposedTailStaysAProduct) {
  Target target = CpuTarget();
  target.cached_bytes = 64;
  const Region r = KernelOf(
      {F32({32, 8}), F32({8, 16}), F32({16, 32})},
      [](const Values& p) {
        const Expression tail = Transposed(p[2], {1, 0});
        const Expression d = Apply(kDotGeneral, {p[0], p[1]},
                                   {{"lhs_batching_dimensions", Dims{}},
                                    {"lhs_contracting_dimensions", Dims{1}},
                                    {"rhs_batching_dimensions", Dims{}},
                                    {"rhs_contracting_dimensions", Dims{0}}});
        return d + tail;
      },
      target);
  EXPECT_EQ(r.kind, RegionKind::kLibraryDot);
  EXPECT_EQ(LoadOf(r, 2).kind, AccessKind::kStrided);
}

// A box of such a product is a box of the loops, of batches and rows as one.
TEST(Accesses, RowsAndColumnsOfAProductWithAnyTailStayApart) {
  const auto kernel = [](const Target& target) {
    return KernelOf(
        {F32({3, 32, 8}), F32({3, 8, 16})},
        [](const Values& p) {
          return Apply(kTanh,
                       {Apply(kDotGeneral, {p[0], p[1]},
                              {{"lhs_batching_dimensions", Dims{0}},
                               {"lhs_contracting_dimensions", Dims{2}},
                               {"rhs_batching_dimensions", Dims{0}},
                               {"rhs_contracting_dimensions", Dims{1}}})});
        },
        target);
  };
  const Region r = kernel(CpuTarget());
  EXPECT_EQ(r.kind, RegionKind::kLibraryDot);
  EXPECT_EQ(r.epilogue.first_column, 2);
  EXPECT_EQ(r.loops.extents, (Dims{96, 16}));
}

}  // namespace
}  // namespace hawser::plan
