#include "kernels/plan/target/product_call.h"

#include <algorithm>

#include "core/base/values/dtype.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/rules.h"

namespace hawser::plan {
namespace {

// The dtypes that libraries multiply, and those of their results. Halves are
// summed in f32, s8 in s32.
constexpr struct {
  DType factor, result;
} kTypes[] = {
    {DType::kF16, DType::kF16},   {DType::kF16, DType::kF32},
    {DType::kBF16, DType::kBF16}, {DType::kBF16, DType::kF32},
    {DType::kF32, DType::kF32},   {DType::kF64, DType::kF64},
    {DType::kC64, DType::kC64},   {DType::kC128, DType::kC128},
    {DType::kS8, DType::kS32},
};

// Sums of more products of s8 may leave s32, where a library need not wrap.
constexpr int64_t kMaxSumOfS8 = (int64_t{1} << 17) - 1;

// Neighbouring axes seen as one: elements, and the distance between two of
// them in each matrix; 0 in one that does not have it.
struct Run {
  int64_t size = 1;
  int64_t a = 0, b = 0, d = 0;
};
using Runs = absl::InlinedVector<Run, 4>;

// Adds an axis in front of the others.
void AddOutside(const Run& axis, Runs* runs) {
  if (axis.size == 1) return;
  if (!runs->empty()) {
    Run& inner = runs->front();
    if (axis.a == inner.a * inner.size && axis.b == inner.b * inner.size &&
        axis.d == inner.d * inner.size) {
      inner.size *= axis.size;
      return;
    }
  }
  runs->insert(runs->begin(), axis);
}

// One operand of the product.
struct CallSide {
  CallSide(const Shape& shape, absl::Span<const int64_t> batch,
           absl::Span<const int64_t> summed)
      : shape(shape), strides(shape.Strides()), batch(batch), summed(summed) {
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      if (!Contains(batch, axis) && !Contains(summed, axis)) {
        free.push_back(axis);
      }
    }
  }
  int64_t size(int64_t axis) const { return shape.dim(static_cast<int>(axis)); }

  const Shape& shape;
  const Dims strides;
  const absl::Span<const int64_t> batch, summed;
  Dims free;
};

// The product's axes by what they are for, from outside to inside.
struct ProductRuns {
  Runs batch, rows, columns, summed;
};

ProductRuns RunsOf(const CallSide& left, const CallSide& right) {
  ProductRuns runs;
  int64_t d = 1;  // the result lies row-major
  for (size_t i = right.free.size(); i-- > 0;) {
    const int64_t axis = right.free[i];
    AddOutside({right.size(axis), 0, right.strides[axis], d}, &runs.columns);
    d *= right.size(axis);
  }
  for (size_t i = left.free.size(); i-- > 0;) {
    const int64_t axis = left.free[i];
    AddOutside({left.size(axis), left.strides[axis], 0, d}, &runs.rows);
    d *= left.size(axis);
  }
  for (size_t i = left.batch.size(); i-- > 0;) {
    const int64_t axis = left.batch[i];
    AddOutside(
        {left.size(axis), left.strides[axis], right.strides[right.batch[i]], d},
        &runs.batch);
    d *= left.size(axis);
  }
  for (size_t i = left.summed.size(); i-- > 0;) {
    const int64_t axis = left.summed[i];
    AddOutside({left.size(axis), left.strides[axis],
                right.strides[right.summed[i]], 0},
               &runs.summed);
  }
  return runs;
}

bool LayOut(int64_t rows, int64_t row_stride, int64_t columns,
            int64_t column_stride, CallMatrix* matrix) {
  if (columns == 1 || column_stride == 1) {
    matrix->leading = rows == 1 ? columns : row_stride;
    return true;
  }
  if (rows != 1 && row_stride != 1) return false;
  matrix->column_major = true;
  matrix->leading = column_stride;
  return true;
}

int64_t Calls(absl::Span<const Run> loops) {
  int64_t calls = 1;
  for (const Run& loop : loops) {
    calls *= loop.size;
    if (calls > kMaxCalls) return kMaxCalls + 1;
  }
  return calls;
}

// Takes the largest loop whose results do not overlap as the call's batch.
void TakeBatch(Runs* loops, ProductCall* call) {
  const int64_t elements = (call->m - 1) * call->d.leading + call->n;
  int best = -1;
  for (size_t l = 0; l < loops->size(); ++l) {
    const Run& loop = (*loops)[l];
    if (loop.d < elements) continue;
    if (best < 0 || loop.size > (*loops)[best].size) {
      best = static_cast<int>(l);
    }
  }
  if (best < 0) return;
  const Run batch = (*loops)[best];
  loops->erase(loops->begin() + best);
  call->batch = batch.size;
  call->a.batch_stride = batch.a;
  call->b.batch_stride = batch.b;
  call->d.batch_stride = batch.d;
}

void ListCalls(absl::Span<const Run> loops, ProductCall* call) {
  call->calls = {{}};
  for (const Run& loop : loops) {
    const std::vector<ProductCall::Offset> outside = std::move(call->calls);
    call->calls.clear();
    for (const ProductCall::Offset& o : outside) {
      for (int64_t i = 0; i < loop.size; ++i) {
        call->calls.push_back(
            {o.a + i * loop.a, o.b + i * loop.b, o.d + i * loop.d});
      }
    }
  }
}

// The call whose rows are run `row` of them, -1 where there is none. The rest
// of rows and columns is repeated.
std::optional<ProductCall> CallWithRows(const ProductRuns& runs, int row,
                                        const ProductCall& types) {
  ProductCall call = types;
  const Run one{.a = 1, .b = 1, .d = 1};
  const Run k = runs.summed.empty() ? one : runs.summed.back();
  const Run n = runs.columns.empty() ? one : runs.columns.back();
  const Run m = row < 0 ? one : runs.rows[row];
  call.m = m.size;
  call.n = n.size;
  call.k = k.size;
  if (!LayOut(m.size, m.a, k.size, k.a, &call.a) ||
      !LayOut(k.size, k.b, n.size, n.b, &call.b)) {
    return std::nullopt;
  }
  call.d.leading = m.size == 1 ? n.size : m.d;
  Runs loops = runs.batch;
  for (size_t r = 0; r < runs.rows.size(); ++r) {
    if (static_cast<int>(r) != row) loops.push_back(runs.rows[r]);
  }
  if (!runs.columns.empty()) {
    loops.insert(loops.end(), runs.columns.begin(), runs.columns.end() - 1);
  }
  TakeBatch(&loops, &call);
  if (Calls(loops) > kMaxCalls) return std::nullopt;
  ListCalls(loops, &call);
  return call;
}

}  // namespace

