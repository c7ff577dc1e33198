// Kernels as they are written: widths of vectors and of indices, who waits for
// whom, what stays in registers, what leaves a load to the read-only cache. No
// result shows these. When this fails and the new text is meant:
//   bazel run //tests/kernels/gpu/emit:golden_kernels_test
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/literal.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gtest/gtest.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/gpu/emit/block_graphs.h"
#include "tests/kernels/gpu/emit/sample_graphs.h"
#include "tests/testing/golden.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

std::string Describe(const EmittedKernel& kernel) {
  constexpr const char* kKinds[] = {"operand", "result", "scratch"};
  constexpr const char* kAccess[] = {"read", "written", "updated"};
  const LaunchShape& s = kernel.shape;
  std::string text = absl::StrCat("// ", s.grid.x, " x ", s.grid.y, " x ",
                                  s.grid.z, " blocks of ", s.threads, "\n");
  for (size_t k = 0; k < kernel.parameters.size(); ++k) {
    const KernelParameter& p = kernel.parameters[k];
    absl::StrAppend(&text, "// p", k, ": ", kKinds[p.kind], " ", p.index, ", ",
                    p.bytes, " bytes at ", p.offset, ", ",
                    kAccess[static_cast<int>(p.access)], "\n");
  }
  return text + kernel.text;
}

// The kernels of graphs, one behind another.
class Kernels {
 public:
  explicit Kernels(std::string name) : name_(std::move(name)) {}
  ~Kernels() {
    ExpectGolden(absl::StrCat("tests/kernels/gpu/emit/golden/", name_, ".txt"),
                 text_);
  }

  void Add(const std::string& what, const Module& module,
           const plan::Target& target = plan::GpuTarget(),
           const EmitOptions& options = {}) {
    SCOPED_TRACE(what);
    ASSERT_OK_AND_ASSIGN(const plan::Plan plan, plan::MakePlan(module, target));
    for (const plan::Region& region : plan.entry().regions) {
      if (region.launches == 0) continue;
      ASSERT_OK_AND_ASSIGN(const std::vector<EmittedKernel> kernels,
                           EmitRegion(plan.module, region, options));
      absl::StrAppend(&text_, text_.empty() ? "" : "\n", "// ---- ", what,
                      "\n");
      for (const EmittedKernel& k : kernels) {
        absl::StrAppend(&text_, Describe(k));
      }
    }
  }
  void Add(const std::string& what, const SampleGraph& graph,
           DType dtype = DType::kF32,
           const plan::Target& target = plan::GpuTarget(),
           const EmitOptions& options = {}) {
    Add(what, Build(graph, dtype), target, options);
  }

 private:
  const std::string name_;
  std::string text_;
};

Values SumOfTwo(const Values& p) { return {p[0] + p[1]}; }

