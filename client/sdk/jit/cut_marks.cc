#include "client/sdk/jit/cut_marks.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/sdk/graph/node.h"
#include "core/base/status.h"
#include "core/ir/op_def.h"

namespace hawser::sdk {
namespace {

// The spec of the first `count` marks.
ShardSpec SpecOf(const Flat& arguments, int64_t count) {
  ShardSpec spec;
  spec.unnamed = ShardSpec::Unnamed::kWhole;
  spec.contracted = ShardSpec::Contracted::kSplit;
  for (int64_t i = 0; i < count; ++i) {
    spec.parameters.push_back(arguments.cuts[i].cut);
  }
  return spec;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ShardSpec>> CutsOf(const Flat& arguments) {
  const std::vector<CutMark>& marks = arguments.cuts;
  if (marks.empty()) return std::shared_ptr<const ShardSpec>();
  Signature signature;
  for (const Leaf& leaf : arguments.leaves) {
    signature.parameters.push_back(leaf.shape);
  }
  const auto check = [&](int64_t count) {
    return CheckShardSpec(ForPlaces(SpecOf(arguments, count), 1), signature);
  };
  const auto count = static_cast<int64_t>(marks.size());
  const absl::Status wrong = check(count);
  if (wrong.ok()) {
    return std::make_shared<const ShardSpec>(SpecOf(arguments, count));
  }
  // The first one with which it is wrong.
  const auto at = std::partition_point(
      marks.begin(), marks.end(), [&](const CutMark& mark) {
        return check(&mark - marks.data() + 1).ok();
      });
  return At(wrong, at->where);
}

void AddLines(const TracedModule& traced, std::vector<ShardNote>* notes) {
  for (ShardNote& note : *notes) {
    const std::vector<SourceLocation>& at = traced.places.at;
    if (note.instruction >= static_cast<int>(at.size())) continue;
    const SourceLocation& where = at[note.instruction];
    if (where.line == 0) continue;
    absl::StrAppend(&note.why, " (at ", where.file, ":", where.line, ")");
  }
}

absl::Status CheckNotes(const std::vector<ShardNote>& notes) {
  if (notes.empty()) return absl::OkStatus();
  return InvalidArgument(absl::StrJoin(
      notes, "; ",
      [](std::string* out, const ShardNote& note) { out->append(note.why); }));
}

}  // namespace hawser::sdk
