#include "kernels/gpu/lanes/lanes.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {

absl::StatusOr<std::shared_ptr<Lanes>> Lanes::Make(
    std::shared_ptr<Device> device) {
  std::shared_ptr<Lanes> lanes(new Lanes(std::move(device)));
  HAWSER_ASSIGN_OR_RETURN(lanes->main_, lanes->Add(0));
  HAWSER_ASSIGN_OR_RETURN(lanes->uploads_, lanes->Add(1));
  return lanes;
}

absl::StatusOr<std::shared_ptr<Lane>> Lanes::Add(int priority) {
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<Lane> lane,
                          Lane::Make(device_, events_, priority));
  MutexLock lock(&mu_);
  all_.push_back(lane);
  return lane;
}

absl::StatusOr<std::shared_ptr<Lane>> Lanes::Take() {
  {
    MutexLock lock(&mu_);
    if (!idle_.empty()) {
      std::shared_ptr<Lane> lane = std::move(idle_.back());
      idle_.pop_back();
      return lane;
    }
  }
  return Add(0);
}

void Lanes::Return(std::shared_ptr<Lane> lane) {
  MutexLock lock(&mu_);
  idle_.push_back(std::move(lane));
}

std::vector<std::shared_ptr<Lane>> Lanes::All() {
  MutexLock lock(&mu_);
  return all_;
}

}  // namespace hawser::gpu
