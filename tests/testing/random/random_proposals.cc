// What operands and attributes an op might take: one short proposer per family
// and a table. An op without a row gets the elementwise default.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
#include "tests/testing/random/random_draft.h"

namespace hawser {
namespace {

// All operands of one shape, with a dtype of the row's.
Proposal Elementwise(const OpDef& op, Draft& d) {
  Proposal p{{d.AnyOf(op.dtypes, 0)}, {}, {}};
  const Shape shape = d.shape(p.operands[0]);
  while (static_cast<int>(p.operands.size()) < op.arity.min) {
    p.operands.push_back(d.AnyOfShape(shape));
  }
  return p;
}

Dims RandomDims(Draft& d) {
  return d.random().PickDims(d.options().max_rank, d.options().max_elements,
                             d.options().empty_axes);
}

// A random order of 0 .. n - 1.
Dims Shuffled(int n, Random& random) {
  Dims order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i)
    std::swap(order[i], order[random.Below(i + 1)]);
  return order;
}

// Some of 0 .. n - 1, ascending.
Dims SomeAxes(int n, Random& random) {
  Dims axes;
  for (int i = 0; i < n; ++i) {
    if (random.OneIn(2)) axes.push_back(i);
  }
  return axes;
}

Proposal ProposeConstant(const OpDef& op, Draft& d) {
  const Shape shape =
      Shape::Of(d.random().PickDType(d.options().dtypes), RandomDims(d));
  return {{}, {{"value", RandomLiteral(shape, d.random())}}, {}};
}

Proposal ProposeIota(const OpDef& op, Draft& d) {
  Dims dims = RandomDims(d);
  if (dims.empty()) dims.push_back(3);
  const int64_t axis = d.random().Below(dims.size());
  return {{},
          {{"dims", std::move(dims)},
           {"dtype", d.random().PickDType(op.dtypes)},
           {"iota_dimension", axis}},
          {}};
}

Proposal ProposeBroadcastInDim(const OpDef& op, Draft& d) {
  const ValueId v = d.Any();
  const Shape& from = d.shape(v);
  Dims dims(from.dims());
  for (int64_t& size : dims) {
    if (size == 1) size = d.random().Between(1, 3);
  }
  Dims where(from.rank());
  std::iota(where.begin(), where.end(), 0);
  for (int64_t extra = d.random().Below(3); extra > 0; --extra) {
    const int64_t at = d.random().Below(dims.size() + 1);
    dims.insert(dims.begin() + at, d.random().Between(1, 3));
    for (int64_t& axis : where) axis += axis >= at ? 1 : 0;
  }
  return {
      {v},
      {{"broadcast_dimensions", std::move(where)}, {"dims", std::move(dims)}},
      {}};
}

// Moves factors between axes, so that the number of elements stays.
Proposal ProposeReshape(const OpDef& op, Draft& d) {
  const ValueId v = d.Any();
  int64_t left = d.shape(v).num_elements();
  if (left == 0) {  // as any other without elements
    Dims dims = RandomDims(d);
    dims.insert(dims.begin() + d.random().Between(0, dims.size()), 0);
    return {{v}, {{"dims", std::move(dims)}}, {}};
  }
  Dims dims;
  while (left > 1 && static_cast<int>(dims.size()) < d.options().max_rank) {
    const int64_t factor = d.random().Between(1, 4);
    if (left % factor != 0) continue;
    dims.push_back(factor);
    left /= factor;
  }
  if (left != 1) dims.push_back(left);
  return {{v}, {{"dims", std::move(dims)}}, {}};
}

Proposal ProposeTranspose(const OpDef& op, Draft& d) {
  const ValueId v = d.Any();
  return {{v}, {{"permutation", Shuffled(d.shape(v).rank(), d.random())}}, {}};
}

Proposal ProposeConcatenate(const OpDef& op, Draft& d) {
  Proposal p{{d.AnyOf(op.dtypes, 1)}, {}, {}};
  const Shape shape = d.shape(p.operands[0]);
  const int64_t axis = d.random().Below(shape.rank());
  for (int64_t more = d.random().Below(3); more > 0; --more) {
    Dims dims = shape.dims();
    if (d.random().OneIn(2)) dims[axis] = d.random().Between(0, 3);
    p.operands.push_back(d.AnyOfShape(Shape::Of(shape.dtype(), dims)));
  }
  p.attributes.Set("dimension", axis);
  return p;
}

Proposal ProposeReverse(const OpDef& op, Draft& d) {
  const ValueId v = d.Any();
  return {{v}, {{"dimensions", SomeAxes(d.shape(v).rank(), d.random())}}, {}};
}

Proposal ProposePad(const OpDef& op, Draft& d) {
  const ValueId v = d.Any();
  const Shape shape = d.shape(v);
  Proposal p{{v, d.AnyOfShape(Shape::Scalar(shape.dtype()))}, {}, {}};
  const absl::string_view names[] = {"edge_padding_high", "edge_padding_low",
                                     "interior_padding"};
  for (const absl::string_view name : names) {
    Dims amounts;
    for (int i = 0; i < shape.rank(); ++i) {
      amounts.push_back(d.random().Between(name[0] == 'i' ? 0 : -1, 2));
    }
    p.attributes.Set(name, std::move(amounts));
  }
  return p;
}

Proposal ProposeCompare(const OpDef& op, Draft& d) {
  constexpr const char* kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  Proposal p = Elementwise(op, d);
  p.attributes.Set("direction", std::string(kDirections[d.random().Below(6)]));
  return p;
}

Proposal ProposeSelect(const OpDef& op, Draft& d) {
  const ValueId v = d.Any();
  const Shape shape = d.shape(v);
  const Shape predicate = d.random().OneIn(3) ? Shape::Scalar(DType::kBool)
                                              : shape.WithDType(DType::kBool);
  return {{d.AnyOfShape(predicate), v, d.AnyOfShape(shape)}, {}, {}};
}

Proposal ProposeClamp(const OpDef& op, Draft& d) {
  const ValueId v = d.AnyOf(op.dtypes, 0);
  const Shape shape = d.shape(v);
  const Shape scalar = Shape::Scalar(shape.dtype());
  const ValueId low = d.AnyOfShape(d.random().OneIn(2) ? shape : scalar);
  return {{low, v, d.AnyOfShape(d.random().OneIn(2) ? shape : scalar)}, {}, {}};
}

Proposal ProposeConvert(const OpDef& op, Draft& d) {
  return {{d.AnyOf(op.dtypes, 0)},
          {{"dtype", d.random().PickDType(op.dtypes)}},
          {}};
}

Proposal ProposeReducePrecision(const OpDef& op, Draft& d) {
  return {{d.AnyOf(op.dtypes, 0)},
          {{"exponent_bits", d.random().Between(1, 12)},
           {"mantissa_bits", d.random().Between(0, 24)}},
          {}};
}

Proposal ProposeSlice(const OpDef& op, Draft& d) {
  const ValueId v = d.Any();
  Dims start, limit, strides;
  for (const int64_t size : d.shape(v).dims()) {
    start.push_back(d.random().Between(0, size));
    limit.push_back(d.random().Between(start.back(), size));
    strides.push_back(d.random().Between(1, 3));
  }
  return {{v},
          {{"limit_indices", std::move(limit)},
           {"start_indices", std::move(start)},
           {"strides", std::move(strides)}},
          {}};
}

// Of two values whose sizes fit by chance, or of a value and itself as a kernel
// of one place; nothing where there are none.
Proposal ProposeConvolution(const OpDef& op, Draft& d) {
  const ValueId x = d.AnyOf(op.dtypes, 0);
  const Shape shape = d.shape(x);
  if (shape.rank() < 3) return {};
  Dims kernel(shape.rank(), 1);
  for (int a = 0; a + 2 < shape.rank(); ++a) {
    kernel[a] = d.random().Between(1, 2);
  }
  const int64_t features = shape.dim(shape.rank() - 1);
  const int64_t groups = features > 0 && d.random().OneIn(3) ? features : 1;
  kernel[shape.rank() - 2] = features / groups;
  kernel.back() = groups * d.random().Between(1, 2);
  Proposal p{{x, d.AnyOfShape(Shape::Of(shape.dtype(), kernel))}, {}, {}};
  const absl::string_view names[] = {"lhs_dilation", "padding_high",
                                     "padding_low", "rhs_dilation",
                                     "window_strides"};
  for (const absl::string_view name : names) {
    Dims numbers;
    for (int a = 0; a + 2 < shape.rank(); ++a) {
      numbers.push_back(name[0] == 'p' ? d.random().Between(0, 2)
                                       : d.random().Between(1, 2));
    }
    p.attributes.Set(name, std::move(numbers));
  }
  p.attributes.Set("feature_group_count", groups);
  return p;
}

Proposal ProposeUnfold(const OpDef& op, Draft& d) {
  const ValueId v = d.Any();
  const Shape shape = d.shape(v);
  Dims axes, sizes, strides, dilations;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!d.random().OneIn(2) || shape.dim(axis) > 64) continue;
    axes.push_back(axis);
    sizes.push_back(d.random().Between(1, 3));
    strides.push_back(d.random().Between(1, 3));
    dilations.push_back(d.random().Between(1, 2));
  }
  if (d.random().OneIn(2)) {
    std::reverse(axes.begin(), axes.end());
  }
  return {{v},
          {{"dimensions", std::move(axes)},
           {"window_dilations", std::move(dilations)},
           {"window_dimensions", std::move(sizes)},
           {"window_strides", std::move(strides)}},
          {}};
}

