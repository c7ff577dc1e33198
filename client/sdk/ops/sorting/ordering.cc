#include "client/sdk/ops/sorting/ordering.h"

#include <utility>

#include "core/base/status.h"
#include "core/ops/movement/sort.h"

namespace hawser::sdk {

Region Comparator(DType key, bool descending, absl::Span<const DType> others) {
  Module module("sort");
  AddComparator(key, descending, others, &module);
  return MakeRegion(std::move(module));
}

Tensor SortAlong(const OpScope& s, absl::Span<const Tensor> xs, int axis,
                 const Region& less) {
  return s.Add(kSort, xs, {{"dimension", int64_t{axis}}, {"is_stable", true}},
               {&less, 1});
}

absl::Status CheckOrder(DType dtype) {
  if (!IsComplex(dtype)) return absl::OkStatus();
  return InvalidArgument("complex numbers have no order");
}

absl::Status CheckPlaces(DType dtype, int64_t size) {
  if (!IsInteger(dtype)) {
    return InvalidArgument("positions are integers, not ", DTypeName(dtype));
  }
  const int bits = BitWidth(dtype) - (IsSigned(dtype) ? 1 : 0);
  if (bits >= 63 || size <= (int64_t{1} << bits)) return absl::OkStatus();
  return InvalidArgument(DTypeName(dtype), " cannot count the ", size,
                         " elements");
}

}  // namespace hawser::sdk
