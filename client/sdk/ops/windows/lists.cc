#include "client/sdk/ops/windows/lists.h"

#include "core/base/status.h"

namespace hawser::sdk {

absl::StatusOr<Dims> OnePerAxis(absl::string_view name, const Dims& list,
                                size_t count, bool one_for_all) {
  if (list.empty()) return Dims(count, 1);
  if (one_for_all && list.size() == 1) return Dims(count, list[0]);
  if (list.size() != count) {
    return InvalidArgument(name, ": ", list.size(), " numbers for ", count,
                           " axes");
  }
  for (const int64_t number : list) {
    if (number >= 1) continue;
    return InvalidArgument(name, ": ", number, ", must be at least 1");
  }
  return list;
}

absl::Status PadWindows(const std::vector<Padding>& padding, bool same_size,
                        const Dims& sizes, const Dims& dilations, Dims* low,
                        Dims* high) {
  low->assign(sizes.size(), 0);
  high->assign(sizes.size(), 0);
  if (same_size && !padding.empty()) {
    return InvalidArgument("padding beside same_size");
  }
  for (size_t a = 0; same_size && a < sizes.size(); ++a) {
    int64_t around = 0;
    if (__builtin_mul_overflow(sizes[a] - 1, dilations[a], &around)) {
      return InvalidArgument("a window of ", sizes[a], " elements, ",
                             dilations[a], " apart, is too large");
    }
    (*low)[a] = around / 2;
    (*high)[a] = around - around / 2;
  }
  if (padding.empty()) return absl::OkStatus();
  if (padding.size() != sizes.size() && padding.size() != 1) {
    return InvalidArgument("padding: ", padding.size(), " of them for ",
                           sizes.size(), " axes");
  }
  constexpr int64_t kMost = int64_t{1} << 60;  // far beyond any memory
  for (size_t a = 0; a < sizes.size(); ++a) {
    const Padding& p = padding[padding.size() == 1 ? 0 : a];
    if (p.interior != 0) {
      return InvalidArgument("padding between elements: ", p.interior,
                             ", must be 0");
    }
    for (const int64_t amount : {p.low, p.high}) {
      if (amount >= -kMost && amount <= kMost) continue;
      return InvalidArgument("padding: ", amount, " is too much");
    }
    (*low)[a] = p.low;
    (*high)[a] = p.high;
  }
  return absl::OkStatus();
}

}  // namespace hawser::sdk