// One integer scalar per axis, all of one dtype.
void AppendStarts(int rank, Draft& d, Proposal* p) {
  const Shape start = Shape::Scalar(d.random().PickDType(kInts));
  for (int i = 0; i < rank; ++i) p->operands.push_back(d.AnyOfShape(start));
}

Dims SmallerSizes(const Shape& shape, Random& random) {
  Dims sizes;
  for (const int64_t size : shape.dims()) {
    sizes.push_back(random.Between(std::min<int64_t>(size, 1), size));
  }
  return sizes;
}

Proposal ProposeDynamicSlice(const OpDef& op, Draft& d) {
  Proposal p{{d.Any()}, {}, {}};
  const Shape shape = d.shape(p.operands[0]);
  AppendStarts(shape.rank(), d, &p);
  p.attributes.Set("slice_sizes", SmallerSizes(shape, d.random()));
  return p;
}

Proposal ProposeDynamicUpdateSlice(const OpDef& op, Draft& d) {
  Proposal p{{d.Any()}, {}, {}};
  const Shape shape = d.shape(p.operands[0]);
  p.operands.push_back(
      d.AnyOfShape(Shape::Of(shape.dtype(), SmallerSizes(shape, d.random()))));
  AppendStarts(shape.rank(), d, &p);
  return p;
}

