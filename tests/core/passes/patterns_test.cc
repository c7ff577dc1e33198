// Every row of canonicalization's table: what it is asked of, and what is left.
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/passes/canonicalize.h"
#include "tests/core/passes/build_module.h"
#include "tests/core/passes/module_values.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

const Shape kS23 = Shape::Of(DType::kS32, {2, 3});
const Shape kB23 = Shape::Of(DType::kBool, {2, 3});
const Shape kC = Shape::Scalar(DType::kC64);

// One result, of the given parameters, which are values 0, 1, ...
using Expr = std::function<ValueId(ComputationBuilder&)>;

struct PatternCase {
  const OpDef& op;
  const char* pattern;
  std::vector<Shape> parameters;
  Expr before;
  const char* after;  // the last lines of the text
};

Literal AllBits(DType dtype) {
  const std::string ones(16, '\xff');
  return *Literal::FromBytes(Shape::Scalar(dtype),
                             ones.substr(0, ByteWidth(dtype)));
}

// One number everywhere, of the dtype of parameter 0; -1 is all bits.
ValueId All(ComputationBuilder& b, double value) {
  const DType dtype = b.shape(0).dtype();
  Literal scalar = ScalarOf(dtype, std::abs(value));
  if (std::signbit(value)) {
    scalar = IsUnsigned(dtype) ? AllBits(dtype) : ScalarOf(dtype, value);
  }
  return b.Add(kBroadcastInDim, {b.Constant(std::move(scalar))},
               {{"dims", kF23.dims()}, {"broadcast_dimensions", Dims{}}});
}

Expr Of(const OpDef& op, Attributes attributes = {}) {
  return [&op, attributes](ComputationBuilder& b) {
    return b.Add(op, {0}, attributes);
  };
}
Expr Twice(const OpDef& op, Attributes inner = {}, Attributes outer = {}) {
  return [&op, inner, outer](ComputationBuilder& b) {
    return b.Add(op, {b.Add(op, {0}, inner)}, outer);
  };
}
Expr With(const OpDef& op, ValueId x, ValueId y) {
  return [&op, x, y](ComputationBuilder& b) { return b.Add(op, {x, y}); };
}
Expr WithAll(const OpDef& op, double value, bool first = false) {
  return [&op, value, first](ComputationBuilder& b) {
    const ValueId all = All(b, value);
    return first ? b.Add(op, {all, 0}) : b.Add(op, {0, all});
  };
}

Attributes To(DType dtype) { return {{"dtype", dtype}}; }
Attributes Cut(Dims start, Dims limit, Dims strides) {
  return {{"start_indices", std::move(start)},
          {"limit_indices", std::move(limit)},
          {"strides", std::move(strides)}};
}
Attributes Reverse(Dims axes) { return {{"dimensions", std::move(axes)}}; }
Attributes Permute(Dims axes) { return {{"permutation", std::move(axes)}}; }
Attributes Spread(Dims dims, Dims axes) {
  return {{"dims", std::move(dims)}, {"broadcast_dimensions", std::move(axes)}};
}

Body BodyOf(const PatternCase& c) {
  return [&c](ComputationBuilder& b) {
    for (const Shape& shape : c.parameters) b.Parameter(shape);
    return std::vector<ValueId>{c.before(b)};
  };
}

std::string Becomes(const PatternCase& c) {
  bool changed = false;
  const auto out = Canonicalize(BuildModule(BodyOf(c)), &changed);
  EXPECT_OK(out);
  EXPECT_OK(Verify(*out));
  return absl::StrCat(changed ? "" : "unchanged ", EntryText(*out));
}

void ExpectAll(absl::Span<const PatternCase> cases,
               std::set<std::pair<std::string, std::string>>* seen) {
  for (const PatternCase& c : cases) {
    EXPECT_THAT(Becomes(c), testing::EndsWith(absl::StrCat(c.after, "\n")))
        << c.op.name << ": " << c.pattern;
    EXPECT_THAT(Becomes(c), testing::Not(testing::HasSubstr("unchanged")))
        << c.op.name << ": " << c.pattern;
    seen->emplace(c.op.name, c.pattern);
  }
}

