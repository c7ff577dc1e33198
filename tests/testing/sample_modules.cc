#include "tests/testing/sample_modules.h"

#include <cmath>
#include <limits>
#include <utility>

#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "core/base/values/half.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser {
namespace {

// A constant of its own, since g++ 12 takes a temporary Dims{} for
// uninitialized when it moves into an attribute.
const Dims kNoAxes;

int Finish(ComputationBuilder& b, absl::Span<const ValueId> results) {
  absl::StatusOr<int> index = b.Finish(results);
  if (!index.ok()) {
    internal::CheckFailed(__FILE__, __LINE__,
                          index.status().ToString().c_str());
  }
  return *index;
}

// (a, b: scalars of `dtype`) -> op(a, b)
int ScalarFold(Module* m, const OpDef& op, DType dtype) {
  ComputationBuilder b(m, std::string(op.name));
  const ValueId x = b.Parameter(Shape::Scalar(dtype));
  const ValueId y = b.Parameter(Shape::Scalar(dtype));
  return Finish(b, {b.Add(op, {x, y})});
}

template <typename T>
std::vector<T> InterestingValues() {
  using Limits = std::numeric_limits<T>;
  if constexpr (kIsComplex<T>) {
    using R = typename T::value_type;
    return {T(1, -2), T(std::numeric_limits<R>::quiet_NaN(), R(-0.0)),
            T(std::numeric_limits<R>::infinity(), 0)};
  } else if constexpr (kIsHalf<T>) {
    return {T::FromBits(0x0001), T::FromBits(0x8000), T::FromBits(0x7FFF)};
  } else if constexpr (kIsFloat<T>) {
    return {Limits::denorm_min(), T(-0.0), -Limits::infinity(),
            Limits::quiet_NaN(), -Limits::signaling_NaN()};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {true, false, true};
  } else {
    return {Limits::min(), Limits::max(), T(1)};
  }
}

// vector<bool> has no data(), hence the copy.
template <typename T>
Literal VectorOf(const std::vector<T>& values) {
  const auto n = static_cast<int64_t>(values.size());
  Literal out = Literal::Uninitialized(Shape::Of(kDTypeOf<T>, {n}));
  auto to = out.mutable_data<T>();
  for (int64_t i = 0; i < n; ++i) to[i] = values[i];
  return out;
}

// Calls of `reduce` with two inputs, by one computation with two results.
void AddTwoInputReduce(Module* m) {
  ComputationBuilder fold(m, "sum and largest");
  const ValueId s = fold.Parameter(Shape::Scalar(DType::kF32));
  const ValueId l = fold.Parameter(Shape::Scalar(DType::kS64));
  const ValueId x = fold.Parameter(Shape::Scalar(DType::kF32));
  const ValueId y = fold.Parameter(Shape::Scalar(DType::kS64));
  const ValueId sum = fold.Add(kAdd, {s, x});
  const int called = Finish(fold, {sum, fold.Add(kMaximum, {l, y})});

  ComputationBuilder b(m, "two inputs");
  const ValueId in0 = b.Parameter(Shape::Of(DType::kF32, {3, 0, 2}));
  const ValueId in1 = b.Parameter(Shape::Of(DType::kS64, {3, 0, 2}));
  const ValueId init0 = b.Constant(Literal::Scalar(0.0f));
  const ValueId init1 =
      b.Constant(Literal::Scalar(std::numeric_limits<int64_t>::min()));
  const ValueId r = b.Add(kReduce, {in0, in1, init0, init1},
                          {{"dimensions", Dims{0, 2}}}, {called});
  Finish(b, {r + 1, r});
}

// (i: s32, x: f32[2]) -> i < limit
int CountBelow(Module* m, int limit) {
  ComputationBuilder b(m, "condition");
  const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
  b.Parameter(Shape::Of(DType::kF32, {2}));
  const ValueId end = b.Constant(Literal::Scalar<int32_t>(limit));
  return Finish(b, {b.Add(kCompare, {i, end}, {{"direction", "LT"}})});
}

// (i, x) -> (i + 1, x + x), or with `inner` the state after a loop over it.
int LoopBody(Module* m, absl::Span<const int> inner) {
  ComputationBuilder b(m, "body");
  const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {2}));
  ValueId next = x;
  if (inner.empty()) {
    next = b.Add(kAdd, {x, x});
  } else {
    const ValueId zero = b.Constant(Literal::Scalar<int32_t>(0));
    next = b.Add(kWhile, {zero, x}, {}, inner) + 1;
  }
  const ValueId one = b.Constant(Literal::Scalar<int32_t>(1));
  return Finish(b, {b.Add(kAdd, {i, one}), next});
}

// (i: s32, x: f32[2]) -> (i + 1), x stays.
int InvariantBody(Module* m) {
  ComputationBuilder b(m, "body, x stays");
  const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
  b.Parameter(Shape::Of(DType::kF32, {2}));
  const ValueId one = b.Constant(Literal::Scalar<int32_t>(1));
  return Finish(b, {b.Add(kAdd, {i, one})});
}

int Branch(Module* m, const OpDef& op) {
  ComputationBuilder b(m, std::string(op.name));
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {2}));
  return Finish(b, {b.Add(op, {x}), x});
}

}  // namespace