// The right side is made to fit: partners of the left side's axes, then up to
// one free axis, in a random order.
Proposal ProposeDotGeneral(const OpDef& op, Draft& d) {
  const ValueId lhs = d.AnyOf(op.dtypes, 1);
  const Shape shape = d.shape(lhs);
  const Dims left = Shuffled(shape.rank(), d.random());
  const int batches = static_cast<int>(d.random().Below(2));
  const int contracted =
      static_cast<int>(d.random().Between(0, shape.rank() - batches));
  const int shared = batches + contracted;
  const int free = static_cast<int>(d.random().Below(2));
  const Dims right = Shuffled(shared + free, d.random());
  Dims dims(shared + free, 2);
  for (int i = 0; i < shared; ++i) dims[right[i]] = shape.dim(left[i]);
  const ValueId rhs = d.AnyOfShape(Shape::Of(shape.dtype(), dims));
  const auto part = [](const Dims& axes, int begin, int end) {
    return Dims(axes.begin() + begin, axes.begin() + end);
  };
  Attributes attributes = {
      {"lhs_batching_dimensions", part(left, 0, batches)},
      {"lhs_contracting_dimensions", part(left, batches, shared)},
      {"rhs_batching_dimensions", part(right, 0, batches)},
      {"rhs_contracting_dimensions", part(right, batches, shared)}};
  const DType wide = d.random().PickDType(kNumbers);
  if (WidensProduct(shape.dtype(), wide)) attributes.Set("result_dtype", wide);
  return {{lhs, rhs}, std::move(attributes), {}};
}

