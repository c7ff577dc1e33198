#include "client/stablehlo/lower/missing.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "client/stablehlo/body/row.h"
#include "client/stablehlo/rows/rows.h"

namespace hawser::stablehlo {
namespace {

// Named one by one; of more only how many there are.
constexpr size_t kMostNamed = 64;

// The functions that are reached, each once, and what they lack.
class Search {
 public:
  explicit Search(const Functions& functions) : functions_(functions) {}

  std::vector<Missing> From(const Op& function) {
    Reach(&function);
    while (!left_.empty()) {
      const Op* next = left_.back();
      left_.pop_back();
      LookAt(next->regions[0]);
    }
    std::sort(
        found_.begin(), found_.end(),
        [](const Missing& a, const Missing& b) { return a.where < b.where; });
    return std::move(found_);
  }

 private:
  void Reach(const Op* function) {
    if (reached_.insert(function).second) left_.push_back(function);
  }

  void LookAt(const Region& region) {
    for (const BlockArgument& argument : region.arguments) {
      LookAt(argument.type, argument.type.text.data());
    }
    for (const Op& op : region.ops) LookAt(op);
  }

  void LookAt(const Op& op) {
    if (!IsReturn(op)) {
      const Row* row = FindRow(op.name);
      if (row == nullptr) {
        Note(std::string(op.name.substr(0, 64)), op.where);
      } else if (row->missing != nullptr) {
        const std::string what = row->missing(op);
        if (!what.empty()) Note(absl::StrCat(op.name, " ", what), op.where);
      }
    }
    for (const Type& type : op.result_types) LookAt(type, op.where);
    for (const Region& region : op.regions) LookAt(region);
    const Op* callee = functions_.Find(CalleeOf(op));
    if (callee != nullptr) Reach(callee);
  }

  void LookAt(const Type& type, const char* where) {
    if (!type.tensor) {
      Note(absl::StrCat("type ", Quoted(type.text)), where);
    } else if (type.dynamic) {
      Note("dynamic sizes", where);
    } else if (type.dtype == DType::kInvalid) {
      Note(absl::StrCat("elements of ", Quoted(type.element)), where);
    }
  }

  void Note(std::string what, const char* where) {
    const auto [entry, is_new] = numbers_.try_emplace(what, found_.size());
    if (is_new) found_.push_back({std::move(what), 0, where});
    Missing& missing = found_[entry->second];
    ++missing.count;
    missing.where = std::min(missing.where, where);
  }

  const Functions& functions_;
  std::vector<const Op*> left_;
  absl::flat_hash_set<const Op*> reached_;
  absl::flat_hash_map<std::string, size_t> numbers_;
  std::vector<Missing> found_;
};

}  // namespace

std::vector<Missing> FindMissing(const Functions& functions,
                                 const Op& function) {
  return Search(functions).From(function);
}

absl::Status MissingStatus(const Source& source,
                           const std::vector<Missing>& missing) {
  if (missing.empty()) return absl::OkStatus();
  std::string text;
  const size_t named = std::min(missing.size(), kMostNamed);
  for (size_t i = 0; i < named; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : "; ", missing[i].what);
    if (i > 0) {
      absl::StrAppend(&text, " at ",
                      source.PlaceOf(missing[i].where).ToString());
    }
    if (missing[i].count > 1) {
      absl::StrAppend(&text, ", ", missing[i].count, " times");
    }
  }
  if (named < missing.size()) {
    absl::StrAppend(&text, "; and ", missing.size() - named, " more");
  }
  return source.Error(absl::StatusCode::kUnimplemented, missing[0].where,
                      absl::StrCat("hawser lacks ", text));
}

}  // namespace hawser::stablehlo
