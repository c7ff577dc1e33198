#include "client/sdk/ops/sorting/sort.h"

#include <utility>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/indexing/edge.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/scan.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/ops/sorting/ordering.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::CheckOrder;
using sdk::CheckPlaces;
using sdk::Comparator;
using sdk::OpScope;
using sdk::SortAlong;

// Returns how many neighbours PlacesOfLargest takes together, of `size`
// elements of which k are wanted: a group costs about kOfGroup times what an
// element of those k groups does (measured). 0: sorting all elements is no more
// work.
int64_t GroupSize(int64_t size, int64_t k) {
  constexpr int64_t kFew = 1 << 14, kLeast = 8, kOfGroup = 16;
  if (size < kFew || 8 * kLeast * k > size || k == 0) return 0;
  int64_t group = kLeast;
  while (group * group * k < kOfGroup * size && 16 * group * k <= size) {
    group *= 2;
  }
  return group;
}

// Entries of x's axis 1 by numbers for each entry of axis 0, of rank 2.
Tensor RowsOfEach(const OpScope& s, const Tensor& x, const Tensor& numbers) {
  const int64_t each = x.shape().dim(0), size = x.shape().dim(1);
  Dims dims = x.shape().dims();
  const OpScope::Formula places;
  dims.erase(dims.begin());
  dims[0] = each * size;
  const Tensor first = Iota(DType::kS64, numbers.shape().dims(), 0, s.where());
  return Take(Reshape(x, dims), Convert(numbers, DType::kS64) + first * size);
}

Tensor PlacesOfLargest(const OpScope& s, const Tensor& x, int64_t k);

// PlacesOfLargest of many elements, of rank 2. In the order of groups by their
// largest elements, and of groups that have the same by their places, the first
// k have all that is wanted: each group before one has an element that comes
// before all of its. The elements after the last group are looked at as well.
Tensor PlacesByGroups(const OpScope& s, const Tensor& x, int64_t k,
                      int64_t group) {
  const int64_t each = x.shape().dim(0), size = x.shape().dim(1);
  const int64_t groups = size / group, rest = size - groups * group;
  const OpScope::Formula numbers;
  const Tensor rows =
      Reshape(SliceAlongAxis(x, 0, groups * group, 1), {each, groups, group});
  const Tensor chosen =
      Sort(PlacesOfLargest(s, ReduceMax(rows, {.axis = -1}), k), {.axis = -1});
  Tensor there = Reshape(RowsOfEach(s, rows, chosen), {each, k * group});
  if (rest > 0) {
    there = Concatenate({there, SliceAlongAxis(x, groups * group, rest, 1)}, 1);
  }
  const Tensor at = PlacesOfLargest(s, there, k);
  const auto number = [](int64_t n) { return static_cast<int32_t>(n); };
  const Tensor from = TakeAlongAxis(
      chosen, Minimum(Quotient(at, number(group)), number(k - 1)), 1);
  const Tensor inside = from * number(group) + Remainder(at, number(group));
  if (rest == 0) return inside;
  const Tensor behind = at + number(groups * group - k * group);
  return Select(at < number(k * group), inside, behind);
}

// Returns where the k largest of the last axis are, the first of equals first.
Tensor PlacesOfLargest(const OpScope& s, const Tensor& x, int64_t k) {
  const int axis = x.rank() - 1;
  const int64_t group = GroupSize(x.shape().dim(axis), k);
  if (group > 0 && x.shape().num_elements() > 0) {
    Dims dims = x.shape().dims();
    const int64_t size = dims[axis];
    const OpScope::Formula numbers;
    const Tensor at = PlacesByGroups(
        s, Reshape(x, {x.shape().num_elements() / size, size}), k, group);
    dims[axis] = k;
    return Reshape(at, dims);
  }
  const Tensor at = Iota(DType::kS32, x.shape().dims(), axis, s.where());
  const Tensor sorted =
      SortAlong(s, {x, at}, axis,
                Comparator(x.dtype(), /*descending=*/true, {DType::kS32}));
  if (!sorted.status().ok()) return sorted;
  return SliceAlongAxis(sdk::ResultOf(sorted, 1), 0, k, axis);
}

