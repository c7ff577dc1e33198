// Every op of the registry on every dtype its row allows, with no elements,
// with one, and with the values at which arithmetic has edges. What must come
// out stands in tests/vectors; here, that something sound does, everywhere.
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/windows/unfold.h"
#include "core/ops/registry.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

// One way to apply an op.
struct Use {
  std::vector<Literal> operands;
  Attributes attributes;
  std::vector<Body> called;
};
using Uses = std::vector<Use>;

template <typename T>
std::vector<T> Edges() {
  std::vector<T> edges;
  if constexpr (std::is_same_v<T, bool>) {
    edges = {false, true};
  } else if constexpr (kIsInteger<T>) {
    using Limits = std::numeric_limits<T>;
    constexpr T kBits = 8 * sizeof(T);
    edges = {0,
             1,
             2,
             7,
             static_cast<T>(-1),
             static_cast<T>(-7),
             Limits::min(),
             Limits::max(),
             kBits - 1,
             kBits};
  } else if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    using PartLimits = std::numeric_limits<Part>;
    for (Part x : {Part{0}, -Part{0}, Part{-1.5}, PartLimits::infinity(),
                   PartLimits::quiet_NaN(), PartLimits::max()}) {
      edges.push_back(T(x, 1));
      edges.push_back(T(1, x));
      edges.push_back(T(x, x));
    }
  } else {
    for (double x : {0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 100.0, 65504.0, 3.4e38,
                     1.7e308, 6e-8, 1e-40, 5e-324, HUGE_VAL}) {
      edges.push_back(T(static_cast<ComputeType<T>>(x)));
      edges.push_back(T(static_cast<ComputeType<T>>(-x)));
    }
    edges.push_back(T(static_cast<ComputeType<T>>(NAN)));
  }
  return edges;
}

Literal EdgesOf(DType dtype) {
  return VisitDType(dtype, [](auto tag) {
    using T = typename decltype(tag)::type;
    const std::vector<T> edges = Edges<T>();
    Literal out = Literal::Uninitialized(
        Shape::Of(kDTypeOf<T>, {static_cast<int64_t>(edges.size())}));
    for (size_t i = 0; i < edges.size(); ++i) {
      out.mutable_data<T>()[i] = edges[i];
    }
    return out;
  });
}

int64_t Size(const Literal& x) { return x.shape().num_elements(); }
Literal Places(int64_t n) {
  return EvaluateOp(kIota, {},
                    {{"dims", Dims{n}},
                     {"dtype", DType::kS32},
                     {"iota_dimension", int64_t{0}}});
}
Literal Zero(DType dtype) { return Cast(Literal::Scalar(false), dtype); }
Literal Element(const Literal& x, int64_t i) {
  const int64_t width = ByteWidth(x.shape().dtype());
  return *Literal::FromBytes(Shape::Scalar(x.shape().dtype()),
                             x.bytes().subspan(i * width, width));
}

// [n] -> [n * n]: each element n times, or all of them n times.
Literal Spread(const Literal& x, bool repeated) {
  const int64_t n = Size(x);
  const Literal square = EvaluateOp(
      kBroadcastInDim, {x},
      {{"broadcast_dimensions", Dims{repeated ? 0 : 1}}, {"dims", Dims{n, n}}});
  return square.Reinterpret(Shape::Of(x.shape().dtype(), {n * n}));
}

// Every element with every other; three operands are pairs and themselves.
Uses Elementwise(const OpDef& op, const Literal& x) {
  if (op.arity.min == 1) return {{{x}, {}, {}}};
  const Literal a = Spread(x, true), b = Spread(x, false);
  if (op.arity.min == 2) return {{{a, b}, {}, {}}};
  return {{{a, b, b}, {}, {}}, {{a, b, a}, {}, {}}};
}

Uses OfCompare(const OpDef& op, const Literal& x) {
  Uses uses;
  for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
    if (IsComplex(x.shape().dtype()) && direction[1] != 'Q' &&
        direction[0] != 'N') {
      continue;
    }
    uses.push_back(Elementwise(op, x)[0]);
    uses.back().attributes.Set("direction", std::string(direction));
  }
  return uses;
}

Uses OfSelect(const OpDef& op, const Literal& x) {
  const Literal mask = Literal::Zeros(x.shape().WithDType(DType::kBool));
  return {{{mask, x, x}, {}, {}}, {{Literal::Scalar(true), x, x}, {}, {}}};
}