TEST(GoldenKernels, Loops) {
  Kernels kernels("loops");
  const EmitOptions small = {.multiprocessors = 1}, strict = {.strict = true};
  const plan::Target target = plan::GpuTarget();
  kernels.Add("vectors and a rest", {{{1027}, {1027}}, Chain});
  kernels.Add("one element", {{{1}, {1}}, SumOfTwo});
  kernels.Add("fewer than a vector", {{{3}, {3}}, SumOfTwo});
  kernels.Add("more than runs at a time", {{{1 << 16}, {1 << 16}}, SumOfTwo},
              DType::kF32, target, small);
  for (const int64_t n : {int64_t{1} << 31, (int64_t{1} << 31) - 1}) {
    kernels.Add(absl::StrCat(n, " turns"), {{{n}, {n}}, SumOfTwo}, DType::kU8);
  }
  kernels.Add("2^31 bytes are read in places",
              {{{int64_t{1} << 31, 2}},
               [](const Values& p) {
                 return Values{Apply(kSlice, {p[0]},
                                     {{"start_indices", Dims{1 << 30, 1}},
                                      {"limit_indices", Dims{(1 << 30) + 8, 2}},
                                      {"strides", Dims{1, 1}}}) +
                               1.0};
               }},
              DType::kU8);
  kernels.Add("a row for all and a number for all",
              {{{6, 8}, {8}, {}}, [](const Values& p) {
                 return Values{p[0] * Spread(p[1], {6, 8}, {0}) +
                               Spread(p[2], {6, 8}, {0, 1})};
               }});
  kernels.Add("a row and a number, each of two axes",
              {{{6, 8}, {1, 8}, {1, 1}}, [](const Values& p) {
                 return Values{p[0] * Spread(Reshaped(p[1], {8}), {6, 8}, {0}) +
                               Spread(Reshaped(p[2], {}), {6, 8}, {0, 1})};
               }});
  kernels.Add("halves", {{{16}, {16}}, Chain}, DType::kBF16);
  kernels.Add("halves, strict", {{{16}, {16}}, Chain}, DType::kBF16, target,
              strict);
  kernels.Add("halves side by side",
              {{{3}, {4}}, [](const Values& p) {
                 return Values{Apply(kConcatenate, {p[0], p[1]},
                                     {{"dimension", int64_t{0}}})};
               }},
              DType::kF16);
  kernels.Add("halves that are moved",
              {{{16}, {16}},
               [](const Values& p) {
                 return Values{Choose(
                     Compare(p[0], CompareDirection::kLt, p[1]), p[1], p[0])};
               }},
              DType::kF16);
  for (const bool first : {false, true}) {
    kernels.Add("a half that is moved or computed",
                {{{16}, {16}},
                 [first](const Values& p) {
                   const Expression y = p[0] * p[1];
                   return Values{
                       Choose(Compare(p[0], CompareDirection::kLt, p[1]),
                              first ? y : p[0], first ? p[0] : y)};
                 }},
                DType::kF16);
  }
}

TEST(GoldenKernels, Places) {
  Kernels kernels("places");
  kernels.Add("edges", {{{9}}, Edges}, DType::kF16);
  kernels.Add("backwards", {{{5, 6}, {10, 3}}, [](const Values& p) {
                              const Expression back =
                                  Apply(kReverse, {p[0]},
                                        {{"dimensions", Dims{0, 1}}});
                              return Values{Reshaped(back, {10, 3}) + p[1]};
                            }});
  kernels.Add("divided below 0",
              {{{6, 5}}, [](const Values& p) {
                 const Expression turned = Transposed(p[0], {1, 0});
                 return Values{Padded(Reshaped(turned, {30}), 2, 1, 1)};
               }});
  kernels.Add("along an axis", {{{4, 6}}, [](const Values& p) {
                                  const Expression place(
                                      p[0].scope(),
                                      p[0].scope()->builder.Add(
                                          kIota, {},
                                          {{"dtype", DType::kF32},
                                           {"dims", Dims{4, 6}},
                                           {"iota_dimension", int64_t{1}}}));
                                  return Values{p[0] * place};
                                }});
  kernels.Add(
      "divided backwards",
      {{{5, 6}, {30}}, [](const Values& p) {
         const Expression turned = Reshaped(Transposed(p[0], {1, 0}), {30});
         const Expression back =
             Apply(kReverse, {turned}, {{"dimensions", Dims{0}}});
         return Values{back + p[1]};
       }});
}

TEST(GoldenKernels, RunTimePlaces) {
  Kernels kernels("run_time_places");
  for (const DType at : {DType::kS32, DType::kU8}) {
    const Shape x = Shape::Of(DType::kF32, {24, 6});
    kernels.Add(
        absl::StrCat("from ", DTypeName(at), " on"),
        Build({x, Shape::Scalar(at), Shape::Scalar(at)}, [](const Values& p) {
          return Values{Apply(kDynamicSlice, {p[0], p[1], p[2]},
                              {{"slice_sizes", Dims{8, 6}}}) +
                        1.0};
        }));
  }
  kernels.Add(
      "rows by number",
      Build({Shape::Of(DType::kF32, {24, 8}), Shape::Of(DType::kS64, {5, 1})},
            [](const Values& p) {
              return Values{Apply(kGather, {p[0], p[1]},
                                  {{"offset_dims", Dims{1}},
                                   {"collapsed_slice_dims", Dims{0}},
                                   {"start_index_map", Dims{0}},
                                   {"index_vector_dim", int64_t{1}},
                                   {"slice_sizes", Dims{1, 8}}}) +
                            1.0};
            }));
  kernels.Add("two from one number on",
              Build({Shape::Of(DType::kF32, {24, 6}),
                     Shape::Of(DType::kF32, {24, 6}),
                     Shape::Scalar(DType::kS32), Shape::Scalar(DType::kS32)},
                    [](const Values& p) {
                      return Values{
                          FromOn({p[0] * p[1], p[2], p[3]}, {8, 6})};
                    }));
  kernels.Add("padded from a number on",
              Build({Shape::Of(DType::kF32, {24}), Shape::Scalar(DType::kS32)},
                    [](const Values& p) {
                      return Values{Padded(Apply(kDynamicSlice, {p[0], p[1]},
                                                 {{"slice_sizes", Dims{9}}}),
                                           2, 3, 0)};
                    }));
}

