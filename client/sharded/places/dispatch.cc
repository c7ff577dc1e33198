#include "client/sharded/places/dispatch.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hawser {
namespace {

// A place has one task running and one queued; a place that has done nothing
// yet, and may be slow, has one.
constexpr int kMostUnderWay = 2;
constexpr int kMostAtFirst = 1;
// The number of ready tasks that are looked at for each that is started.
constexpr int kMostLookedAt = 64;
// The weight of the last task in a place's speed.
constexpr double kNewest = 0.5;

}  // namespace

bool Dispatch::any_open() const {
  return std::any_of(places_.begin(), places_.end(),
                     [](const Place& place) { return place.open; });
}

void Dispatch::SetOpen(int place, bool open) {
  places_[place].open = open;
  if (!open) places_[place].tasks.clear();
}

void Dispatch::Add(ReadyTask task) {
  ready_work_ += task.work;
  const int64_t number = task.number;
  ready_[number] = std::move(task);
}

bool Dispatch::Remove(int64_t number) {
  const auto at = ready_.find(number);
  if (at == ready_.end()) return false;
  ready_work_ -= at->second.work;
  ready_.erase(at);
  return true;
}

bool Dispatch::Fits(const ReadyTask& task, int place) const {
  return places_[place].open && (task.unfit.empty() || !task.unfit[place]);
}

double Dispatch::SecondsUntilDone(int place, double work) const {
  if (places_[place].speed == 0) return 0;
  for (const UnderWay& one : places_[place].tasks) work += one.work;
  return work / places_[place].speed;
}

bool Dispatch::OthersAreFaster(int place, double seconds) const {
  double done = 0;
  for (size_t p = 0; p < places_.size(); ++p) {
    if (static_cast<int>(p) == place || !places_[p].open) continue;
    if (places_[p].speed == 0) return false;
    double room = seconds * places_[p].speed;
    for (const UnderWay& one : places_[p].tasks) room -= one.work;
    done += std::max(room, 0.0);
  }
  return done >= ready_work_;
}

std::optional<int> Dispatch::Choose(const ReadyTask& task) const {
  if (task.home >= 0 && Fits(task, task.home)) return task.home;
  const int places = static_cast<int>(places_.size());
  const auto bytes = [&](int place) {
    return task.bytes_there.empty() ? 0 : task.bytes_there[place];
  };
  std::optional<int> best;
  double best_end = 0;
  bool any_busy = false;
  for (int p = 0; p < places; ++p) {
    if (!Fits(task, p)) continue;
    any_busy = any_busy || under_way(p) > 0;
    if (under_way(p) >= (speed(p) > 0 ? kMostUnderWay : kMostAtFirst)) continue;
    const double end = SecondsUntilDone(p, task.work);
    const bool better =
        !best.has_value() || bytes(p) > bytes(*best) ||
        (bytes(p) == bytes(*best) &&
         std::pair(end, under_way(p)) < std::pair(best_end, under_way(*best)));
    if (better) {
      best = p;
      best_end = end;
    }
  }
  if (best.has_value() && any_busy && OthersAreFaster(*best, best_end)) {
    return std::nullopt;
  }
  return best;
}

std::optional<Dispatch::Start> Dispatch::Next(absl::Time now) {
  int looked_at = 0;
  for (const auto& [number, task] : ready_) {
    if (++looked_at > kMostLookedAt) break;
    const std::optional<int> place = Choose(task);
    if (!place.has_value()) continue;
    const Start start{number, *place};
    places_[*place].tasks.push_back({number, task.work, now});
    Remove(number);
    return start;
  }
  return std::nullopt;
}

void Dispatch::Done(int64_t task, int place, absl::Time now) {
  auto& tasks = places_[place].tasks;
  const auto at = std::find_if(tasks.begin(), tasks.end(),
                               [&](const UnderWay& u) { return u.task == task; });
  if (at == tasks.end()) return;
  const double seconds =
      std::max(absl::ToDoubleSeconds(now - at->start), 1e-9);
  double& speed = places_[place].speed;
  const double measured = at->work / seconds;
  speed = speed == 0 ? measured : kNewest * measured + (1 - kNewest) * speed;
  tasks.erase(at);
  // The one behind it has waited until now.
  if (!tasks.empty()) {
    tasks.front().start = std::max(tasks.front().start, now);
  }
}

void Dispatch::Dropped(int64_t task, int place) {
  std::erase_if(places_[place].tasks,
                [&](const UnderWay& u) { return u.task == task; });
}

}  // namespace hawser