Uses ToEveryDType(const OpDef& op, const Literal& x) {
  Uses uses;
  for (DType to : AllDTypes()) uses.push_back({{x}, {{"dtype", to}}, {}});
  return uses;
}

// To wider elements from as many as one is made of.
Uses BitsToEveryDType(const OpDef& op, const Literal& x) {
  Uses uses;
  const DType from = x.shape().dtype();
  for (DType to : AllDTypes()) {
    if (IsComplex(to) != IsComplex(from)) continue;
    const int64_t size = std::max(BitsOfElement(to) / BitsOfElement(from), 1);
    if (Size(x) % size != 0) continue;
    const Dims dims = size == 1 ? x.shape().dims() : Dims{Size(x) / size, size};
    uses.push_back(
        {{x.Reinterpret(Shape::Of(from, dims))}, {{"dtype", to}}, {}});
  }
  return uses;
}

Uses OfIota(const OpDef& op, const Literal& x) {
  return {{{},
           {{"dims", Dims{Size(x), 300}},
            {"dtype", x.shape().dtype()},
            {"iota_dimension", int64_t{1}}},
           {}}};
}

Uses OfReduce(const OpDef& op, const Literal& x) {
  const Shape s = Shape::Scalar(x.shape().dtype());
  Uses uses;
  for (const OpDef* monoid :
       {&kAdd, &kMultiply, &kMaximum, &kMinimum, &kAnd, &kOr, &kXor}) {
    if (!monoid->dtypes.Has(s.dtype())) continue;
    uses.push_back({{x, Zero(s.dtype())},
                    {{"dimensions", Dims{0}}},
                    {{{s, s}, OneOp(*monoid)}}});
  }
  return uses;
}

Uses OfScan(const OpDef& op, const Literal& x) {
  Uses uses = OfReduce(op, x);
  for (Use& use : uses) {
    use.operands = {x};
    use.attributes = {{"dimension", int64_t{0}}, {"reverse", true}};
  }
  return uses;
}

// By itself where it has an order, else as it stands.
Uses OfSort(const OpDef& op, const Literal& x) {
  const Shape s = Shape::Scalar(x.shape().dtype());
  return {{{x},
           {{"dimension", int64_t{0}}},
           {{{s, s}, [s](ComputationBuilder& b, absl::Span<const ValueId> v) {
               if (IsComplex(s.dtype())) {
                 return Values{b.Constant(Literal::Scalar(false))};
               }
               return Values{b.Add(kCompare, {v[0], v[1]},
                                   {{"direction", std::string("LT")}})};
             }}}}};
}

Uses OfScatter(const OpDef& op, const Literal& x) {
  Uses uses = OfReduce(op, x);
  for (Use& use : uses) {
    // The last one falls outside.
    Literal at =
        EvaluateOp(kAdd, {Places(Size(x)), Full<int32_t>(1, {Size(x)})});
    use.operands = {x, std::move(at), x};
    use.attributes = {{"index_vector_dim", int64_t{1}},
                      {"inserted_window_dims", Dims{0}},
                      {"scatter_dims_to_operand_dims", Dims{0}},
                      {"update_window_dims", Dims{}}};
  }
  return uses;
}

// One turn of a loop that gives its state back.
Uses OfWhile(const OpDef& op, const Literal& x) {
  const Shape on = Shape::Scalar(DType::kBool);
  return {{{Literal::Scalar(true), x},
           {},
           {{{on, x.shape()},
             [](ComputationBuilder& b, absl::Span<const ValueId> v) {
               return Values{v[0]};
             }},
            {{on, x.shape()},
             [](ComputationBuilder& b, absl::Span<const ValueId> v) {
               return Values{b.Constant(Literal::Scalar(false)), v[1]};
             }}}}};
}

Uses OfFusion(const OpDef& op, const Literal& x) {
  const BodyFn twice = [](ComputationBuilder&, absl::Span<const ValueId> v) {
    return Values{v[0], v[0]};
  };
  return {{{x}, {}, {{{x.shape()}, twice}}}};
}

Uses OfCase(const OpDef& op, const Literal& x) {
  const BodyFn same = [](ComputationBuilder&, absl::Span<const ValueId> v) {
    return Values{v[0]};
  };
  Uses uses;
  for (int32_t i : {INT32_MIN, -1, 0, 1, 2, INT32_MAX}) {
    uses.push_back({{Literal::Scalar(i), x},
                    {},
                    {{{x.shape()}, same}, {{x.shape()}, same}}});
  }
  return uses;
}