Values SoftmaxOf(const Values& p) { return {Softmax(p[0])}; }
Values RowSum(const Values& p) { return {Summed(p[0], {1})}; }

Values Shares(const Values& p) {
  return {p[0] / Spread(Summed(p[0], {1}), p[0].dims(), {1})};
}
Values ThreeKept(const Values& p) {
  const Dims dims = p[0].dims();
  const Expression y = Apply(kTanh, {p[0]});
  const Expression z =
      Apply(kExponential, {p[0] - Spread(Summed(y, {1}), dims, {1})});
  return {p[0] * y * z * Spread(Summed(z, {1}), dims, {1})};
}

TEST(GoldenKernels, Rows) {
  Kernels kernels("rows");
  const plan::Target target = plan::GpuTarget();
  plan::Target whole = target;
  whole.split_above_elements = int64_t{1} << 40;
  kernels.Add("many in a warp", {{{1000, 5}}, RowSum});
  kernels.Add("spare rows of a warp", {{{9, 31}}, SoftmaxOf});
  kernels.Add("one each by a warp", {{{64, 260}}, RowSum});
  kernels.Add("just short enough for a warp", {{{64, 256}}, RowSum});
  kernels.Add("just too long for a warp", {{{2000, 1028}}, RowSum});
  kernels.Add("few by a block", {{{1055, 300}}, RowSum});
  kernels.Add("as many as warps keep busy", {{{1056, 300}}, RowSum});
  kernels.Add("long by a block", {{{2000, 1030}}, SoftmaxOf});
  kernels.Add("of one", Fused({{{64, 1}}, SoftmaxOf}, DType::kF32));
  kernels.Add("two that stay, and weights", {{{9, 32}, {32}}, LayerNorm});
  kernels.Add("halves, strict", {{{3, 64}, {64}}, LayerNorm}, DType::kBF16,
              target, {.strict = true});
  kernels.Add("more than stays", {{{2000, 40000}}, SoftmaxOf});
  kernels.Add("as many halves as stay", {{{2000, 16384}}, SoftmaxOf},
              DType::kBF16);
  kernels.Add("more halves than stay", {{{2000, 24576}}, SoftmaxOf},
              DType::kBF16);
  kernels.Add("more doubles than stay", {{{2000, 8194}}, SoftmaxOf},
              DType::kF64);
  kernels.Add("more than 1024 threads keep", {{{2000, 36864}}, Shares});
  kernels.Add("kept for two passes", {{{9, 32}}, ThreeKept});
  kernels.Add("more than a warp keeps", {{{2000, 1024}}, ThreeKept});
  kernels.Add("what is made again",
              {{{9, 32}}, [](const Values& p) {
                 const Expression place(p[0].scope(),
                                        p[0].scope()->builder.Add(
                                            kIota, {},
                                            {{"dtype", DType::kF32},
                                             {"dims", Dims{9, 32}},
                                             {"iota_dimension", int64_t{1}}}));
                 const Expression sum = Summed(p[0] * place, {1});
                 return Values{(p[0] - Spread(sum, {9, 32}, {1})) * place};
               }});
  kernels.Add("largest", {{{3, 33}}, SumAndLargest}, DType::kF32, whole);
  kernels.Add("complex", {{{200, 40}}, RowSum}, DType::kC64, whole);
  kernels.Add("none", {{{3, 0}}, RowSum});
}

