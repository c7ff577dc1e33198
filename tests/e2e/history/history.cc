#include "tests/e2e/history/history.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hawser::testing {
namespace {

class Search {
 public:
  explicit Search(const std::vector<Call>& calls) : calls_(calls) {}

  bool From(const std::string& done, const std::string& value) {
    if (!seen_.insert({done, value}).second) return false;
    int64_t first_end = Call::kNever;
    bool all = true;
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (done[i] != 0) continue;
      first_end = std::min(first_end, calls_[i].end);
      all = all && calls_[i].end == Call::kNever;
    }
    if (all) return true;
    for (size_t i = 0; i < calls_.size(); ++i) {
      const Call& call = calls_[i];
      if (done[i] != 0 || call.begin > first_end) continue;
      if (call.kind == Call::kRead && call.value != value) continue;
      if (call.kind == Call::kSwap && call.expected != value) continue;
      std::string next = done;
      next[i] = 1;
      if (From(next, call.value)) return true;
    }
    return false;
  }

 private:
  const std::vector<Call>& calls_;
  std::set<std::pair<std::string, std::string>> seen_;
};

bool IsSeen(const std::vector<Call>& calls, const Call& write) {
  return std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
    return (call.kind == Call::kRead && call.value == write.value) ||
           (call.kind == Call::kSwap && call.expected == write.value);
  });
}

}  // namespace

std::string Call::ToString() const {
  const std::string what =
      kind == kRead    ? absl::StrCat("read ", value)
      : kind == kWrite ? absl::StrCat("write ", value)
                       : absl::StrCat("swap ", expected, " for ", value);
  return absl::StrCat(what, " from ", begin, " to ",
                      end == kNever ? "?" : absl::StrCat(end));
}

bool IsLinearizable(std::vector<Call> calls, const std::string& initial) {
  for (bool dropped = true; dropped;) {
    const auto unseen = [&](const Call& call) {
      return call.end == Call::kNever && !IsSeen(calls, call);
    };
    const auto at = std::find_if(calls.begin(), calls.end(), unseen);
    dropped = at != calls.end();
    if (dropped) calls.erase(at);
  }
  return Search(calls).From(std::string(calls.size(), 0), initial);
}

}  // namespace hawser::testing
