#include "tests/kernels/cpu/work/large_uses.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

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
#include "core/ops/linalg/fft.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/windows/unfold.h"
#include "kernels/cpu/kernel.h"
#include "tests/kernels/cpu/evaluate.h"

namespace hawser::cpu {
namespace {

using LargeUses = std::vector<LargeUse>;

Shape F32(const Dims& dims) { return Shape::Of(DType::kF32, dims); }
Shape S32(const Dims& dims) { return Shape::Of(DType::kS32, dims); }

LargeUse Use(std::string what, const OpDef& op, std::vector<Shape> operands,
             const Attributes& attributes = {},
             const std::vector<Body>& called = {}) {
  Module module = OpModule(op, operands, attributes, called);
  return {std::move(what), std::move(module), std::move(operands)};
}

// As many elements as take about n steps, and not more than n.
LargeUses LargeElementwise(const OpDef& op, int64_t n) {
  LargeUses uses;
  Attributes attributes;
  if (&op == &kCompare) attributes.Set("direction", std::string("EQ"));
  if (&op == &kConvert) attributes.Set("dtype", DType::kF64);
  if (&op == &kReducePrecision) {
    attributes.Set("exponent_bits", int64_t{5});
    attributes.Set("mantissa_bits", int64_t{10});
  }
  for (DType dtype : {DType::kU64, DType::kF16, DType::kF32, DType::kC128}) {
    if (!op.dtypes.Has(dtype)) continue;
    const int64_t size = n / FindCpuKernel(op)->steps.Of(dtype);
    std::vector<Shape> operands(op.arity.min, Shape::Of(dtype, {size}));
    if (&op == &kSelect) operands[0] = Shape::Of(DType::kBool, {size});
    uses.push_back(
        Use(std::string(DTypeName(dtype)), op, operands, attributes));
  }
  if (op.arity.min == 2 && op.dtypes.Has(DType::kU64)) {
    const Shape flat = Shape::Of(DType::kU64, {n});
    uses.push_back(Use("in place", op, {flat, flat}, attributes));
  }
  return uses;
}

// Bits alone are moved.
LargeUses LargeBitcast(const OpDef& op, int64_t n) {
  return {Use("to bits", op, {Shape::Of(DType::kU8, {n / 8})},
              {{"dtype", DType::kBool}}),
          Use("from bits", op, {Shape::Of(DType::kBool, {n / 32, 32})},
              {{"dtype", DType::kU32}})};
}

LargeUses LargeArgExtreme(const OpDef& op, int64_t n) {
  return {Use("run", op, {F32({n})}, {{"dimension", int64_t{0}}}),
          Use("columns", op, {F32({n / 2, 2})}, {{"dimension", int64_t{0}}}),
          Use("rows", op, {F32({n / 64, 64})}, {{"dimension", int64_t{1}}})};
}

LargeUses LargeBroadcast(const OpDef& op, int64_t n) {
  auto use = [&](std::string what, const Shape& from, Dims where, Dims dims) {
    return Use(std::move(what), op, {from},
               {{"broadcast_dimensions", where}, {"dims", dims}});
  };
  return {use("scalar", F32({}), {}, {n}),
          use("rows", F32({n / 4}), {1}, {4, n / 4}),
          use("columns", F32({n / 4}), {0}, {n / 4, 4})};
}

LargeUses LargeCalls(const OpDef& op, int64_t n) {
  const Shape x = F32({n});
  const Body negate{{x}, OneOp(kNegate)};
  if (&op == &kFusion || &op == &kCall) {
    return {Use("negate", op, {x}, {}, {negate})};
  }
  return {Use("negate", op, {S32({}), x}, {}, {negate, negate})};
}

LargeUses LargeConcatenate(const OpDef& op, int64_t n) {
  return {
      Use("two", op, {F32({n / 2}), F32({n / 2})}, {{"dimension", int64_t{0}}}),
      Use("many", op, std::vector<Shape>(n / 4096, F32({4096})),
          {{"dimension", int64_t{0}}}),
      Use("columns", op, {F32({n / 4, 2}), F32({n / 4, 2})},
          {{"dimension", int64_t{1}}})};
}

Attributes Contracting(const Dims& lhs, const Dims& rhs) {
  return {{"lhs_batching_dimensions", Dims{}},
          {"lhs_contracting_dimensions", lhs},
          {"rhs_batching_dimensions", Dims{}},
          {"rhs_contracting_dimensions", rhs}};
}

LargeUses LargeDot(const OpDef& op, int64_t n) {
  // n steps are 64 n products of f32.
  const auto side =
      static_cast<int64_t>(std::cbrt(static_cast<double>(n) * 64));
  const auto small = static_cast<int64_t>(std::cbrt(static_cast<double>(n)));
  const Attributes plain = Contracting({1}, {0});
  Attributes in_f32 = plain;
  in_f32.Set("result_dtype", DType::kF32);
  return {
      Use("f32", op, {F32({side, side}), F32({side, side})}, plain),
      Use("s32", op, {S32({2 * small, small}), S32({small, 2 * small})}, plain),
      Use("vector", op, {F32({n / 1024, 1024}), F32({1024})}, plain),
      Use("transposed", op, {F32({1024, n / 1024}), F32({1024})},
          Contracting({0}, {0})),
      Use("nothing", op, {F32({n / 1024, 0}), F32({0, 1024})}, plain),
      Use("in f32", op,
          {Shape::Of(DType::kBF16, {n / 1024, 1024}),
           Shape::Of(DType::kBF16, {1024})},
          in_f32)};
}

LargeUses LargeDynamicSlice(const OpDef& op, int64_t n) {
  return {Use("half", op, {F32({2 * n}), S32({})}, {{"slice_sizes", Dims{n}}}),
          Use("columns", op, {F32({n / 2, 3}), S32({}), S32({})},
              {{"slice_sizes", Dims{n / 2, 2}}})};
}

LargeUses LargeUpdateSlice(const OpDef& op, int64_t n) {
  return {Use("half", op, {F32({2 * n}), F32({n}), S32({})})};
}

LargeUses LargeGather(const OpDef& op, int64_t n) {
  auto use = [&](std::string what, int64_t from, int64_t windows,
                 int64_t size) {
    return Use(std::move(what), op, {F32({from}), S32({windows, 1})},
               {{"collapsed_slice_dims", Dims{}},
                {"index_vector_dim", int64_t{1}},
                {"offset_dims", Dims{1}},
                {"slice_sizes", Dims{size}},
                {"start_index_map", Dims{0}}});
  };
  return {use("one window", n, 1, n), use("few windows", n, 3, n / 3),
          use("elements", 1024, n / 8, 1)};
}

LargeUses LargeIota(const OpDef& op, int64_t n) {
  auto use = [&](std::string what, Dims dims, int64_t axis) {
    return Use(
        std::move(what), op, {},
        {{"dims", dims}, {"dtype", DType::kF32}, {"iota_dimension", axis}});
  };
  return {use("run", {n}, 0), use("twice", {2, n / 2}, 1),
          use("repeated", {2, n / 2}, 0), use("rows", {n / 8, 8}, 1)};
}

LargeUses LargePad(const OpDef& op, int64_t n) {
  return {Use("around", op, {F32({n / 4}), F32({})},
              {{"edge_padding_high", Dims{n / 4}},
               {"edge_padding_low", Dims{n / 4}},
               {"interior_padding", Dims{1}}})};
}

// a + b + 0: a body of two ops, for lanes.
BodyFn TwoSteps() {
  return [](ComputationBuilder& b, absl::Span<const ValueId> v) {
    return Values{b.Add(kAdd, {b.Add(kAdd, {v[0], v[1]}), v[1]})};
  };
}
// Through an op that has no element loop: for the evaluator.
BodyFn ThroughReshape() {
  return [](ComputationBuilder& b, absl::Span<const ValueId> v) {
    return Values{
        b.Add(kReshape, {b.Add(kAdd, {v[0], v[1]})}, {{"dims", Dims{}}})};
  };
}

LargeUses LargeReduce(const OpDef& op, int64_t n) {
  const Shape s = F32({});
  auto use = [&](std::string what, Dims dims, Dims over, const BodyFn& body) {
    return Use(std::move(what), op, {F32(dims), s}, {{"dimensions", over}},
               {{{s, s}, body}});
  };
  return {use("sum", {n}, {0}, OneOp(kAdd)),
          use("columns", {n / 2, 2}, {0}, OneOp(kMaximum)),
          use("kept", {n, 1}, {1}, OneOp(kAdd)),
          use("lanes", {n / 4096, 1024}, {0}, TwoSteps()),
          use("one lane", {n / 4}, {0}, TwoSteps()),
          use("calls", {n / 512}, {0}, ThroughReshape())};
}

// Single elements of several inputs, of which `body` computes the first one's
// and the others' are left.
LargeUse ScatterOfSeveral(std::string what, const OpDef& op, int inputs,
                          int64_t count, const BodyFn& body) {
  const std::vector<Shape> scalars(2 * inputs, F32({}));
  std::vector<Shape> operands(inputs, F32({1024}));
  operands.push_back(S32({count, 1}));
  operands.insert(operands.end(), inputs, F32({count}));
  const BodyFn all = [=](ComputationBuilder& b,
                         absl::Span<const ValueId> v) -> Values {
    Values results(v.begin(), v.begin() + inputs);
    results[0] = body(b, {v[0], v[inputs]})[0];
    return results;
  };
  return Use(std::move(what), op, std::move(operands),
             {{"index_vector_dim", int64_t{1}},
              {"inserted_window_dims", Dims{0}},
              {"scatter_dims_to_operand_dims", Dims{0}},
              {"update_window_dims", Dims{}}},
             {{scalars, all}});
}

LargeUses LargeScatter(const OpDef& op, int64_t n) {
  const Shape s = F32({});
  auto windows = [&](std::string what, int64_t count, int64_t size,
                     const BodyFn& body) {
    return Use(std::move(what), op,
               {F32({n}), S32({count, 1}), F32({count, size})},
               {{"index_vector_dim", int64_t{1}},
                {"inserted_window_dims", Dims{}},
                {"scatter_dims_to_operand_dims", Dims{0}},
                {"update_window_dims", Dims{1}}},
               {{{s, s}, body}});
  };
  return {windows("one window", 1, n, OneOp(kAdd)),
          windows("elements", n / 16, 1, OneOp(kAdd)),
          windows("lanes", 1, n / 4, TwoSteps()),
          windows("calls", 1, n / 512, ThroughReshape()),
          ScatterOfSeveral("pairs", op, 2, n / 16, OneOp(kAdd)),
          ScatterOfSeveral("many, calls", op, 16, n / 2048, ThroughReshape())};
}

LargeUses LargeReverse(const OpDef& op, int64_t n) {
  return {Use("run", op, {F32({n})}, {{"dimensions", Dims{0}}})};
}

LargeUses LargeSlice(const OpDef& op, int64_t n) {
  return {Use("every second", op, {F32({2 * n})},
              {{"limit_indices", Dims{2 * n}},
               {"start_indices", Dims{0}},
               {"strides", Dims{2}}})};
}

LargeUses LargeConvolution(const OpDef& op, int64_t n) {
  const auto by = [](int64_t groups, size_t k) {
    return Attributes{
        {"feature_group_count", groups}, {"lhs_dilation", Dims(k, 1)},
        {"padding_high", Dims(k, 1)},    {"padding_low", Dims(k, 1)},
        {"rhs_dilation", Dims(k, 1)},    {"window_strides", Dims(k, 1)}};
  };
  return {
      Use("one feature", op, {F32({1, n / 2, 1}), F32({3, 1, 2})}, by(1, 1)),
      Use("groups", op, {F32({1, n / 32, 16}), F32({3, 4, 16})}, by(4, 1)),
      Use("images", op, {F32({n / 1024, 4, 4, 8}), F32({3, 3, 8, 16})},
          by(1, 2))};
}

LargeUses LargeUnfold(const OpDef& op, int64_t n) {
  return {Use("windows of four", op, {F32({n / 4 + 3})},
              {{"dimensions", Dims{0}},
               {"window_dilations", Dims{1}},
               {"window_dimensions", Dims{4}},
               {"window_strides", Dims{1}}})};
}

LargeUses LargeTranspose(const OpDef& op, int64_t n) {
  const auto side = static_cast<int64_t>(std::sqrt(n));
  const Attributes swap = {{"permutation", Dims{1, 0}}};
  return {Use("square", op, {F32({side, side})}, swap),
          Use("tall", op, {F32({n / 4, 4})}, swap),
          Use("wide", op, {F32({4, n / 4})}, swap)};
}

// The loop's body takes n steps.
LargeUses LargeWhile(const OpDef& op, int64_t n) {
  const Shape on = Shape::Scalar(DType::kBool), x = F32({n});
  const Body condition{{on, x},
                       [](ComputationBuilder&, absl::Span<const ValueId> v) {
                         return Values{v[0]};
                       }};
  const Body body{{on, x},
                  [](ComputationBuilder& b, absl::Span<const ValueId> v) {
                    return Values{b.Constant(Literal::Scalar(false)),
                                  b.Add(kNegate, {v[1]})};
                  }};
  Module module("loop");
  const int first = AddComputation(module, "on", {on, x}, condition.fn);
  const int second = AddComputation(module, "body", {on, x}, body.fn);
  AddComputation(
      module, "main", {x},
      [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
        const ValueId start = b.Constant(Literal::Scalar(true));
        const ValueId done = b.Add(op, {start, v[0]}, {}, {first, second});
        return Values{done + 1};
      });
  return {{"one turn", std::move(module), {x}}};
}

LargeUses LargeScan(const OpDef& op, int64_t n) {
  const Shape one = F32({}), other = S32({});
  const Body add{{one, one}, OneOp(kAdd)};
  // A sum beside a largest: by lanes.
  const Body both{
      {one, other, one, other},
      [](ComputationBuilder& b, absl::Span<const ValueId> v) {
        return Values{b.Add(kAdd, {v[0], v[2]}), b.Add(kMaximum, {v[1], v[3]})};
      }};
  const int64_t few = n / 64;
  return {
      Use("run", op, {F32({n / 2})}, {{"dimension", int64_t{0}}}, {add}),
      Use("rows", op, {F32({n / 64, 64})}, {{"dimension", int64_t{1}}}, {add}),
      Use("columns", op, {F32({64, n / 64})}, {{"dimension", int64_t{0}}},
          {add}),
      Use("two inputs", op, {F32({few, 8}), S32({few, 8})},
          {{"dimension", int64_t{1}}}, {both})};
}

LargeUses LargeSort(const OpDef& op, int64_t n) {
  const Shape key = S32({}), other = F32({});
  const auto compare = [](ComputationBuilder& b, ValueId x, ValueId y) {
    return Values{b.Add(kCompare, {x, y}, {{"direction", std::string("LT")}})};
  };
  const Body less{{key, key},
                  [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
                    return compare(b, v[0], v[1]);
                  }};
  const Body of_two{{key, key, other, other},
                    [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
                      return compare(b, v[0], v[1]);
                    }};
  // No key of one element.
  const Body product{{key, key},
                     [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
                       return compare(b, v[0], b.Add(kMaximum, {v[0], v[1]}));
                     }};
  const int64_t few = n / 256;
  return {
      Use("keys", op, {S32({n / 4})}, {{"dimension", int64_t{0}}}, {less}),
      Use("rows", op, {S32({n / 256, 100})}, {{"dimension", int64_t{1}}},
          {less}),
      Use("two inputs", op, {S32({n / 8}), F32({n / 8})},
          {{"dimension", int64_t{0}}}, {of_two}),
      Use("calls", op, {S32({few})}, {{"dimension", int64_t{0}}}, {product})};
}

// `op` of one matrix, or of many small ones: parameter 0, which is of zeros,
// and a matrix that is the identity, or full and Hermitian.
LargeUse OfMatrices(std::string what, const OpDef& op, const Shape& matrices,
                    std::vector<Shape> others, const Attributes& attributes,
                    bool full = false) {
  const int64_t n = matrices.dim(-1);
  Literal identity = Literal::Zeros(Shape::Of(matrices.dtype(), {n, n}));
  VisitDType(matrices.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t k = 0; k < n * n; ++k) {
      const int64_t apart = k / n + k % n + 1;
      if (!full && k % (n + 1) != 0) continue;
      identity.mutable_data<T>()[k] =
          static_cast<T>(full ? 1 / static_cast<float>(apart) : 1);
    }
  });
  Dims where = {matrices.rank() - 2, matrices.rank() - 1};
  others.insert(others.begin(), matrices);
  Module module("matrices");
  AddComputation(
      module, "main", others,
      [&](ComputationBuilder& b, absl::Span<const ValueId> v) {
        const ValueId all =
            b.Add(kBroadcastInDim, {b.Constant(identity)},
                  {{"broadcast_dimensions", where}, {"dims", matrices.dims()}});
        Values operands(v.begin(), v.end());
        operands[0] = b.Add(kAdd, {v[0], all});
        return Values{b.Add(op, operands, attributes)};
      });
  return {std::move(what), std::move(module), std::move(others)};
}

