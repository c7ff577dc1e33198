#include "client/sharded/values/copies.h"

#include <algorithm>
#include <memory>
#include <variant>

#include "core/base/status.h"

namespace hawser {

using runtime::Argument;

absl::Status CopyLost() { return Unavailable("what was at a place is lost"); }

bool Copies::Live(const ShardedValue::Copy& copy) const {
  if (copy.came_along) return false;
  if (copy.place != kHere && places_[copy.place]->life() != copy.life) {
    return false;
  }
  return !copy.what.ready() || copy.what.Await().ok();
}

const ShardedValue::Copy* Copies::FindCopy(const ShardedValue& value,
                                           const Box& box, int place) const {
  const ShardedValue::Copy* found = nullptr;
  for (const ShardedValue::Copy& copy : value.copies) {
    if (copy.place != place || !Contains(copy.box, box) || !Live(copy)) {
      continue;
    }
    if (copy.box == box) return &copy;
    found = &copy;
  }
  return found;
}

const ShardedValue::Copy* Copies::FindCopy(const ShardedValue& value,
                                           const Box& box) const {
  const ShardedValue::Copy* found = FindCopy(value, box, kHere);
  const int places = static_cast<int>(places_.size());
  for (int p = 0; p < places && found == nullptr; ++p) {
    found = FindCopy(value, box, p);
  }
  return found;
}

std::vector<int64_t> Copies::BytesThere(const ShardedTask& task) const {
  std::vector<int64_t> bytes(places_.size());
  for (size_t i = 0; i < task.takes.size(); ++i) {
    const ShardedValue& value = *task.takes[i];
    const Box box = task.BoxOf(i);
    const bool everyones =
        value.given.empty() ||
        (box == WholeBox(value.shape) && task.TakesArgument(i));
    if (task.home >= 0 && everyones) continue;
    for (size_t p = 0; p < places_.size(); ++p) {
      const int place = static_cast<int>(p);
      if (FindCopy(value, box, place) == nullptr) continue;
      bytes[p] += ShapeOf(value.shape, box).byte_size();
    }
  }
  return bytes;
}

bool Copies::LackTaken(const ShardedTask& task, Afterwards& later) {
  bool found = false;
  for (const ShardedValuePtr& value : task.takes) {
    if (!std::holds_alternative<DatasetPart>(value->source)) continue;
    value->lacking.insert(task.place);
    const auto there = [&](const auto& copy) {
      return copy.place == task.place;
    };
    Drop(*value, there, later);
    found = true;
  }
  return found;
}

void Copies::DropGiven(const ShardedTask& task, Afterwards& later) {
  for (size_t k = 0; k < task.gives.size(); ++k) {
    const ShardedValuePtr value = task.gives[k].lock();
    if (value == nullptr) continue;
    const auto given = [&](const ShardedValue::Copy& copy) {
      return copy.box == task.what->gives[k].box && copy.place == task.place;
    };
    Drop(*value, given, later);
  }
}

void Copies::Drop(ShardedValue& value,
                  absl::FunctionRef<bool(const ShardedValue::Copy&)> which,
                  Afterwards& later) {
  std::erase_if(value.copies, [&](const ShardedValue::Copy& copy) {
    if (!which(copy)) return false;
    later.garbage.push_back(copy.what);
    for (const auto& fetch : *copy.fetches) {
      if (const auto promise = fetch.lock()) {
        later.moves.push_back([promise] { promise->Set(CopyLost()); });
      }
    }
    return true;
  });
}

void Copies::Trim(ShardedValue& value, Afterwards& later) {
  const bool needed = value.needed();
  if (needed && value.uses > 0) return;
  const auto not_needed = [needed](const ShardedValue::Copy& copy) {
    return !needed || copy.place == kHere;
  };
  Drop(value, not_needed, later);
}

}  // namespace hawser