Proposal ProposeGather(const OpDef& op, Draft& d) {
  const ValueId from = d.Any();
  const Shape shape = d.shape(from);
  const ValueId indices = d.AnyOf(kInts, 0);
  const Shape& at = d.shape(indices);
  const int64_t vector_axis = d.random().Between(0, at.rank());
  const int64_t components = vector_axis < at.rank() ? at.dim(vector_axis) : 1;
  Dims map = Shuffled(shape.rank(), d.random());
  if (components < static_cast<int64_t>(map.size())) map.resize(components);
  Dims sizes = SmallerSizes(shape, d.random());
  Dims collapsed;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) == 0 || d.random().OneIn(2)) continue;
    sizes[i] = 1;
    collapsed.push_back(i);
  }
  const int batch = at.rank() - (vector_axis < at.rank() ? 1 : 0);
  const int slice = shape.rank() - static_cast<int>(collapsed.size());
  Dims offset = Shuffled(batch + slice, d.random());
  offset.resize(slice);
  std::sort(offset.begin(), offset.end());
  return {{from, indices},
          {{"collapsed_slice_dims", std::move(collapsed)},
           {"index_vector_dim", vector_axis},
           {"offset_dims", std::move(offset)},
           {"slice_sizes", std::move(sizes)},
           {"start_index_map", std::move(map)}},
          {}};
}

Proposal ProposeArgExtreme(const OpDef& op, Draft& d) {
  constexpr DType kIndexTypes[] = {DType::kS32, DType::kS64, DType::kU32,
                                   DType::kU64};
  const ValueId v = d.AnyOf(op.dtypes, 1);
  Proposal p{{v}, {{"dimension", d.random().Below(d.shape(v).rank())}}, {}};
  if (d.random().OneIn(2)) {
    p.attributes.Set("dtype", kIndexTypes[d.random().Below(4)]);
  }
  if (d.random().OneIn(2)) {
    p.attributes.Set("tie", std::string(d.random().OneIn(2) ? "low" : "high"));
  }
  return p;
}

// ---- regions ----------------------------------------------------------------

template <typename T>
Literal ScalarOf(DType dtype, T value) {
  return VisitDType(dtype, [&](auto tag) {
    return Literal::Scalar(static_cast<typename decltype(tag)::type>(value));
  });
}

// The neutral element of a monoid over `dtype`.
Literal Neutral(const OpDef& op, DType dtype) {
  if (&op == &kAdd) return ScalarOf(dtype, 0);
  if (&op == &kMultiply) return ScalarOf(dtype, 1);
  const bool smallest = &op == &kMaximum;
  return VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<T>;
    if constexpr (kIsFloat<T>) {
      const float infinity = std::numeric_limits<float>::infinity();
      return Literal::Scalar<T>(T(smallest ? -infinity : infinity));
    } else if constexpr (kIsComplex<T>) {
      return Literal::Scalar<T>(0);  // no order, so no such monoid
    } else {
      return Literal::Scalar<T>(smallest ? Limits::lowest() : Limits::max());
    }
  });
}

// A monoid that `dtype` has.
const OpDef& Monoid(DType dtype, Random& random) {
  const OpDef* const all[] = {&kMaximum, &kMinimum, &kAdd, &kMultiply};
  if (IsBool(dtype)) return *all[random.Below(2)];
  return *all[IsComplex(dtype) ? random.Between(2, 3) : random.Below(4)];
}

Proposal ProposeReduce(const OpDef& op, Draft& d) {
  Proposal p{{d.Any()}, {}, {}};
  const Shape shape = d.shape(p.operands[0]);
  if (d.random().OneIn(3)) {
    p.operands.push_back(
        d.AnyOfShape(shape.WithDType(d.random().PickDType(kAnyDType))));
  }
  const int n = static_cast<int>(p.operands.size());
  Draft fold(d.module(), &d.random(), &d.options(), "fold");
  for (int i = 0; i < 2 * n; ++i) {
    fold.Parameter(Shape::Scalar(d.shape(p.operands[i % n]).dtype()));
  }
  std::vector<ValueId> results;
  for (int i = 0; i < n; ++i) {
    const DType dtype = fold.shape(i).dtype();
    const OpDef& monoid = Monoid(dtype, d.random());
    results.push_back(fold.computation().num_values());
    fold.Append(monoid, {{i, n + i}, {}, {}});
    p.operands.push_back(d.Constant(Neutral(monoid, dtype)));
  }
  p.attributes.Set("dimensions", SomeAxes(shape.rank(), d.random()));
  p.called.push_back(fold.Finish(results));
  return p;
}