std::vector<PatternCase> Arithmetic() {
  const auto negated = [](const OpDef& op, bool first) -> Expr {
    return [&op, first](ComputationBuilder& b) {
      const ValueId y = b.Add(kNegate, {1});
      return first ? b.Add(op, {y, 0}) : b.Add(op, {0, y});
    };
  };
  const char *same = "return %0",
             *minus = "f32[2,3] = subtract(%0, %1)\n  return %3";
  return {
      {kAbs, "abs of abs", {kF23}, Twice(kAbs), "abs(%0)\n  return %1"},
      {kAbs,
       "abs of negate",
       {kF23},
       [](ComputationBuilder& b) { return b.Add(kAbs, {b.Add(kNegate, {0})}); },
       "abs(%0)\n  return %2"},
      {kAdd, "x + -0", {kF23}, WithAll(kAdd, -0.0f), same},
      {kAdd, "x + -0", {kS23}, WithAll(kAdd, 0, true), same},
      {kAdd, "x + negate", {kF23, kF23}, negated(kAdd, false), minus},
      {kAdd, "x + negate", {kF23, kF23}, negated(kAdd, true), minus},
      {kCeil, "ceil of ceil", {kF23}, Twice(kCeil), "return %1"},
      {kDivide, "x / 1", {kF23}, WithAll(kDivide, 1), same},
      {kFloor, "floor of floor", {kF23}, Twice(kFloor), "return %1"},
      {kMaximum, "max of itself", {kF23}, With(kMaximum, 0, 0), same},
      {kMinimum, "min of itself", {kF23}, With(kMinimum, 0, 0), same},
      {kMultiply, "x * 1", {kF23}, WithAll(kMultiply, 1, true), same},
      {kNegate, "negate of negate", {kC}, Twice(kNegate), same},
      {kRoundNearestAfz,
       "round of round",
       {kF23},
       Twice(kRoundNearestAfz),
       "return %1"},
      {kRoundNearestEven,
       "round of round",
       {kF23},
       Twice(kRoundNearestEven),
       "return %1"},
      {kSign, "sign of sign", {kF23}, Twice(kSign), "return %1"},
      {kSubtract, "x - 0", {kF23}, WithAll(kSubtract, 0), same},
      {kSubtract,
       "x - 0",
       {kC},
       [](ComputationBuilder& b) {
         return b.Add(kSubtract, {0, b.Constant(Literal::Zeros(kC))});
       },
       same},
      {kSubtract,
       "x - negate",
       {kF23, kF23},
       negated(kSubtract, false),
       "f32[2,3] = add(%0, %1)\n  return %3"},
  };
}

std::vector<PatternCase> Bits() {
  const auto opposite = [](CompareDirection d) -> Expr {
    return [d](ComputationBuilder& b) {
      return b.Add(
          kNot, {b.Add(kCompare, {0, 1},
                       {{"direction", std::string(CompareDirectionName(d))}})});
    };
  };
  const char* same = "return %0";
  return {
      {kAnd, "x and x", {kS23}, With(kAnd, 0, 0), same},
      {kAnd, "x and all", {kS23}, WithAll(kAnd, -1), same},
      {kAnd, "x and all", {kB23}, WithAll(kAnd, true, true), same},
      {kNot, "not of not", {kB23}, Twice(kNot), same},
      {kNot,
       "not of compare",
       {kF23, kF23},
       opposite(CompareDirection::kEq),
       "compare(%0, %1) direction=\"NE\"\n  return %3"},
      {kNot,
       "not of compare",
       {kS23, kS23},
       opposite(CompareDirection::kLt),
       "compare(%0, %1) direction=\"GE\"\n  return %3"},
      {kOr, "x or x", {kS23}, With(kOr, 0, 0), same},
      {kOr, "x or 0", {kS23}, WithAll(kOr, 0, true), same},
  };
}