LargeUses LargeCholesky(const OpDef& op, int64_t n) {
  const auto side = static_cast<int64_t>(std::cbrt(6 * 64.0 * n));
  const Attributes lower = {{"lower", true}}, upper = {{"lower", false}};
  return {OfMatrices("one", op, F32({side, side}), {}, lower),
          OfMatrices("upper", op, F32({side, side}), {}, upper),
          OfMatrices("small", op, Shape::Of(DType::kC128, {n / 1024, 8, 8}), {},
                     lower)};
}

LargeUses LargeTriangularSolve(const OpDef& op, int64_t n) {
  const auto side = static_cast<int64_t>(std::cbrt(2 * 64.0 * n));
  const auto by = [](bool left, const char* turned) {
    return Attributes{{"left_side", left},
                      {"lower", true},
                      {"transpose_a", std::string(turned)},
                      {"unit_diagonal", false}};
  };
  return {OfMatrices("left", op, F32({side, side}), {F32({side, side})},
                     by(true, "NO_TRANSPOSE")),
          OfMatrices("right", op, F32({side, side}), {F32({side, side})},
                     by(false, "TRANSPOSE")),
          OfMatrices("small", op, F32({n / 256, 8, 8}), {F32({n / 256, 8, 8})},
                     by(true, "ADJOINT")),
          OfMatrices("vector", op, F32({2048, 2048}), {F32({2048, 1})},
                     by(true, "NO_TRANSPOSE"))};
}