TEST(GoldenKernels, Parts) {
  Kernels kernels("parts");
  kernels.Add("all", {{{20011}}, FullSum});
  kernels.Add("all integers", {{{4096}}, FullSum}, DType::kS32);
  kernels.Add("few rows", {{{2, 5000}}, SumAndLargest});
  kernels.Add("squares that leave too", {{{2, 4096}}, [](const Values& p) {
                                           const Expression y = p[0] * p[0];
                                           return Values{Summed(y, {1}), y};
                                         }});
  kernels.Add(
      "with a number per row",
      {{{2, 5000}, {2}}, [](const Values& p) {
         return Values{Summed(p[0] * Spread(p[1], {2, 5000}, {1}), {1})};
       }});
  kernels.Add("in two, with a number per row that leaves alone",
              Fused({{{264, 4096}, {264}}, [](const Values& p) {
                       const Expression scaled =
                           p[0] * Spread(p[1], {264, 4096}, {1});
                       return Values{Summed(p[0], {1}), scaled};
                     }},
                    DType::kF32));
  kernels.Add("few columns", {{{5000, 132}}, ColumnSums});
  kernels.Add(
      "few complex columns",
      {{{5000, 3}}, [](const Values& p) { return Values{Summed(p[0], {0})}; }},
      DType::kC64);
}

TEST(GoldenKernels, Columns) {
  Kernels kernels("columns");
  kernels.Add("one at a time", {{{40, 37}}, ColumnSums});
  kernels.Add("by fours", {{{40, 132}}, ColumnSums});
  kernels.Add("bytes", {{{40, 4800}}, ColumnSums}, DType::kS8);
  kernels.Add("largest and smallest",
              {{{40, 132}}, [](const Values& p) {
                 const Attributes along = {{"dimension", int64_t{0}}};
                 return Values{Apply(kArgMax, {p[0]}, along),
                               Apply(kArgMin, {p[0]}, along), Summed(p[0], {0}),
                               MaxOf(p[0], {0})};
               }});
  for (const int sums : {4, 5}) {
    kernels.Add(absl::StrCat(sums, " complex sums"),
                {{{40, 132}},
                 [sums](const Values& p) { return Sums(p[0], sums, {0}); }},
                DType::kC64);
  }
  kernels.Add("of one row", Fused({{{1, 37}}, ColumnSums}, DType::kF32));
  kernels.Add("between axes", {{{6, 40, 8}}, [](const Values& p) {
                                 return Values{Summed(p[0], {1})};
                               }});
  kernels.Add("squares that leave too", {{{40, 132}}, [](const Values& p) {
                                           const Expression y = p[0] * p[0];
                                           return Values{Summed(y, {0}), y};
                                         }});
  kernels.Add("shares of their sums",
              Fused({{{40, 132}}, ColumnShares}, DType::kF32));
  kernels.Add("none", {{{0, 5}}, ColumnSums});
}