Module SmallModule() {
  Module m("small");
  const int plus = ScalarFold(&m, kAdd, DType::kF32);
  ComputationBuilder b(&m, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {2, 3}));
  const ValueId zero = b.Constant(Literal::Scalar(0.0f));
  const ValueId twice = b.Add(kAdd, {x, x});
  const ValueId sum =
      b.Add(kReduce, {x, zero}, {{"dimensions", Dims{0}}}, {plus});
  const ValueId less = b.Add(kCompare, {x, twice}, {{"direction", "LT"}});
  Finish(b, {twice, sum, less});
  return m;
}

Module ConstantsModule() {
  Module m("constants");
  ComputationBuilder b(&m, "main");
  std::vector<ValueId> results;
  for (const DType dtype : AllDTypes()) {
    VisitDType(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto values = InterestingValues<T>();
      results.push_back(b.Constant(VectorOf<T>(values)));
      results.push_back(b.Constant(Literal::Scalar<T>(values[0])));
      results.push_back(
          b.Constant(Literal::Zeros(Shape::Of(kDTypeOf<T>, {2, 0, 3}))));
    });
  }
  Finish(b, results);
  return m;
}

Module AttributesModule() {
  Module m("attributes");
  ComputationBuilder b(&m, "main");
  const ValueId scalar = b.Parameter(Shape::Scalar(DType::kF32));
  const ValueId i = b.Add(kIota, {},
                          {{"dims", Dims{2, 3}},
                           {"dtype", DType::kS64},
                           {"iota_dimension", int64_t{1}}});
  const ValueId low = b.Add(kArgMax, {i}, {{"dimension", int64_t{0}}});
  const ValueId high = b.Add(kArgMax, {i},
                             {{"dimension", int64_t{1}},
                              {"dtype", DType::kU32},
                              {"tie", std::string("high")}});
  const ValueId wide = b.Add(kBroadcastInDim, {scalar},
                             {{"broadcast_dimensions", kNoAxes},
                              {"dims", Dims{1, 1, 1, 1, 1, 1, 1, 2}}});
  const ValueId flat = b.Add(kReshape, {wide}, {{"dims", Dims{2}}});
  const ValueId half = b.Add(kConvert, {flat}, {{"dtype", DType::kBF16}});
  const ValueId back =
      b.Add(kPad, {half, b.Add(kConvert, {scalar}, {{"dtype", DType::kBF16}})},
            {{"edge_padding_high", Dims{-1}},
             {"edge_padding_low", Dims{3}},
             {"interior_padding", Dims{0}}});
  const ValueId rows = b.Add(kGather, {i, low},
                             {{"collapsed_slice_dims", Dims{0}},
                              {"index_vector_dim", int64_t{1}},
                              {"offset_dims", Dims{1}},
                              {"slice_sizes", Dims{1, 3}},
                              {"start_index_map", Dims{0}}});
  Finish(b, {low, high, back, rows});
  return m;
}

Module RegionsModule() {
  Module m("regions");
  AddTwoInputReduce(&m);
  const int inner_while = CountBelow(&m, 3);
  const int inner_body = LoopBody(&m, {});
  const int outer_while = CountBelow(&m, 2);
  const int outer_body = LoopBody(&m, {inner_while, inner_body});
  const int invariant = InvariantBody(&m);
  const int branches[] = {Branch(&m, kNegate), Branch(&m, kTanh),
                          Branch(&m, kNegate)};
  ComputationBuilder b(&m, "main");
  const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {2}));
  const ValueId nested = b.Add(kWhile, {i, x}, {}, {outer_while, outer_body});
  const ValueId counted = b.Add(kWhile, {i, x}, {{"num_invariant", int64_t{1}}},
                                {inner_while, invariant});
  const ValueId chosen = b.Add(kCase, {counted, nested + 1}, {}, branches);
  Finish(b, {nested, nested + 1, chosen, chosen + 1});
  return m;
}

Module NamesModule() {
  Module m("na\"me\n\xC3\xA9\xF0\x9F\x9A\xA2");
  ComputationBuilder nothing(&m, "");
  Finish(nothing, {});
  ComputationBuilder unused(&m, std::string("nul\0tab\t", 8));
  unused.Parameter(Shape::Of(DType::kU8, {0}));
  Finish(unused, {});
  ComputationBuilder twice(&m, std::string(300, 'x'));
  const ValueId x = twice.Parameter(Shape::Scalar(DType::kBool));
  Finish(twice, {x, x});
  return m;
}

Module ChainModule(int length) {
  Module m("chain");
  ComputationBuilder b(&m, "main");
  ValueId x = b.Parameter(Shape::Of(DType::kF32, {4}));
  for (int i = 0; i < length; ++i) x = b.Add(kAdd, {x, x});
  Finish(b, {x});
  return m;
}

std::vector<NamedModule> SampleModules() {
  std::vector<NamedModule> samples;
  samples.push_back({"small", SmallModule()});
  samples.push_back({"constants", ConstantsModule()});
  samples.push_back({"attributes", AttributesModule()});
  samples.push_back({"regions", RegionsModule()});
  samples.push_back({"names", NamesModule()});
  samples.push_back({"chain", ChainModule(100)});
  return samples;
}

}  // namespace hawser