Uses OfPad(const OpDef& op, const Literal& x) {
  return {{{x, Zero(x.shape().dtype())},
           {{"edge_padding_high", Dims{2}},
            {"edge_padding_low", Dims{1}},
            {"interior_padding", Dims{1}}},
           {}}};
}

Uses OfTranspose(const OpDef& op, const Literal& x) {
  const Shape column = Shape::Of(x.shape().dtype(), {Size(x), 1});
  return {{{x.Reinterpret(column)}, {{"permutation", Dims{1, 0}}}, {}}};
}

Uses OfBroadcastInDim(const OpDef& op, const Literal& x) {
  return {{{x},
           {{"broadcast_dimensions", Dims{1}}, {"dims", Dims{2, Size(x)}}},
           {}}};
}

Attributes SliceOf(int64_t start, int64_t limit, int64_t stride) {
  return {{"limit_indices", Dims{limit}},
          {"start_indices", Dims{start}},
          {"strides", Dims{stride}}};
}

// A kernel of two places over all elements as one axis, and over as many
// features.
Uses OfConvolution(const OpDef& op, const Literal& x) {
  const auto by = [](int64_t stride) {
    return Attributes{
        {"feature_group_count", int64_t{1}}, {"lhs_dilation", Dims{1}},
        {"padding_high", Dims{1}},           {"padding_low", Dims{0}},
        {"rhs_dilation", Dims{1}},           {"window_strides", Dims{stride}}};
  };
  const DType dtype = x.shape().dtype();
  const Literal line = x.Reinterpret(Shape::Of(dtype, {1, Size(x), 1}));
  const Literal deep = x.Reinterpret(Shape::Of(dtype, {1, 1, Size(x)}));
  const Literal ones = Literal::Zeros(Shape::Of(dtype, {2, 1, 3}));
  const Literal tall = Literal::Zeros(Shape::Of(dtype, {1, Size(x), 2}));
  return {{{line, ones}, by(1), {}}, {{deep, tall}, by(2), {}}};
}

// Windows of two places: more than there are elements, and some.
Uses OfUnfold(const OpDef& op, const Literal& x) {
  Uses uses;
  for (const int64_t dilation : {int64_t{1}, int64_t{3}, INT64_MAX}) {
    uses.push_back({{x},
                    {{"dimensions", Dims{0}},
                     {"window_dilations", Dims{dilation}},
                     {"window_dimensions", Dims{2}},
                     {"window_strides", Dims{2}}},
                    {}});
  }
  return uses;
}

// Starts far in front of and behind the ends.
std::vector<Literal> FarStarts() {
  return {Literal::Scalar<int64_t>(INT64_MIN),
          Literal::Scalar<uint64_t>(UINT64_MAX)};
}

Uses OfDynamicSlice(const OpDef& op, const Literal& x) {
  Uses uses;
  for (const Literal& start : FarStarts()) {
    uses.push_back({{x, start}, {{"slice_sizes", Dims{Size(x) / 2}}}, {}});
  }
  return uses;
}

Uses OfDynamicUpdateSlice(const OpDef& op, const Literal& x) {
  const Literal part = EvaluateOp(kSlice, {x}, SliceOf(0, Size(x) / 2, 1));
  Uses uses;
  for (const Literal& start : FarStarts()) {
    uses.push_back({{x, part, start}, {}, {}});
  }
  return uses;
}

// Both ends and what is outside; nothing can be taken from nothing.
Uses OfGather(const OpDef& op, const Literal& x) {
  const int64_t size = Size(x) > 0 ? 1 : 0;
  return {{{x, Literal::Vector<int64_t>({INT64_MIN, 0, Size(x), INT64_MAX})},
           {{"collapsed_slice_dims", Dims{}},
            {"index_vector_dim", int64_t{1}},
            {"offset_dims", Dims{1}},
            {"slice_sizes", Dims{size}},
            {"start_index_map", Dims{0}}},
           {}}};
}

Uses OfDotGeneral(const OpDef& op, const Literal& x) {
  Uses uses;
  for (const Dims& contracted : {Dims{0}, Dims{}}) {
    uses.push_back({{x, x},
                    {{"lhs_batching_dimensions", Dims{}},
                     {"lhs_contracting_dimensions", contracted},
                     {"rhs_batching_dimensions", Dims{}},
                     {"rhs_contracting_dimensions", contracted}},
                    {}});
  }
  for (const DType wide : AllDTypes()) {
    if (!WidensProduct(x.shape().dtype(), wide)) continue;
    uses.push_back(uses.front());
    uses.back().attributes.Set("result_dtype", wide);
  }
  return uses;
}

