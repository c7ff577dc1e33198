// Collectives and numbers of devices, in programs whose groups are of one.

#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"

namespace hawser::stablehlo {
namespace {

// The elements of an attribute, or nullptr.
const Elements* ElementsOf(const Op& op, absl::string_view name) {
  const Attribute* attribute = FindAttribute(op, name);
  return attribute == nullptr ? nullptr : attribute->elements.get();
}

// Each row of replica_groups is a group. Without a row all devices are one.
std::string MissingGroups(const Op& op) {
  const Elements* groups = ElementsOf(op, "replica_groups");
  const bool alone = groups != nullptr && groups->type.dims.size() == 2 &&
                     groups->type.dims[0] > 0 && groups->type.dims[1] == 1;
  return alone ? "" : "of more than one device";
}

// What a device hears from itself alone.
std::string MissingPairs(const Op& op) {
  const Elements* pairs = ElementsOf(op, "source_target_pairs");
  const bool itself =
      pairs != nullptr && pairs->value.valid() &&
      pairs->type.dims == Dims{1, 2} &&
      absl::c_all_of(pairs->value.bytes(), [](char byte) { return byte == 0; });
  return itself ? "" : "between devices";
}

// One device has what all have, and its part is the whole.
absl::StatusOr<Values> LowerAlone(OpContext& context) {
  return context.operands;
}

// True if the module says that it is for several.
bool HasDevices(const Tree& tree) {
  return absl::c_any_of(tree.ops, [](const Op& op) {
    return absl::c_any_of({"mhlo.num_partitions", "mhlo.num_replicas"},
                          [&](const char* name) {
                            const Attribute* count = FindAttribute(op, name);
                            return count != nullptr && count->text != "1";
                          });
  });
}

absl::StatusOr<Values> LowerNumber(OpContext& context) {
  if (HasDevices(context.program.tree())) {
    return Unimplemented("the number of a device, of several");
  }
  return context.Add(kConstant, {}, {{"value", Literal::Scalar(uint32_t{0})}});
}

constexpr Row kRows[] = {
    {"stablehlo.all_gather", LowerAlone, nullptr, MissingGroups},
    {"stablehlo.all_reduce", LowerAlone, nullptr, MissingGroups},
    {"stablehlo.all_to_all", LowerAlone, nullptr, MissingGroups},
    {"stablehlo.collective_broadcast", LowerAlone, nullptr, MissingGroups},
    {"stablehlo.reduce_scatter", LowerAlone, nullptr, MissingGroups},
    {"stablehlo.collective_permute", LowerAlone, nullptr, MissingPairs},
    {"stablehlo.partition_id", LowerNumber},
    {"stablehlo.replica_id", LowerNumber},
};

}  // namespace

absl::Span<const Row> DeviceRows() { return kRows; }

}  // namespace hawser::stablehlo