std::vector<PatternCase> Choices() {
  const char* same = "return %0";
  return {
      {kSelect,
       "select of one",
       {kB23, kF23},
       [](ComputationBuilder& b) {
         return b.Add(kSelect, {0, 1, 1});
       },
       "return %1"},
      {kSelect,
       "select of truths",
       {kB23},
       [](ComputationBuilder& b) {
         const ValueId yes = All(b, true);
         return b.Add(kSelect, {0, yes, All(b, false)});
       },
       same},
      {kSelect,
       "select by not",
       {kB23, kF23, kF23},
       [](ComputationBuilder& b) {
         return b.Add(kSelect, {b.Add(kNot, {0}), 1, 2});
       },
       "select(%0, %2, %1)\n  return %4"},
      {kShiftLeft, "x << 0", {kS23}, WithAll(kShiftLeft, 0), same},
      {kShiftRightArithmetic,
       "x >> 0",
       {kS23},
       WithAll(kShiftRightArithmetic, 0),
       same},
      {kShiftRightLogical,
       "x >> 0",
       {kS23},
       WithAll(kShiftRightLogical, 0),
       same},
      {kXor, "x xor 0", {kS23}, WithAll(kXor, 0), same},
  };
}

std::vector<PatternCase> DTypes() {
  const auto part = [](const OpDef& op) -> Expr {
    return [&op](ComputationBuilder& b) {
      return b.Add(op, {b.Add(kComplex, {0, 1})});
    };
  };
  return {
      {kBitcastConvert,
       "bitcast to the same",
       {kF23},
       Of(kBitcastConvert, To(DType::kF32)),
       "return %0"},
      {kBitcastConvert,
       "bitcast of bitcast",
       {kF23},
       Twice(kBitcastConvert, To(DType::kU8), To(DType::kF32)),
       "return %0"},
      {kBitcastConvert,
       "bitcast of bitcast",
       {kF23},
       Twice(kBitcastConvert, To(DType::kU32), To(DType::kS32)),
       "bitcast_convert(%0) dtype=s32\n  return %2"},
      {kComplex,
       "complex of parts",
       {kC},
       [](ComputationBuilder& b) {
         const ValueId x = b.Add(kReal, {0});
         return b.Add(kComplex, {x, b.Add(kImag, {0})});
       },
       "return %0"},
      {kConvert,
       "convert to the same",
       {kF23},
       Of(kConvert, To(DType::kF32)),
       "return %0"},
      {kConvert,
       "convert of convert",
       {kF23},
       Twice(kConvert, To(DType::kC128), To(DType::kF32)),
       "return %0"},
      {kConvert,
       "convert of convert",
       {kB23},
       Twice(kConvert, To(DType::kU8), To(DType::kF16)),
       "convert(%0) dtype=f16\n  return %2"},
      {kConvert,
       "convert of convert",
       {kS23},
       Twice(kConvert, To(DType::kF64), To(DType::kF32)),
       "convert(%0) dtype=f32\n  return %2"},
      {kImag, "imag of complex", {kF, kF}, part(kImag), "return %1"},
      {kReal, "real of a real", {kF23}, Of(kReal), "return %0"},
      {kReal, "real of complex", {kF, kF}, part(kReal), "return %0"},
  };
}

std::vector<PatternCase> Parts() {
  const Shape vector = Shape::Of(DType::kF32, {4});
  const Shape start = Shape::Scalar(DType::kS32);
  const Attributes no_pad = {{"edge_padding_low", Dims{0}},
                             {"edge_padding_high", Dims{0}},
                             {"interior_padding", Dims{0}}};
  return {
      {kConcatenate,
       "concatenate of one",
       {kF23},
       Of(kConcatenate, {{"dimension", int64_t{0}}}),
       "return %0"},
      {kDynamicSlice,
       "slice of all",
       {vector, start},
       [](ComputationBuilder& b) {
         return b.Add(kDynamicSlice, {0, 1}, {{"slice_sizes", Dims{4}}});
       },
       "return %0"},
      // Where they lead outside, the last part there is.
      {kDynamicSlice,
       "slice at constants",
       {kF23},
       [](ComputationBuilder& b) {
         const ValueId row = b.Constant(Literal::Scalar<int64_t>(-7));
         const ValueId column = b.Constant(Literal::Scalar<int64_t>(7));
         return b.Add(kDynamicSlice, {0, row, column},
                      {{"slice_sizes", Dims{1, 2}}});
       },
       "slice(%0) limit_indices=[1,3] start_indices=[0,1] strides=[1,1]\n"
       "  return %3"},
      {kDynamicUpdateSlice,
       "update of all",
       {vector, vector, start},
       [](ComputationBuilder& b) {
         return b.Add(kDynamicUpdateSlice, {0, 1, 2});
       },
       "return %1"},
      {kPad,
       "pad of nothing",
       {vector, kF},
       [=](ComputationBuilder& b) {
         return b.Add(kPad, {0, 1}, no_pad);
       },
       "return %0"},
      {kSlice,
       "slice of all",
       {kF23},
       Of(kSlice, Cut({0, 0}, {2, 3}, {1, 1})),
       "return %0"},
      {kSlice,
       "slice of slice",
       {Shape::Of(DType::kF32, {20})},
       Twice(kSlice, Cut({2}, {19}, {3}), Cut({1}, {6}, {2})),
       "slice(%0) limit_indices=[18] start_indices=[5] strides=[6]\n"
       "  return %2"},
  };
}