TEST(GoldenKernels, Transposes) {
  Kernels kernels("transposes");
  plan::Target target = plan::GpuTarget();
  target.cached_bytes = 0;
  target.least_transposed = 1;
  kernels.Add("tiles", {{{33, 65}, {65, 33}}, Turned}, DType::kF32, target);
  kernels.Add("of 16 bytes", {{{33, 65}, {65, 33}}, Turned}, DType::kC128,
              target);
  kernels.Add(
      "more than there are tiles for",
      {{{33, 65}, {33, 65}, {33, 65}},
       [](const Values& p) {
         return Values{Transposed(p[0], {1, 0}) * Transposed(p[1], {1, 0}) +
                       Transposed(p[2], {1, 0})};
       }},
      DType::kC128, target);
  kernels.Add("with numbers along what is crossed",
              {{{33, 65}, {65}}, [](const Values& p) {
                 return Values{Transposed(p[0], {1, 0}) *
                               Spread(p[1], {65, 33}, {1})};
               }},
              DType::kF32, target);
  kernels.Add("one with edges, one without",
              {{{33, 63}, {33, 65}},
               [](const Values& p) {
                 const Expression wide =
                     Apply(kPad,
                           {p[0], Filled(p[0].scope(),
                                         Shape::Scalar(p[0].dtype()), -1)},
                           {{"edge_padding_low", Dims{0, 1}},
                            {"edge_padding_high", Dims{0, 1}},
                            {"interior_padding", Dims{0, 0}}});
                 return Values{Transposed(wide, {1, 0}) *
                               Transposed(p[1], {1, 0})};
               }},
              DType::kF32, target);
  // Its neighbours lie apart here and there: no tiles.
  kernels.Add("across a loop that is divided",
              {{{6, 4, 33}}, [](const Values& p) {
                 const Expression turned = Transposed(p[0], {2, 1, 0});
                 return Values{Apply(kTanh, {Reshaped(turned, {33, 24})})};
               }},
              DType::kF32, target);
  kernels.Add("along the one that most is read along",
              {{{7, 5, 40}, {7, 5, 40}, {40, 5, 7}},
               [](const Values& p) {
                 return Values{Transposed(p[0] * p[1], {2, 1, 0}) + p[2]};
               }},
              DType::kF32, target);
  kernels.Add("two that cross each other",
              {{{40, 7, 36}, {36, 40, 7}},
               [](const Values& p) {
                 return Values{Transposed(p[0], {1, 2, 0}) +
                               Transposed(p[1], {2, 0, 1})};
               }},
              DType::kF32, target);
}

Expression DotOf(const Expression& a, const Expression& b, const Dims& batch,
                 int64_t left, int64_t right) {
  return Apply(kDotGeneral, {a, b},
               {{"lhs_batching_dimensions", batch},
                {"lhs_contracting_dimensions", Dims{left}},
                {"rhs_batching_dimensions", batch},
                {"rhs_contracting_dimensions", Dims{right}}});
}

TEST(GoldenKernels, Products) {
  Kernels kernels("products");
  const plan::Target target = plan::GpuTarget();
  kernels.Add("with bias and relu", {{{33, 31}, {31, 65}, {65}}, Product});
  kernels.Add("of halves", {{{33, 31}, {31, 65}, {65}}, Product}, DType::kBF16);
  kernels.Add("of halves, strict", {{{33, 31}, {31, 65}, {65}}, Product},
              DType::kBF16, target, {.strict = true});
  kernels.Add("of f32 as TF32", {{{33, 31}, {31, 65}, {65}}, Product},
              DType::kF32, target, {.tf32 = true});
  kernels.Add("of f64", {{{33, 31}, {31, 65}, {65}}, Product}, DType::kF64);
  kernels.Add("of halves, without matrix units",
              {{{33, 31}, {31, 65}, {65}}, Product}, DType::kF16, target,
              {.matrix_units = false});
  kernels.Add(
      "of halves, in large tiles and pairs",
      {{{3, 1000, 70}, {3, 1100, 70}},
       [](const Values& p) { return Values{DotOf(p[0], p[1], {0}, 2, 2)}; }},
      DType::kF16);
  kernels.Add("of halves, in pairs along and across",
              {{{40, 30}, {30, 50}, {50}}, Product}, DType::kBF16);
  kernels.Add(
      "of a factor of more than 2^31 elements",
      {{{1 << 16, 1 << 16}, {1 << 16, 2}},
       [](const Values& p) { return Values{DotOf(p[0], p[1], {}, 1, 0)}; }},
      DType::kS8);
  kernels.Add(
      "in batches, one transposed",
      {{{3, 40, 8}, {3, 50, 8}},
       [](const Values& p) { return Values{DotOf(p[0], p[1], {0}, 2, 2)}; }},
      DType::kS32);
  kernels.Add(
      "along the first axis",
      {{{8, 40}, {8, 50}},
       [](const Values& p) { return Values{DotOf(p[0], p[1], {}, 0, 0)}; }},
      DType::kS32);
}