LargeUses LargeFft(const OpDef& op, int64_t n) {
  const auto use = [&](std::string what, const char* type, DType dtype,
                       const Dims& dims, const Dims& lengths) {
    return Use(std::move(what), op, {Shape::Of(dtype, dims)},
               {{"fft_length", lengths}, {"fft_type", std::string(type)}});
  };
  const DType c64 = DType::kC64;
  return {
      use("rows", "FFT", c64, {n / 256, 256}, {256}),
      use("columns", "IFFT", c64, {1, 256, n / 256}, {256, n / 256}),
      use("few columns", "FFT", c64, {n / 256, 128, 2}, {128, 2}),
      use("long rows", "FFT", c64, {n / 8192, 4096}, {4096}),
      use("one", "IFFT", c64, {n / 2}, {n / 2}),
      use("primes", "FFT", c64, {n / 4096, 1009}, {1009}),
      use("a prime", "FFT", c64, {1000003}, {1000003}),
      use("of f64", "FFT", DType::kC128, {n / 512, 256}, {256}),
      use("real rows", "RFFT", DType::kF32, {n / 128, 256}, {256}),
      use("odd real rows", "RFFT", DType::kF32, {n / 256, 135}, {135}),
      use("one of reals", "RFFT", DType::kF32, {n}, {n}),
      use("back to one", "IRFFT", c64, {n / 2 + 1}, {n}),
  };
}