std::vector<PatternCase> Movement() {
  return {
      {kBroadcastInDim,
       "broadcast of broadcast",
       {kF},
       Twice(kBroadcastInDim, Spread({2}, {}), Spread({3, 2}, {1})),
       "broadcast_in_dim(%0) broadcast_dimensions=[] dims=[3,2]\n  return %2"},
      {kReshape,
       "reshape of reshape",
       {kF23},
       Twice(kReshape, {{"dims", Dims{6}}}, {{"dims", Dims{2, 3}}}),
       "return %0"},
      {kReshape,
       "reshape of a scalar",
       {kF},
       [](ComputationBuilder& b) {
         return b.Add(kReshape, {b.Add(kBroadcastInDim, {0}, Spread({6}, {}))},
                      {{"dims", Dims{2, 3}}});
       },
       "broadcast_in_dim(%0) broadcast_dimensions=[] dims=[2,3]\n  return %2"},
      {kReverse,
       "reverse of nothing",
       {Shape::Of(DType::kF32, {1})},
       Of(kReverse, Reverse({0})),
       "return %0"},
      {kReverse,
       "reverse of reverse",
       {kF23},
       Twice(kReverse, Reverse({0, 1}), Reverse({0, 1})),
       "return %0"},
      {kReverse,
       "reverse of reverse",
       {kF23},
       Twice(kReverse, Reverse({0}), Reverse({0, 1})),
       "reverse(%0) dimensions=[1]\n  return %2"},
      {kStopGradient, "stop_gradient", {kF23}, Of(kStopGradient), "return %0"},
      {kTranspose,
       "transpose of transpose",
       {kF23},
       Twice(kTranspose, Permute({1, 0}), Permute({1, 0})),
       "return %0"},
      {kTranspose,
       "transpose of broadcast",
       {Shape::Of(DType::kF32, {4})},
       [](ComputationBuilder& b) {
         return b.Add(kTranspose,
                      {b.Add(kBroadcastInDim, {0}, Spread({2, 4}, {1}))},
                      Permute({1, 0}));
       },
       "broadcast_in_dim(%0) broadcast_dimensions=[0] dims=[4,2]\n"
       "  return %2"},
  };
}

// x[2,3,1] folded along its last axis, from parameter 1.
Expr FoldedLast(const OpDef& op) {
  return [&op](ComputationBuilder& b) -> ValueId {
    const DType dtype = b.shape(0).dtype();
    if (!op.dtypes.Has(dtype)) return kNoValue;
    const int fold = Monoids().Find(op, dtype, b.module());
    return b.Add(kReduce, {0, 1}, {{"dimensions", Dims{2}}}, {fold});
  };
}
// 0 and the sums of x[2,3] along its last axis from 0 on, repeated.
Expr ZeroAndSums() {
  return [](ComputationBuilder& b) -> ValueId {
    const DType dtype = b.shape(0).dtype();
    if (!kAdd.dtypes.Has(dtype)) return kNoValue;
    const int fold = Monoids().Find(kAdd, dtype, b.module());
    const ValueId zero = b.Add(kConstant, {}, {{"value", ScalarOf(dtype, 0)}});
    const ValueId sums =
        b.Add(kReduce, {0, zero}, {{"dimensions", Dims{1}}}, {fold});
    const ValueId moved = b.Add(kBroadcastInDim, {sums}, Spread({2, 4}, {0}));
    const ValueId zeros = b.Add(kBroadcastInDim, {zero}, Spread({2, 4}, {}));
    return b.Add(kAdd, {zeros, moved});
  };
}
// Scatters one number a row, parameter 2, into parameter 0 everywhere. Index
// vectors are [row, parameter 1].
Expr ScatteredRows(bool adds) {
  return [adds](ComputationBuilder& b) -> ValueId {
    const DType dtype = b.shape(0).dtype();
    if (adds && !kAdd.dtypes.Has(dtype)) return kNoValue;
    Monoids monoids;
    const int fold = adds ? monoids.Find(kAdd, dtype, b.module())
                          : monoids.FindSecond(dtype, b.module());
    const ValueId splat =
        b.Add(kBroadcastInDim, {0},
              {{"dims", Dims{4, 3}}, {"broadcast_dimensions", Dims{}}});
    const DType index = b.shape(1).dtype();
    const ValueId row = b.Add(kIota, {},
                              {{"dims", Dims{4, 1}},
                               {"dtype", index},
                               {"iota_dimension", int64_t{0}}});
    const ValueId vectors =
        b.Add(kConcatenate, {row, 1}, {{"dimension", int64_t{1}}});
    return b.Add(kScatter, {splat, vectors, 2},
                 {{"index_vector_dim", int64_t{1}},
                  {"inserted_window_dims", Dims{0, 1}},
                  {"scatter_dims_to_operand_dims", Dims{0, 1}},
                  {"update_window_dims", Dims{}}},
                 {fold});
  };
}

