#include "client/stablehlo/body/functions.h"

namespace hawser::stablehlo {
namespace {

absl::string_view TextOf(const Op& op, absl::string_view attribute) {
  const Attribute* found = FindAttribute(op, attribute);
  return found == nullptr ? "" : found->text;
}

}  // namespace

Functions::Functions(const Tree& tree) {
  Add(tree.ops);
  num_ops_ = Count(tree.ops);
}

void Functions::Add(const std::vector<Op>& ops) {
  for (const Op& op : ops) {
    if (op.name == "builtin.module") {
      for (const Region& region : op.regions) Add(region.ops);
    } else if (op.name == "func.func" && op.regions.size() == 1) {
      all_.push_back(&op);
      by_name_.try_emplace(NameOf(op), &op);
    }
  }
}

int64_t Functions::Count(const std::vector<Op>& ops) {
  auto count = static_cast<int64_t>(ops.size());
  for (const Op& op : ops) {
    for (const Region& region : op.regions) count += Count(region.ops);
  }
  return count;
}

const Op* Functions::Find(absl::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

absl::string_view NameOf(const Op& function) {
  return TextOf(function, "sym_name");
}

absl::string_view CalleeOf(const Op& op) {
  if (op.name == "func.call") return TextOf(op, "callee");
  if (op.name == "stablehlo.composite") return TextOf(op, "decomposition");
  return "";
}

bool IsDatasetArray(const Op& op) {
  return op.name == "stablehlo.custom_call" &&
         TextOf(op, "call_target_name") == kDatasetTarget;
}

bool IsReturn(const Op& op) {
  return op.name == "func.return" || op.name == "stablehlo.return" ||
         op.name == "sdy.return";
}

}  // namespace hawser::stablehlo