// Sums and products of floats depend on their order: of these the largest or
// smallest, which say the same in any.
const OpDef& OrderlessMonoid(DType dtype, Random& random) {
  const OpDef* const all[] = {&kMaximum, &kMinimum, &kAdd, &kMultiply};
  return *all[IsInteger(dtype) ? random.Below(4) : random.Below(2)];
}

// A value of the draft that has an axis and an order.
Proposal ProposeScan(const OpDef& op, Draft& d) {
  Proposal p{{d.AnyOf(kOrdered, 1)}, {}, {}};
  const Shape shape = d.shape(p.operands[0]);
  if (d.random().OneIn(3)) {
    p.operands.push_back(
        d.AnyOfShape(shape.WithDType(d.random().PickDType(kOrdered))));
  }
  const int n = static_cast<int>(p.operands.size());
  Draft fold(d.module(), &d.random(), &d.options(), "scan");
  for (int i = 0; i < 2 * n; ++i) {
    fold.Parameter(Shape::Scalar(d.shape(p.operands[i % n]).dtype()));
  }
  std::vector<ValueId> results;
  for (int i = 0; i < n; ++i) {
    results.push_back(fold.computation().num_values());
    fold.Append(OrderlessMonoid(fold.shape(i).dtype(), d.random()),
                {{i, n + i}, {}, {}});
  }
  p.called.push_back(fold.Finish(results));
  p.attributes = {{"dimension", d.random().Below(shape.rank())},
                  {"reverse", d.random().OneIn(2)}};
  return p;
}

// By one of the inputs: as AddComparator has it, or by a comparison of
// integers.
Proposal ProposeSort(const OpDef& op, Draft& d) {
  Proposal p{{d.AnyOf(kOrdered, 1)}, {}, {}};
  const Shape shape = d.shape(p.operands[0]);
  std::vector<DType> others;
  if (d.random().OneIn(2)) {
    others.push_back(d.random().PickDType(kAnyDType));
    p.operands.push_back(d.AnyOfShape(shape.WithDType(others[0])));
  }
  if (IsFloat(shape.dtype()) || d.random().OneIn(2)) {
    p.called.push_back(
        AddComparator(shape.dtype(), d.random().OneIn(2), others, d.module()));
  } else {
    Draft less(d.module(), &d.random(), &d.options(), "less");
    const ValueId left = less.Parameter(Shape::Scalar(shape.dtype()));
    const ValueId right = less.Parameter(Shape::Scalar(shape.dtype()));
    for (const DType other : others) {
      less.Parameter(Shape::Scalar(other));
      less.Parameter(Shape::Scalar(other));
    }
    // As no key is: the larger half of neither.
    const ValueId both = less.computation().num_values();
    less.Append(kMaximum, {{left, right}, {}, {}});
    less.Append(kCompare,
                {{left, both}, {{"direction", std::string("LT")}}, {}});
    p.called.push_back(less.Finish({both + 1}));
  }
  p.attributes = {{"dimension", d.random().Below(shape.rank())},
                  {"is_stable", d.random().OneIn(2)}};
  return p;
}

// (N old elements, N updates) -> each old one kept, put or combined.
int ProposeCombiner(absl::Span<const DType> dtypes, Draft& d) {
  const int n = static_cast<int>(dtypes.size());
  Draft body(d.module(), &d.random(), &d.options(), "combine");
  for (int i = 0; i < 2 * n; ++i) body.Parameter(Shape::Scalar(dtypes[i % n]));
  std::vector<ValueId> results;
  for (int i = 0; i < n; ++i) {
    results.push_back(d.random().OneIn(4) ? i : n + i);
    if (d.random().OneIn(3)) continue;
    results.back() = body.computation().num_values();
    body.Append(Monoid(dtypes[i], d.random()), {{i, n + i}, {}, {}});
  }
  return body.Finish(results);
}