// Rows of 40 folded by a computation of two numbers.
Module FoldedBy(const std::function<ValueId(ComputationBuilder&)>& body,
                DType dtype = DType::kF32) {
  Module module("folded");
  ComputationBuilder two(&module, "two");
  two.Parameter(Shape::Scalar(dtype));
  two.Parameter(Shape::Scalar(dtype));
  const auto called = two.Finish({body(two)});
  EXPECT_OK(called);
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(dtype, {1000, 40}));
  const ValueId zero = b.Constant(ScalarOf(dtype, 0));
  EXPECT_OK(b.Finish(
      {b.Add(kReduce, {x, zero}, {{"dimensions", Dims{1}}}, {*called})}));
  return module;
}

// Two sums and how they go together, in one instruction, and a largest value.
Module SumsAtOnce() {
  Module module("sums");
  ComputationBuilder both(&module, "both");
  const Shape number = Shape::Scalar(DType::kF32);
  for (int k = 0; k < 4; ++k) both.Parameter(number);
  const auto called =
      both.Finish({both.Add(kAdd, {0, 2}), both.Add(kAdd, {1, 3})});
  EXPECT_OK(called);
  ComputationBuilder largest(&module, "largest");
  largest.Parameter(number);
  largest.Parameter(number);
  const auto other = largest.Finish({largest.Add(kMaximum, {0, 1})});
  EXPECT_OK(other);
  ComputationBuilder b(&module, "main");
  const Shape shape = Shape::Of(DType::kF32, {1000, 40});
  const ValueId x = b.Parameter(shape), y = b.Parameter(shape);
  const ValueId zero = b.Constant(Literal::Scalar(0.0f));
  const ValueId sums =
      b.Add(kReduce, {x, y, zero, zero}, {{"dimensions", Dims{1}}}, {*called});
  const ValueId most =
      b.Add(kReduce, {x, zero}, {{"dimensions", Dims{1}}}, {*other});
  EXPECT_OK(b.Finish({b.Add(kMultiply, {sums, sums + 1}), sums + 1, most}));
  return module;
}

// What looks like one of the dialect's folds and is none.
TEST(GoldenKernels, Folds) {
  Kernels kernels("folds");
  kernels.Add("the second twice", FoldedBy([](ComputationBuilder& b) {
                return b.Add(kAdd, {1, 1});
              }));
  kernels.Add("the second negated", FoldedBy([](ComputationBuilder& b) {
                return b.Add(kNegate, {1});
              }));
  kernels.Add("sum with something unused", FoldedBy([](ComputationBuilder& b) {
                const ValueId sum = b.Add(kAdd, {0, 1});
                b.Add(kNegate, {sum});
                return sum;
              }));
  kernels.Add("the second", FoldedBy([](ComputationBuilder& b) {
                b.Add(kAdd, {0, 1});
                return ValueId{1};
              }));
  kernels.Add("a difference", FoldedBy([](ComputationBuilder& b) {
                return b.Add(kSubtract, {0, 1});
              }));
  kernels.Add("a difference of halves", FoldedBy(
                                            [](ComputationBuilder& b) {
                                              return b.Add(kSubtract, {0, 1});
                                            },
                                            DType::kBF16));
  kernels.Add("two sums at once", SumsAtOnce());
  kernels.Add("with a number", FoldedBy([](ComputationBuilder& b) {
                const ValueId two = b.Constant(Literal::Scalar(2.0f));
                return b.Add(kAdd, {0, b.Add(kMultiply, {1, two})});
              }));
  kernels.Add("sum of a square", FoldedBy([](ComputationBuilder& b) {
                return b.Add(kAdd, {0, b.Add(kMultiply, {1, 1})});
              }));
}

TEST(GoldenKernels, Updates) {
  Kernels kernels("updates");
  const Shape at = Shape::Scalar(DType::kS32);
  const auto update = [](const Values& p) {
    return Values{Apply(kDynamicUpdateSlice, p)};
  };
  const auto shape = [](const Dims& dims) {
    return Shape::Of(DType::kF32, dims);
  };
  kernels.Add("a part of a row", Build({shape({64}), shape({8}), at}, update));
  kernels.Add("rows", Build({shape({64, 8}), shape({5, 8}), at, at}, update));
  kernels.Add("columns",
              Build({shape({64, 8}), shape({64, 6}), at, at}, update));
  kernels.Add("one element",
              Build({shape({64, 8}), shape({1, 1}), at, at}, update));
  for (const Dims& dims : {Dims{1 << 15, 1 << 16}, Dims{3, 715827883},
                           Dims{(1 << 15) + 1, 1 << 16}}) {
    kernels.Add(absl::StrCat("one of ", dims[0], " x ", dims[1]),
                Build({Shape::Of(DType::kU8, dims),
                       Shape::Of(DType::kU8, {1, 1}), at, at},
                      update));
  }
  kernels.Add("beyond 2^31",
              Build({Shape::Of(DType::kU8, {(int64_t{1} << 31) + 64}),
                     Shape::Of(DType::kU8, {64}), at},
                    update));
}