// Scatters a row into a row of x[4,3].
Expr ScatteredWindow(bool adds, int32_t place) {
  return [adds, place](ComputationBuilder& b) -> ValueId {
    const DType dtype = b.shape(0).dtype();
    if (adds && !kAdd.dtypes.Has(dtype)) return kNoValue;
    Monoids monoids;
    const int fold = adds ? monoids.Find(kAdd, dtype, b.module())
                          : monoids.FindSecond(dtype, b.module());
    const ValueId row =
        b.Add(kConstant, {}, {{"value", Literal::Vector<int32_t>({place})}});
    return b.Add(kScatter, {0, row, 1},
                 {{"index_vector_dim", int64_t{0}},
                  {"inserted_window_dims", Dims{0}},
                  {"scatter_dims_to_operand_dims", Dims{0}},
                  {"update_window_dims", Dims{0}}},
                 {fold});
  };
}

std::vector<PatternCase> Folds() {
  const Shape one = Shape::Of(DType::kF32, {2, 3, 1});
  const Shape places = Shape::Of(DType::kS32, {4, 1});
  const Shape updates = Shape::Of(DType::kF32, {4});
  return {
      {kAdd,
       "0 + sum",
       {Shape::Of(DType::kF32, {2, 3})},
       ZeroAndSums(),
       "broadcast_in_dim(%1) broadcast_dimensions=[] dims=[2,4]\n"
       "  return %3"},
      {kReduce,
       "reduce of one element",
       {one, kF},
       FoldedLast(kAdd),
       "add(%3, %2)\n  return %4"},
      {kReduce,
       "reduce of one element",
       {one, kF},
       FoldedLast(kMaximum),
       "maximum(%3, %2)\n  return %4"},
      {kScatter,
       "scatter of one a row",
       {kF, places, updates},
       ScatteredRows(true),
       "select(%10, %12, %3)\n  return %13"},
      {kScatter,
       "scatter of one a row",
       {kF, places, updates},
       ScatteredRows(false),
       "select(%10, %11, %3)\n  return %12"},
      {kScatter,
       "scatter of one window",
       {Shape::Of(DType::kF32, {4, 3}), Shape::Of(DType::kF32, {3})},
       ScatteredWindow(false, 2),
       "dynamic_update_slice(%0, %3, %4, %5)\n  return %6"},
      {kScatter,
       "scatter of one window",
       {Shape::Of(DType::kF32, {4, 3}), Shape::Of(DType::kF32, {3})},
       ScatteredWindow(true, 0),
       "dynamic_update_slice(%0, %5, %6, %7)\n  return %8"},
  };
}

using Cases = std::vector<PatternCase>;
constexpr Cases (*kFamilies[])() = {Arithmetic, Bits,     Choices, DTypes,
                                    Parts,      Movement, Folds};

TEST(CanonicalPatterns, EachHasItsCase) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto family : kFamilies) ExpectAll(family(), &seen);
  for (const CanonicalPattern& p : CanonicalPatterns()) {
    EXPECT_EQ(seen.count({std::string(p.op->name), std::string(p.pattern)}), 1u)
        << p.op->name << ": " << p.pattern << " has no case here";
  }
}