bool LibrariesMultiply(DType factor, DType result) {
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](auto& row) {
    return row.factor == factor && row.result == result;
  });
}

std::optional<ProductCall> CallOfDot(const Instruction& dot, const Shape& left,
                                     const Shape& right) {
  const Attributes& a = dot.attributes;
  const DType result = ProductDType(a, left.dtype());
  if (left.num_elements() == 0 || right.num_elements() == 0 ||
      left.dtype() != right.dtype() ||
      !LibrariesMultiply(left.dtype(), result)) {
    return std::nullopt;
  }
  const CallSide l(left, a.GetInts("lhs_batching_dimensions"),
                   a.GetInts("lhs_contracting_dimensions"));
  const CallSide r(right, a.GetInts("rhs_batching_dimensions"),
                   a.GetInts("rhs_contracting_dimensions"));
  const ProductRuns runs = RunsOf(l, r);
  if (runs.summed.size() > 1) return std::nullopt;
  ProductCall types;
  types.a.dtype = types.b.dtype = left.dtype();
  types.d.dtype = result;
  std::optional<ProductCall> best;
  const int rows = static_cast<int>(runs.rows.size());
  for (int row = rows == 0 ? -1 : 0; row < rows; ++row) {
    auto call = CallWithRows(runs, row, types);
    if (!call || (result == DType::kS32 && call->k > kMaxSumOfS8)) continue;
    if (!best || call->calls.size() < best->calls.size() ||
        (call->calls.size() == best->calls.size() && call->m > best->m)) {
      best = std::move(call);
    }
  }
  return best;
}

bool AddTail(const CallTail& tail, ProductCall* call) {
  const DType dtype = tail.result->dtype();
  if (!LibrariesMultiply(call->a.dtype, dtype)) return false;
  call->d.dtype = dtype;
  call->activation = tail.activation;
  call->has_bias = tail.bias != nullptr;
  call->has_residual = tail.residual != nullptr;
  const bool is_plain = !call->has_bias && !call->has_residual &&
                        tail.activation == Activation::kIdentity;
  if (is_plain) return true;
  if (!IsFloat(dtype) || tail.activation == Activation::kOther) return false;
  if (call->has_bias &&
      (tail.bias->dtype() != dtype || tail.bias->num_elements() != call->n)) {
    return false;
  }
  return !call->has_residual || (tail.residual->dtype() == dtype &&
                                 tail.residual->SameDims(*tail.result));
}

}  // namespace hawser::plan