// Matrices of one element each, and one of all pairs.
std::vector<Literal> MatricesOf(const Literal& x) {
  const DType dtype = x.shape().dtype();
  return {x.Reinterpret(Shape::Of(dtype, {Size(x), 1, 1})),
          Spread(x, true).Reinterpret(Shape::Of(dtype, {Size(x), Size(x)}))};
}

Uses OfCholesky(const OpDef& op, const Literal& x) {
  Uses uses;
  for (const Literal& a : MatricesOf(x)) {
    for (const bool lower : {true, false}) {
      uses.push_back({{a}, {{"lower", lower}}, {}});
    }
  }
  return uses;
}

Uses OfTriangularSolve(const OpDef& op, const Literal& x) {
  Uses uses;
  for (const Literal& a : MatricesOf(x)) {
    for (const bool left : {true, false}) {
      uses.push_back({{a, a},
                      {{"left_side", left},
                       {"lower", true},
                       {"transpose_a", std::string(kAdjointOf)},
                       {"unit_diagonal", false}},
                      {}});
    }
  }
  return uses;
}

// With each flag of its own set, and not.
Uses OfFactors(const OpDef& op, const Literal& x) {
  Uses uses;
  for (const Literal& a : MatricesOf(x)) {
    for (const bool flag : {true, false}) {
      Attributes flags;
      for (const AttributeSpec& spec : op.attributes) flags.Set(spec.name, flag);
      uses.push_back({{a}, std::move(flags), {}});
    }
  }
  return uses;
}

Uses OfHouseholderProduct(const OpDef& op, const Literal& x) {
  const Literal square = MatricesOf(x)[1];
  return {{{square, x}, {}, {}}};
}

// The extreme of nothing is refused.
Uses OfArgExtreme(const OpDef& op, const Literal& x) {
  if (Size(x) == 0) return {};
  return {{{x}, {{"dimension", int64_t{0}}}, {}}};
}

using UseFn = Uses (*)(const OpDef&, const Literal&);
template <typename Set>
UseFn With(Set) {
  return [](const OpDef&, const Literal& x) -> Uses {
    return {{{x}, Set()(x), {}}};
  };
}

// Each way that the dtype allows, of the elements in a row.
Uses OfFft(const OpDef&, const Literal& x) {
  const auto use = [&](const char* type, int64_t length) -> Use {
    return {{x},
            {{"fft_length", Dims{length}}, {"fft_type", std::string(type)}},
            {}};
  };
  const int64_t n = Size(x);
  if (!IsComplex(x.shape().dtype())) return {use("RFFT", n)};
  return {use("FFT", n), use("IFFT", n),
          use("IRFFT", std::max<int64_t>(2 * n - 1, 0))};
}

// Elementwise ops without attributes need no row.
const absl::flat_hash_map<const OpDef*, UseFn>& UseTable() {
  static const auto& table = *new absl::flat_hash_map<const OpDef*, UseFn>{
      {&kArgMax, OfArgExtreme},
      {&kArgMin, OfArgExtreme},
      {&kBitcastConvert, BitsToEveryDType},
      {&kBroadcastInDim, OfBroadcastInDim},
      {&kCall, OfFusion},
      {&kCase, OfCase},
      {&kCholesky, OfCholesky},
      {&kCompare, OfCompare},
      {&kConcatenate,
       [](const OpDef&, const Literal& x) -> Uses {
         return {{{x, x}, {{"dimension", int64_t{0}}}, {}}};
       }},
      {&kConstant,
       [](const OpDef&, const Literal& x) -> Uses {
         return {{{}, {{"value", x}}, {}}};
       }},
      {&kConvert, ToEveryDType},
      {&kConvolution, OfConvolution},
      {&kDotGeneral, OfDotGeneral},
      {&kDynamicSlice, OfDynamicSlice},
      {&kDynamicUpdateSlice, OfDynamicUpdateSlice},
      {&kFft, OfFft},
      {&kEig, OfFactors},
      {&kEigh, OfFactors},
      {&kFusion, OfFusion},
      {&kGather, OfGather},
      {&kGeqrf, OfFactors},
      {&kHouseholderProduct, OfHouseholderProduct},
      {&kIota, OfIota},
      {&kLu, OfFactors},
      {&kPad, OfPad},
      {&kQr, OfFactors},
      {&kReduce, OfReduce},
      {&kReducePrecision, With([](const Literal&) {
         return Attributes{{"exponent_bits", int64_t{4}},
                           {"mantissa_bits", int64_t{3}}};
       })},
      {&kReshape, With([](const Literal& x) {
         return Attributes{{"dims", Dims{Size(x), 1}}};
       })},
      {&kReverse, With([](const Literal&) {
         return Attributes{{"dimensions", Dims{0}}};
       })},
      {&kScan, OfScan},
      {&kScatter, OfScatter},
      {&kSelect, OfSelect},
      {&kSlice,
       With([](const Literal& x) { return SliceOf(Size(x) / 2, Size(x), 2); })},
      {&kSort, OfSort},
      {&kSvd, OfFactors},
      {&kTranspose, OfTranspose},
      {&kUnfold, OfUnfold},
      {&kTriangularSolve, OfTriangularSolve},
      {&kWhile, OfWhile},
  };
  return table;
}