// a < b, where NaN is the largest.
Tensor IsBelow(const Tensor& a, const Tensor& b) {
  return Lt(a, b) || (IsNan(b) && !IsNan(a));
}

}  // namespace

Tensor Sort(const Operand& x, const SortOptions& options) {
  const OpScope s("Sort", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const absl::Status fits = CheckOrder(value.dtype());
  if (!fits.ok()) return s.Fail(fits);
  const auto axis = NormalizeAxis(options.axis, value.rank());
  if (!axis.ok()) return s.Fail(axis.status());
  return SortAlong(s, {&value, 1}, *axis,
                   Comparator(value.dtype(), options.descending, {}));
}

Tensor ArgSort(const Operand& x, const SortOptions& options, DType dtype) {
  const OpScope s("ArgSort", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const absl::Status fits = CheckOrder(value.dtype());
  if (!fits.ok()) return s.Fail(fits);
  const auto axis = NormalizeAxis(options.axis, value.rank());
  if (!axis.ok()) return s.Fail(axis.status());
  const absl::Status places = CheckPlaces(dtype, value.shape().dim(*axis));
  if (!places.ok()) return s.Fail(places);
  const Tensor at = Iota(dtype, value.shape().dims(), *axis, s.where());
  const Tensor first =
      SortAlong(s, {value, at}, *axis,
                Comparator(value.dtype(), options.descending, {dtype}));
  return first.status().ok() ? sdk::ResultOf(first, 1) : first;
}

std::vector<Tensor> SortBy(const std::vector<Tensor>& xs,
                           absl::FunctionRef<Tensor(const std::vector<Tensor>&,
                                                    const std::vector<Tensor>&)>
                               less,
                           const SortOptions& options, SourceLocation where) {
  const OpScope s("SortBy", where, xs);
  const auto all = [&](const Tensor& first) {
    return std::vector<Tensor>(xs.size(), first);
  };
  if (xs.empty()) return {};
  if (!s.ok()) return all(s.error());
  const auto axis = NormalizeAxis(options.axis, xs[0].rank());
  if (!axis.ok()) return all(s.Fail(axis.status()));
  sdk::Trace trace("sort", sdk::Captures::kNone);
  std::vector<Tensor> left, right;
  for (const Tensor& x : xs) {
    left.push_back(trace.Parameter(Shape::Scalar(x.dtype()), s.where()));
    right.push_back(trace.Parameter(Shape::Scalar(x.dtype()), s.where()));
  }
  if (options.descending) std::swap(left, right);
  {
    const sdk::Trace::Scope scope(&trace);
    const Tensor result = less(left, right);
    trace.Return({&result, 1}, s.where());
  }
  auto module = trace.Finish();
  if (!module.ok()) return all(s.Keep(module.status()));
  return sdk::ResultsOf(
      SortAlong(s, xs, *axis, sdk::MakeRegion(*std::move(module))), xs.size());
}

std::pair<Tensor, Tensor> TopK(const Operand& x, int64_t k) {
  const OpScope s("TopK", {&x}, {{&k, 1}});
  if (!s.ok()) return {s.error(), s.error()};
  const auto fail = [&](const absl::Status& status) {
    const Tensor error = s.Fail(status);
    return std::pair(error, error);
  };
  const Tensor value = s.As(x);
  const absl::Status fits = CheckOrder(value.dtype());
  if (!fits.ok()) return fail(fits);
  if (value.rank() == 0) {
    return fail(InvalidArgument("a scalar has no axis"));
  }
  const int axis = value.rank() - 1;
  const int64_t size = value.shape().dim(axis);
  if (k < 0 || k > size) {
    return fail(InvalidArgument("k is ", k, ", must be from 0 to ", size));
  }
  const absl::Status places = CheckPlaces(DType::kS32, size);
  if (!places.ok()) return fail(places);
  const Tensor at = PlacesOfLargest(s, value, k);
  return {TakeAlongAxis(value, at, axis), at};
}

Tensor SearchSorted(const Operand& x, const Operand& values, bool right) {
  const OpScope s("SearchSorted", {&x, &values});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::CommonDType({&x, &values});
  const absl::Status fits = CheckOrder(dtype);
  if (!fits.ok()) return s.Fail(fits);
  const Tensor in = s.As(x, dtype), wanted = s.As(values, dtype);
  if (in.rank() != 1) {
    return s.Fail(
        InvalidArgument("x is ", in.shape().ToString(), ", must be of rank 1"));
  }
  const int64_t size = in.shape().dim(0);
  // One more than there are elements may be the answer.
  const absl::Status places = CheckPlaces(DType::kS32, size + 1);
  if (!places.ok()) return s.Fail(places);
  // [low, high]: what the answer may still be, halved each time.
  Tensor low = Zeros(DType::kS32, wanted.shape().dims(), s.where());
  if (size == 0) return low;
  const OpScope::Formula numbers;
  Tensor high = low + static_cast<int32_t>(size);
  for (int64_t left = size; left > 0; left /= 2) {
    const Tensor middle = low + Quotient(high - low, 2);
    const Tensor there =
        Take(in, Minimum(middle, static_cast<int32_t>(size - 1)));
    const Tensor goes_behind =
        right ? !IsBelow(wanted, there) : IsBelow(there, wanted);
    const Tensor is_open = low < high;
    low = Select(is_open && goes_behind, middle + 1, low);
    high = Select(is_open && !goes_behind, middle, high);
  }
  return low;
}

UniqueElements Unique(const Operand& x, int64_t size) {
  const OpScope s("Unique", {&x}, {{&size, 1}});
  const auto all = [](const Tensor& error) {
    return UniqueElements{error, error, error, error, error};
  };
  if (!s.ok()) return all(s.error());
  const Tensor value = s.As(x);
  const int64_t n = value.shape().num_elements();
  const absl::Status checks[] = {CheckOrder(value.dtype()),
                                 CheckPlaces(DType::kS32, n)};
  for (const absl::Status& check : checks) {
    if (!check.ok()) return all(s.Fail(check));
  }
  if (n == 0) return all(s.Fail(InvalidArgument("there are no elements")));
  if (size < 0) {
    return all(
        s.Fail(InvalidArgument("the size is ", size, ", must be 0 or more")));
  }
  const Tensor order = Iota(DType::kS32, {n}, 0, s.where());
  const Tensor sorted =
      SortAlong(s, {s.Reshape(value, {n}), order}, 0,
                Comparator(value.dtype(), false, {DType::kS32}));
  if (!sorted.status().ok()) return all(sorted);
  const Tensor values = sdk::ResultOf(sorted, 0), at = sdk::ResultOf(sorted, 1);
  const OpScope::Formula numbers;
  // Which of the different ones each is, and where in the order that begins.
  const Tensor later = SliceAlongAxis(values, 1, n - 1, 0);
  const Tensor is_new =
      Concatenate({Full(DType::kBool, {1}, true),
                   IsBelow(SliceAlongAxis(values, 0, n - 1, 0), later)},
                  0);
  const Tensor which = CumulativeSum(Convert(is_new, DType::kS32)) - 1;
  const Tensor last = ReduceMax(Select(is_new, order, 0));
  const Tensor begins = IndexedPut(
      s.BroadcastTo(last, {size}),
      ExpandDims(Select(is_new, which, static_cast<int32_t>(size)), 1), order);
  return {
      .values = Take(values, begins),
      .first = Take(at, begins),
      .counts = IndexedAdd(Zeros(DType::kS32, {size}), ExpandDims(which, 1), 1),
      .inverse = s.Reshape(IndexedPut(order, ExpandDims(at, 1), which),
                           value.shape().dims()),
      .count = ReduceMax(which) + 1};
}

}  // namespace hawser