// Index vectors for axes of the inputs; the updates are made to fit.
Proposal ProposeScatter(const OpDef& op, Draft& d) {
  Proposal p{{d.Any()}, {}, {}};
  const Shape shape = d.shape(p.operands[0]);
  std::vector<DType> dtypes = {shape.dtype()};
  if (d.random().OneIn(3)) {
    dtypes.push_back(d.random().PickDType(kAnyDType));
    p.operands.push_back(d.AnyOfShape(shape.WithDType(dtypes[1])));
  }
  p.operands.push_back(d.AnyOf(kInts, 0));
  const Shape at = d.shape(p.operands.back());
  const int64_t vector_axis = d.random().Between(0, at.rank());
  const int64_t components = vector_axis < at.rank() ? at.dim(vector_axis) : 1;
  Dims map = Shuffled(shape.rank(), d.random());
  if (components < static_cast<int64_t>(map.size())) map.resize(components);
  const Dims sizes = SmallerSizes(shape, d.random());
  Dims dims = at.dims(), inserted = SomeAxes(shape.rank(), d.random());
  if (vector_axis < at.rank()) dims.erase(dims.begin() + vector_axis);
  Dims window =
      Shuffled(dims.size() + shape.rank() - inserted.size(), d.random());
  window.resize(shape.rank() - inserted.size());
  std::sort(window.begin(), window.end());
  for (int i = 0, next = 0; i < shape.rank(); ++i) {
    if (std::binary_search(inserted.begin(), inserted.end(), i)) continue;
    dims.insert(dims.begin() + window[next++], sizes[i]);
  }
  for (const DType dtype : dtypes) {
    const auto updates = Shape::Make(dtype, dims);
    p.operands.push_back(updates.ok() ? d.AnyOfShape(*updates) : kNoValue);
  }
  p.called.push_back(ProposeCombiner(dtypes, d));
  p.attributes = {{"index_vector_dim", vector_axis},
                  {"inserted_window_dims", std::move(inserted)},
                  {"scatter_dims_to_operand_dims", std::move(map)},
                  {"update_window_dims", std::move(window)}};
  return p;
}

// Elementwise steps from `v` back to its own shape.
ValueId Steps(Draft& d, ValueId v) {
  const Shape shape = d.shape(v);
  for (int64_t n = d.random().Between(1, 3); n > 0; --n) {
    const ValueId next = d.computation().num_values();
    if (IsBool(shape.dtype())) {
      d.Append(kNot, {{v}, {}, {}});
    } else {
      d.Append(d.random().OneIn(2) ? kAdd : kSubtract,
               {{v, d.AnyOfShape(shape)}, {}, {}});
    }
    v = next;
  }
  return v;
}

// State (s32 counter, x); one of two operands may stay as it is.
Proposal ProposeWhile(const OpDef& op, Draft& d) {
  const Shape counter = Shape::Scalar(DType::kS32);
  Proposal p{{d.Constant(Literal::Scalar<int32_t>(0)), d.Any()}, {}, {}};
  const Shape shape = d.shape(p.operands[1]);
  const bool invariant = d.random().OneIn(3);
  if (invariant) p.attributes.Set("num_invariant", int64_t{1});

  Draft condition(d.module(), &d.random(), &d.options(), "condition");
  const ValueId i = condition.Parameter(counter);
  condition.Parameter(shape);
  const auto turns = static_cast<int32_t>(d.random().Between(0, 3));
  const ValueId end = condition.Constant(Literal::Scalar(turns));
  condition.Append(kCompare,
                   {{i, end}, {{"direction", std::string("LT")}}, {}});
  p.called.push_back(condition.Finish({end + 1}));

  Draft body(d.module(), &d.random(), &d.options(), "body");
  const ValueId j = body.Parameter(counter);
  const ValueId x = body.Parameter(shape);
  const ValueId one = body.Constant(Literal::Scalar<int32_t>(1));
  body.Append(kAdd, {{j, one}, {}, {}});
  std::vector<ValueId> state = {one + 1};
  if (!invariant) state.push_back(Steps(body, x));
  p.called.push_back(body.Finish(state));
  return p;
}