// Nothing when the op's row is missing here.
Uses UsesOf(const OpDef& op, const Literal& x) {
  const auto row = UseTable().find(&op);
  if (row != UseTable().end()) return row->second(op, x);
  return op.Is(kElementwise) ? Elementwise(op, x) : Uses();
}

// Sound results: what was inferred, and every bool 0 or 1.
void ExpectSound(const OpDef& op, const Use& use) {
  std::vector<Shape> shapes;
  for (const Literal& x : use.operands) shapes.push_back(x.shape());
  const Module module = OpModule(op, shapes, use.attributes, use.called);
  ASSERT_OK_AND_ASSIGN(const auto results, Evaluate(module, use.operands));
  ASSERT_EQ(results.size(), module.signature().results.size());
  for (size_t k = 0; k < results.size(); ++k) {
    EXPECT_EQ(results[k].shape(), module.signature().results[k]);
    EXPECT_OK(CheckBytes(results[k].shape(), results[k].bytes()));
  }
}

TEST(EveryOpTest, TakesEveryDTypeOfItsRow) {
  for (const OpDef* op : AllOps()) {
    if (op == &kParameter) continue;  // of no operands: an argument itself
    for (DType dtype : AllDTypes()) {
      if (!op->dtypes.Has(dtype)) continue;
      SCOPED_TRACE(absl::StrCat(op->name, " of ", DTypeName(dtype)));
      const Literal edges = EdgesOf(dtype);
      EXPECT_FALSE(UsesOf(*op, edges).empty()) << "needs a row in UseTable";
      const Literal none = Literal::Zeros(Shape::Of(dtype, {0}));
      const Literal single =
          Element(edges, 0).Reinterpret(Shape::Of(dtype, {1}));
      for (const Literal& x : {none, single, edges}) {
        for (const Use& use : UsesOf(*op, x)) ExpectSound(*op, use);
      }
    }
  }
}

// The error of a dtype the row does not have is the op's own, not the
// engine's.
TEST(EveryOpTest, RefusesEveryOtherDType) {
  for (const OpDef* op : AllOps()) {
    for (DType dtype : AllDTypes()) {
      if (op->dtypes.Has(dtype)) continue;
      SCOPED_TRACE(absl::StrCat(op->name, " of ", DTypeName(dtype)));
      for (const Use& use : UsesOf(*op, EdgesOf(dtype))) {
        std::vector<Shape> shapes;
        for (const Literal& x : use.operands) shapes.push_back(x.shape());
        EXPECT_THAT(InferShapes({*op, shapes, use.attributes, {}}),
                    StatusIs(absl::StatusCode::kInvalidArgument,
                             absl::StrCat(op->name, ": C1")));
      }
    }
  }
}

// 16-bit floats are computed in f32 and rounded once.
TEST(EveryOpTest, HalvesAreRoundedFromFloat) {
  for (const OpDef* op : AllOps()) {
    if (!op->Is(kElementwise)) continue;
    for (DType dtype : {DType::kF16, DType::kBF16}) {
      if (!op->dtypes.Has(dtype)) continue;
      SCOPED_TRACE(absl::StrCat(op->name, " of ", DTypeName(dtype)));
      for (const Use& use : UsesOf(*op, EdgesOf(dtype))) {
        const auto got = EvaluateOp(*op, use.operands, use.attributes);
        std::vector<Literal> wide;
        for (const Literal& x : use.operands) {
          const bool half = x.shape().dtype() == dtype;
          wide.push_back(half ? Cast(x, DType::kF32) : x);
        }
        const auto want = EvaluateOp(*op, wide, use.attributes);
        EXPECT_THAT(got, LiteralEquals(Cast(want, got.shape().dtype())));
      }
    }
  }
}

}  // namespace
}  // namespace hawser::cpu
