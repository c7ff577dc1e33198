#include "client/stablehlo/body/program.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

// It is as deep as what a server accepts, and regions inside.
constexpr int kMostLevels = 200;

// The names of what a region defines itself.
absl::flat_hash_set<absl::string_view> BoundNames(const Region& region) {
  absl::flat_hash_set<absl::string_view> names;
  for (const BlockArgument& argument : region.arguments) {
    names.insert(argument.name);
  }
  for (const Op& op : region.ops) {
    for (const ResultName& result : op.results) names.insert(result.name);
  }
  return names;
}

}  // namespace

const std::vector<Operand>& Program::FreeOperands(const Region& region) {
  const auto known = free_.find(&region);
  if (known != free_.end()) return known->second;
  const auto bound = BoundNames(region);
  absl::flat_hash_set<std::pair<absl::string_view, int>> seen;
  std::vector<Operand> free;
  const auto add = [&](const Operand& operand) {
    if (bound.contains(operand.name)) return;
    if (seen.insert({operand.name, operand.index}).second) {
      free.push_back(operand);
    }
  };
  for (const Op& op : region.ops) {
    for (const Operand& operand : op.operands) add(operand);
    for (const Region& inner : op.regions) {
      for (const Operand& operand : FreeOperands(inner)) add(operand);
    }
  }
  return free_[&region] = std::move(free);
}

ValueId Program::LargeConstant(const Elements& elements,
                               ComputationBuilder* builder) {
  const auto [known, is_new] = large_.try_emplace(&elements, kNoValue);
  if (is_new) {
    known->second = builder->Parameter(elements.value.shape(), {});
    bound_.emplace_back(elements.value);
  }
  return known->second;
}

ValueId Program::ArrayOfDataset(DatasetArray array,
                                ComputationBuilder* builder) {
  const ValueId value = builder->Parameter(array.shape, {});
  bound_.emplace_back(std::move(array));
  return value;
}

absl::Status Program::Spend() {
  if (--ops_left_ >= 0) return absl::OkStatus();
  return ResourceExhausted("calls inlined give more than ", kMostInlined,
                           " ops beside those of the text");
}

absl::Status Program::Enter() {
  if (++depth_ <= kMostLevels) return absl::OkStatus();
  return ResourceExhausted("calls and regions are nested deeper than ",
                           kMostLevels, " levels");
}

absl::Status Program::Placed(const absl::Status& status, const Op& op) {
  if (status.ok() || placed_) return status;
  placed_ = true;
  const std::string traced = TracedPlace(tree_, op);
  return tree_.source.Error(
      status.code(), op.where,
      absl::StrCat(Quoted(op.name), ": ", status.message(),
                   traced.empty() ? "" : " (", traced,
                   traced.empty() ? "" : ")"));
}

}  // namespace hawser::stablehlo
