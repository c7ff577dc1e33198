// Collectives and numbers of devices, in programs whose groups are of one;
// tokens.

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

// True if the module says that it is for several.
bool HasDevices(const Tree& tree) {
  for (const Op& op : tree.ops) {
    for (const char* name : {"mhlo.num_partitions", "mhlo.num_replicas"}) {
      const Attribute* count = FindAttribute(op, name);
      if (count != nullptr && count->text != "1") return true;
    }
  }
  return false;
}

// True if what the op gives is as large as what it takes.
bool Keeps(const Op& op) {
  if (op.operand_types.size() != op.result_types.size()) return false;
  for (size_t i = 0; i < op.operand_types.size(); ++i) {
    if (op.operand_types[i].dims != op.result_types[i].dims) return false;
  }
  return true;
}

// Each row of replica_groups is a group of replicas, to which all partitions
// may belong. Without a row all replicas are one group.
std::string MissingGroups(const Op& op) {
  if (!Keeps(op)) return "of more than one device";
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
  if (HasDevices(context.program.tree())) {
    return Unimplemented("collectives in a program for several devices");
  }
  return context.operands;
}

absl::StatusOr<Values> LowerNumber(OpContext& context) {
  if (HasDevices(context.program.tree())) {
    return Unimplemented("the number of a device, of several");
  }
  return context.Add(kConstant, {}, {{"value", Literal::Scalar(uint32_t{0})}});
}

// Nothing here has an effect that needs an order, so any token is as good as
// another.
absl::StatusOr<Values> LowerToken(OpContext& context) {
  if (!context.operands.empty()) return Values{context.operands[0]};
  return context.Add(kConstant, {}, {{"value", Literal::Vector<bool>({})}});
}

constexpr Row kDeviceRows[] = {
    {"stablehlo.create_token", LowerToken},
    {"stablehlo.after_all", LowerToken},
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

absl::Span<const Row> DeviceRows() { return kDeviceRows; }

}  // namespace hawser::stablehlo