TEST(GoldenKernels, Scatters) {
  Kernels kernels("scatters");
  const auto shape = [](const Dims& dims) {
    return Shape::Of(DType::kF32, dims);
  };
  kernels.Add(
      "rows by number",
      Scattered(shape({10, 4}), Shape::Of(DType::kS32, {6, 1}), shape({6, 4}),
                {{"index_vector_dim", int64_t{1}},
                 {"inserted_window_dims", Dims{0}},
                 {"scatter_dims_to_operand_dims", Dims{0}},
                 {"update_window_dims", Dims{1}}}));
  kernels.Add(
      "rows by bare numbers",
      Scattered(shape({10, 4}), Shape::Of(DType::kS32, {6}), shape({6, 4}),
                {{"index_vector_dim", int64_t{1}},
                 {"inserted_window_dims", Dims{0}},
                 {"scatter_dims_to_operand_dims", Dims{0}},
                 {"update_window_dims", Dims{1}}}));
  for (const int64_t n : {(int64_t{1} << 31) - 1, int64_t{1} << 31}) {
    kernels.Add(
        absl::StrCat("elements of ", n),
        Scattered(Shape::Of(DType::kU8, {n}), Shape::Of(DType::kS32, {6, 1}),
                  Shape::Of(DType::kU8, {6}),
                  {{"index_vector_dim", int64_t{1}},
                   {"inserted_window_dims", Dims{0}},
                   {"scatter_dims_to_operand_dims", Dims{0}},
                   {"update_window_dims", Dims{}}}));
  }
  kernels.Add("windows of one row",
              Scattered(shape({10, 4}), Shape::Of(DType::kS32, {6, 1}),
                        shape({6, 1, 4}),
                        {{"index_vector_dim", int64_t{1}},
                         {"inserted_window_dims", Dims{}},
                         {"scatter_dims_to_operand_dims", Dims{0}},
                         {"update_window_dims", Dims{1, 2}}}));
  kernels.Add(
      "elements by two numbers",
      Scattered(Shape::Of(DType::kS16, {1000, 4000}),
                Shape::Of(DType::kU8, {2, 6}), Shape::Of(DType::kS16, {6}),
                {{"index_vector_dim", int64_t{0}},
                 {"inserted_window_dims", Dims{0, 1}},
                 {"scatter_dims_to_operand_dims", Dims{1, 0}},
                 {"update_window_dims", Dims{}}}));
  kernels.Add("rows where threads meet: sums of f32",
              ScatteredRows(DType::kF32, kAdd));
  kernels.Add("rows where threads meet: least f32",
              ScatteredRows(DType::kF32, kMinimum));
  kernels.Add("rows where threads meet: s64",
              ScatteredRows(DType::kS64, kMaximum));
}

using Ops = std::vector<const OpDef*>;

// Each op of the first value, or of the first two, all joined to one result.
std::function<Values(const Values&)> AllOf(const Ops& unary, const Ops& binary,
                                           const OpDef& join = kAdd) {
  return [=, &join](const Values& p) {
    Values all;
    for (const OpDef* op : unary) all.push_back(Apply(*op, {p[0]}));
    for (const OpDef* op : binary) all.push_back(Apply(*op, {p[0], p[1]}));
    Expression joined = all[0];
    for (size_t k = 1; k < all.size(); ++k) {
      joined = Apply(join, {joined, ConvertTo(all[k], joined.dtype())});
    }
    return Values{joined};
  };
}