// Of `steps` a row, column and row, about.
LargeUses LargeFactors(const OpDef& op, int64_t n) {
  Attributes flags;
  for (const AttributeSpec& spec : op.attributes) flags.Set(spec.name, true);
  const bool spectral = &op == &kEigh || &op == &kSvd;
  const double steps = &op == &kEig ? 4.0 : spectral ? 16.0 : 96.0;
  const auto side = static_cast<int64_t>(std::cbrt(steps * n));
  return {OfMatrices("one", op, F32({side, side}), {}, flags, true),
          OfMatrices("small", op, F32({n / 256, 8, 8}), {}, flags, true)};
}

LargeUses LargeHouseholderProduct(const OpDef& op, int64_t n) {
  const auto side = static_cast<int64_t>(std::cbrt(96.0 * n));
  return {
      OfMatrices("one", op, F32({side, side}), {F32({side})}, {}),
      OfMatrices("small", op, F32({n / 256, 8, 8}), {F32({n / 256, 8})}, {})};
}

using LargeUseFn = LargeUses (*)(const OpDef&, int64_t);
const absl::flat_hash_map<const OpDef*, LargeUseFn>& LargeTable() {
  static const auto& table = *new absl::flat_hash_map<const OpDef*, LargeUseFn>{
      {&kArgMax, LargeArgExtreme},
      {&kArgMin, LargeArgExtreme},
      {&kBitcastConvert, LargeBitcast},
      {&kBroadcastInDim, LargeBroadcast},
      {&kCall, LargeCalls},
      {&kCase, LargeCalls},
      {&kCholesky, LargeCholesky},
      {&kConcatenate, LargeConcatenate},
      {&kDotGeneral, LargeDot},
      {&kDynamicSlice, LargeDynamicSlice},
      {&kDynamicUpdateSlice, LargeUpdateSlice},
      {&kFft, LargeFft},
      {&kEig, LargeFactors},
      {&kEigh, LargeFactors},
      {&kFusion, LargeCalls},
      {&kGather, LargeGather},
      {&kGeqrf, LargeFactors},
      {&kHouseholderProduct, LargeHouseholderProduct},
      {&kIota, LargeIota},
      {&kConvolution, LargeConvolution},
      {&kLu, LargeFactors},
      {&kPad, LargePad},
      {&kQr, LargeFactors},
      {&kReduce, LargeReduce},
      {&kReverse, LargeReverse},
      {&kScan, LargeScan},
      {&kScatter, LargeScatter},
      {&kSlice, LargeSlice},
      {&kSort, LargeSort},
      {&kSvd, LargeFactors},
      {&kTranspose, LargeTranspose},
      {&kUnfold, LargeUnfold},
      {&kTriangularSolve, LargeTriangularSolve},
      {&kWhile, LargeWhile},
  };
  return table;
}

}  // namespace

std::vector<LargeUse> LargeUsesOf(const OpDef& op, int64_t n) {
  const auto row = LargeTable().find(&op);
  if (row != LargeTable().end()) return row->second(op, n);
  return op.Is(kElementwise) ? LargeElementwise(op, n) : LargeUses();
}

bool TakesNoWork(const OpDef& op) {
  return &op == &kConstant || &op == &kParameter || &op == &kReshape ||
         &op == &kStopGradient;
}

std::vector<Literal> ZerosFor(const LargeUse& use) {
  std::vector<Literal> zeros;
  for (const Shape& shape : use.arguments) {
    // Pages of zeros that are made when they are touched.
    auto* bytes = static_cast<char*>(
        std::calloc(std::max<size_t>(shape.byte_size(), 1), 1));
    HAWSER_CHECK(bytes != nullptr);
    zeros.push_back(Literal::AdoptWritable(
        shape, std::shared_ptr<char>(bytes, &std::free)));
  }
  return zeros;
}

}  // namespace hawser::cpu
