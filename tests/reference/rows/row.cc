#include "tests/reference/rows/row.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/base/status.h"

namespace hawser::reference {
namespace {

// Elements between two looks at the token.
constexpr int64_t kLook = 1 << 14;

}  // namespace

const Row* FindRow(const OpDef& op) {
  static const auto& rows = *[] {
    auto* all = new absl::flat_hash_map<const OpDef*, const Row*>();
    for (const auto family :
         {ElementwiseRows(), MathRows(), CompareRows(), ConvertRows(),
          ShapeRows(), SliceRows(), GatherRows(), ReduceRows(), ScanRows(),
          SortRows(), DotRows(), LinalgRows(), ControlRows(), FftRows()}) {
      for (const Row& row : family) all->emplace(row.op, &row);
    }
    return all;
  }();
  const auto at = rows.find(&op);
  return at == rows.end() ? nullptr : at->second;
}

absl::Status ForEachIndex(absl::Span<const int64_t> dims,
                          const CancelToken& cancel,
                          absl::FunctionRef<absl::Status(Index)> fn) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  Dims index(dims.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    if (n % kLook == 0) HAWSER_RETURN_IF_ERROR(cancel.Check());
    HAWSER_RETURN_IF_ERROR(fn(index));
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> FillByIndex(const Context& context, const Shape& shape,
                                    absl::FunctionRef<Number(Index)> fn) {
  HAWSER_ASSIGN_OR_RETURN(Literal out, Literal::Allocate(shape));
  int64_t place = 0;
  HAWSER_RETURN_IF_ERROR(
      ForEachIndex(shape.dims(), context.cancel, [&](Index index) {
        WriteNumber(fn(index), place++, &out);
        return absl::OkStatus();
      }));
  return out;
}

absl::StatusOr<Literal> FillByPlace(const Context& context, const Shape& shape,
                                    absl::FunctionRef<Number(int64_t)> fn) {
  int64_t place = 0;
  return FillByIndex(context, shape, [&](Index) { return fn(place++); });
}

int64_t PlaceOf(const Shape& shape, Index index) {
  int64_t place = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    place = place * shape.dim(d) + index[d];
  }
  return place;
}

Literal ScalarOf(const Number& x, DType dtype) {
  Literal out = Literal::Uninitialized(Shape::Scalar(dtype));
  WriteNumber(x, 0, &out);
  return out;
}

}  // namespace hawser::reference