Expression Compared(const Values& p) {
  using enum CompareDirection;
  Expression joined = Compare(p[0], kEq, p[1]);
  for (const CompareDirection direction : {kNe, kGe, kGt, kLe, kLt}) {
    joined = Apply(kXor, {joined, Compare(p[0], direction, p[1])});
  }
  return joined;
}

TEST(GoldenKernels, Blocks) {
  Kernels kernels("blocks");
  kernels.Add("sums of rows", ScanModule(ScanBody::kSum, {DType::kF32},
                                         {7, 1000}, 1, /*reverse=*/true));
  kernels.Add("sums in parts",
              ScanModule(ScanBody::kSum, {DType::kBF16}, {20000}, 0, false));
  kernels.Add("recurrences of columns",
              ScanModule(ScanBody::kRecurrence, {DType::kF32, DType::kF32},
                         {300, 5}, 0, false));
  kernels.Add("short runs",
              SortModule(SortBody::kNever, {DType::kS32}, {50, 30}, 1));
  kernels.Add("a tile by digits",
              SortModule(SortBody::kDescending, {DType::kF32, DType::kS32},
                         {3000, 2}, 0));
  kernels.Add("tiles by digits",
              SortModule(SortBody::kAscending, {DType::kU16, DType::kF64},
                         {2, 5000}, 1));
  kernels.Add("many tiles by digits",
              SortModule(SortBody::kDescending, {DType::kBool}, {200000}, 0));
  kernels.Add("exchanges", SortModule(SortBody::kLexicographic,
                                      {DType::kS32, DType::kU8}, {1500}, 0));
}

TEST(GoldenKernels, Ops) {
  Kernels kernels("ops");
  const Ops functions = {&kAbs,    &kExponential, &kExponentialMinusOne,
                         &kLog,    &kLogPlusOne,  &kLogistic,
                         &kNegate, &kRsqrt,       &kSign,
                         &kSine,   &kCosine,      &kSqrt,
                         &kTan,    &kTanh,        &kReal,
                         &kImag};
  const Ops arithmetic = {&kAdd, &kDivide, &kMultiply, &kPower, &kSubtract};
  const std::vector<Dims> two = {{1}, {1}};
  kernels.Add("of all numbers", {two, AllOf(functions, arithmetic)});
  kernels.Add("of complex ones", {two, AllOf(functions, arithmetic)},
              DType::kC64);
  kernels.Add(
      "of reals",
      {two, AllOf({&kCeil, &kErf, &kErfc, &kFloor, &kIsFinite, &kLgamma,
                   &kRoundNearestAfz, &kRoundNearestEven},
                  {&kAtan2, &kComplex, &kMaximum, &kMinimum, &kRemainder})},
      DType::kF32);
  kernels.Add("clamped", {{{1}, {1}, {1}}, [](const Values& p) {
                            return Values{Apply(kClamp, p)};
                          }});
  kernels.Add("of bits",
              {two, AllOf({&kNot, &kPopcnt, &kCountLeadingZeros},
                          {&kAnd, &kOr, &kXor, &kShiftLeft,
                           &kShiftRightArithmetic, &kShiftRightLogical})},
              DType::kS32);
  kernels.Add("of truths", {two, AllOf({&kNot}, {&kAnd, &kOr, &kXor}, kXor)},
              DType::kBool);
  kernels.Add("comparisons",
              {two, [](const Values& p) { return Values{Compared(p)}; }});
}

TEST(GoldenKernels, Numbers) {
  Kernels kernels("numbers");
  const auto plus = [](DType dtype, double x) {
    return Build(
        {{{1}}, [x](const Values& p) { return Values{p[0] - Like(p[0], x)}; }},
        dtype);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const DType d : {DType::kF32, DType::kF64, DType::kBF16, DType::kC64}) {
    for (const double x : {0.1, -inf, nan}) {
      kernels.Add(absl::StrCat(DTypeName(d), " and ", x), plus(d, x));
    }
  }
  kernels.Add("s8 and 5", plus(DType::kS8, 5));
  kernels.Add("s32 and its least", plus(DType::kS32, -0x1p31));
  kernels.Add("u64 and 2^63", plus(DType::kU64, 0x1p63));
}

}  // namespace
}  // namespace hawser::gpu