Proposal ProposeCase(const OpDef& op, Draft& d) {
  Proposal p{{d.AnyOfShape(Shape::Scalar(DType::kS32)), d.Any()}, {}, {}};
  const Shape shape = d.shape(p.operands[1]);
  for (int64_t n = d.random().Between(1, 3); n > 0; --n) {
    Draft branch(d.module(), &d.random(), &d.options(), "branch");
    const ValueId x = branch.Parameter(shape);
    p.called.push_back(branch.Finish({Steps(branch, x)}));
  }
  return p;
}

// One operand, several results.
Proposal ProposeCalled(const OpDef& op, Draft& d) {
  Proposal p{{d.Any()}, {}, {}};
  Draft meaning(d.module(), &d.random(), &d.options(), "fused");
  const ValueId x = meaning.Parameter(d.shape(p.operands[0]));
  const ValueId y = Steps(meaning, x);
  p.called.push_back(meaning.Finish({y, Steps(meaning, y)}));
  return p;
}

// Of the last axes of what there is.
Proposal ProposeFft(const OpDef& op, Draft& d) {
  const ValueId v = d.AnyOf(op.dtypes, 1);
  const Shape& shape = d.shape(v);
  const auto most = std::min<int64_t>(shape.rank(), 3);
  const auto count = static_cast<size_t>(d.random().Between(1, most));
  Dims lengths(shape.dims().end() - count, shape.dims().end());
  std::string type = "RFFT";
  if (IsComplex(shape.dtype())) {
    constexpr const char* kTypes[] = {"FFT", "IFFT", "IRFFT"};
    type = kTypes[d.random().Below(3)];
    // The last axis is half of an even or of an odd number of elements.
    int64_t& last = lengths.back();
    if (type == "IRFFT" && last > 0) {
      last = std::max<int64_t>(2 * last - d.random().Between(1, 2), 1);
    }
  }
  return {{v},
          {{"fft_length", std::move(lengths)}, {"fft_type", std::move(type)}},
          {}};
}

using Proposer = Proposal (*)(const OpDef&, Draft&);

const absl::flat_hash_map<const OpDef*, Proposer>& Proposers() {
  static const auto* const table =
      new absl::flat_hash_map<const OpDef*, Proposer>{
          {&kConstant, ProposeConstant},
          {&kIota, ProposeIota},
          {&kBroadcastInDim, ProposeBroadcastInDim},
          {&kReshape, ProposeReshape},
          {&kTranspose, ProposeTranspose},
          {&kConcatenate, ProposeConcatenate},
          {&kReverse, ProposeReverse},
          {&kPad, ProposePad},
          {&kCompare, ProposeCompare},
          {&kSelect, ProposeSelect},
          {&kClamp, ProposeClamp},
          {&kConvert, ProposeConvert},
          {&kBitcastConvert, ProposeConvert},
          {&kReducePrecision, ProposeReducePrecision},
          {&kSlice, ProposeSlice},
          {&kUnfold, ProposeUnfold},
          {&kConvolution, ProposeConvolution},
          {&kDynamicSlice, ProposeDynamicSlice},
          {&kDynamicUpdateSlice, ProposeDynamicUpdateSlice},
          {&kDotGeneral, ProposeDotGeneral},
          {&kGather, ProposeGather},
          {&kArgMax, ProposeArgExtreme},
          {&kArgMin, ProposeArgExtreme},
          {&kReduce, ProposeReduce},
          {&kScan, ProposeScan},
          {&kSort, ProposeSort},
          {&kScatter, ProposeScatter},
          {&kFft, ProposeFft},
          {&kWhile, ProposeWhile},
          {&kCase, ProposeCase},
          {&kCall, ProposeCalled},
          {&kCholesky, ProposeCholesky},
          {&kTriangularSolve, ProposeTriangularSolve},
          {&kLu, ProposeFactors},
          {&kQr, ProposeFactors},
          {&kGeqrf, ProposeFactors},
          {&kEig, ProposeFactors},
          {&kEigh, ProposeFactors},
          {&kSvd, ProposeFactors},
          {&kHouseholderProduct, ProposeHouseholderProduct},
          {&kFusion, ProposeCalled},
      };
  return *table;
}

}  // namespace

Proposal Propose(const OpDef& op, Draft& draft) {
  const auto row = Proposers().find(&op);
  return row == Proposers().end() ? Elementwise(op, draft)
                                  : row->second(op, draft);
}

}  // namespace hawser