// Returns whether `before` is legal on these parameters; a simplified one then
// has the same values.
bool KeepsValues(const PatternCase& c, uint64_t seed) {
  Module module("m");
  ComputationBuilder builder(&module, "main");
  const std::vector<ValueId> results = BodyOf(c)(builder);
  if (!builder.Finish(results).ok()) return false;
  Random random(seed);
  const auto arguments = RandomArguments(module.signature(), random);
  const std::string before = Values(module, arguments);
  bool changed = false;
  const auto after = Canonicalize(std::move(module), &changed);
  EXPECT_OK(after);
  if (after.ok() && changed) {
    EXPECT_EQ(Values(*after, arguments), before)
        << c.op.name << ": " << c.pattern << ", seed " << seed << "\n"
        << EntryText(*after);
  }
  return true;
}

// On how many choices of dtypes for its parameters the case is legal.
int LegalDTypes(const PatternCase& c) {
  int legal = 0;
  for (const Shape& kind : c.parameters) {
    for (const DType dtype : AllDTypes()) {
      PatternCase other = c;
      for (Shape& shape : other.parameters) {
        if (shape.dtype() == kind.dtype()) shape = shape.WithDType(dtype);
      }
      if (!KeepsValues(other, 0)) continue;
      for (uint64_t seed = 1; seed < 8; ++seed) KeepsValues(other, seed);
      ++legal;
    }
  }
  return legal;
}

// A pattern is right on all dtypes that its op takes, not only on the one that
// its case has.
TEST(CanonicalPatterns, KeepTheValuesOfEveryDType) {
  int legal = 0;
  for (const auto family : kFamilies) {
    for (const PatternCase& c : family()) legal += LegalDTypes(c);
  }
  EXPECT_GT(legal, 400);
}

// What looks alike and is not exact.
TEST(CanonicalPatterns, WhatStays) {
  const Shape f43 = Shape::Of(DType::kF32, {4, 3});
  const Shape f3 = Shape::Of(DType::kF32, {3});
  const PatternCase cases[] = {
      {kScatter, "outside", {f43, f3}, ScatteredWindow(false, 4), ""},
      {kScatter, "in front", {f43, f3}, ScatteredWindow(true, -1), ""},
      {kAdd, "-0 + 0 is 0", {kF23}, WithAll(kAdd, 0), ""},
      {kSubtract, "0 - 0 is not -0", {kF23}, WithAll(kSubtract, -0.0f), ""},
      {kDivide, "1 / x", {kF23}, WithAll(kDivide, 1, true), ""},
      {kShiftLeft, "0 << x", {kS23}, WithAll(kShiftLeft, 0, true), ""},
      {kNot,
       "NaN is neither",
       {kF23, kF23},
       [](ComputationBuilder& b) {
         return b.Add(kNot, {b.Add(kCompare, {0, 1},
                                   {{"direction", std::string("LT")}})});
       },
       ""},
      {kConvert,
       "through narrower",
       {kF23},
       Twice(kConvert, To(DType::kF16), To(DType::kF32)),
       ""},
      {kConvert,
       "saturates, does not wrap",
       {Shape::Of(DType::kS8, {2})},
       Twice(kConvert, To(DType::kF32), To(DType::kU8)),
       ""},
      {kConvert,
       "lost bits",
       {kS23},
       Twice(kConvert, To(DType::kF32), To(DType::kS32)),
       ""},
      {kConvert,
       "a sign",
       {kS23},
       Twice(kConvert, To(DType::kU64), To(DType::kF32)),
       ""},
      {kAbs,
       "of an unsigned negative",
       {Shape::Of(DType::kU16, {2})},
       [](ComputationBuilder& b) { return b.Add(kAbs, {b.Add(kNegate, {0})}); },
       ""},
      {kAbs, "of a complex number", {kC}, Twice(kSign), ""},
      {kBitcastConvert,
       "other sizes",
       {kF23},
       Twice(kBitcastConvert, To(DType::kU16), To(DType::kF16)),
       ""},
  };
  for (const PatternCase& c : cases) {
    EXPECT_THAT(Becomes(c), testing::StartsWith("unchanged")) << c.pattern;
  }
}

}  // namespace
}  // namespace hawser
