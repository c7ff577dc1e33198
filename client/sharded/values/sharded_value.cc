#include "client/sharded/values/sharded_value.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hawser {

int ShardedValue::steps() const {
  int most = 0;
  for (const Given& one : given) {
    if (one.by != nullptr) most = std::max(most, one.by->steps);
  }
  return most;
}

absl::Time ShardedValue::since() const {
  absl::Time first = absl::InfiniteFuture();
  for (const Given& one : given) {
    if (one.by != nullptr) first = std::min(first, one.by->since);
  }
  return first;
}

std::vector<ShardedTaskPtr> ShardedTask::Makers() const {
  std::vector<ShardedTaskPtr> makers;
  for (const ShardedValuePtr& value : takes) {
    for (const ShardedValue::Given& one : value->given) {
      if (one.by != nullptr) makers.push_back(one.by);
    }
  }
  return makers;
}

bool ShardedTask::takes_unfinished() const {
  const auto makers = Makers();
  return std::any_of(makers.begin(), makers.end(),
                     [](const auto& maker) { return !maker->ended(); });
}

absl::Status ShardedTask::FirstCause(const absl::Status& why) const {
  for (const ShardedTaskPtr& maker : Makers()) {
    if (maker->state == TaskState::kFailed) return maker->error;
  }
  return why;
}

std::vector<int> CoverOf(const std::vector<ShardedValue::Given>& given,
                         const Box& box) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].box == box) return {static_cast<int>(i)};
  }
  std::vector<int> order(given.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return ElementsOf(given[a].box) > ElementsOf(given[b].box);
  });
  for (const bool within : {true, false}) {
    std::vector<int> cover;
    int64_t covered = 0;
    for (const int i : order) {
      const Box& piece = given[i].box;
      const int64_t shared = ElementsOf(Meet(piece, box));
      if (shared == 0 || (within && !Contains(box, piece))) continue;
      // Pieces of one cut overlap only where one lies within the other.
      if (std::any_of(cover.begin(), cover.end(), [&](int other) {
            return ElementsOf(Meet(given[other].box, piece)) > 0;
          })) {
        continue;
      }
      cover.push_back(i);
      covered += shared;
    }
    if (covered == ElementsOf(box) || !within) return cover;
  }
  return {};
}

}  // namespace hawser
