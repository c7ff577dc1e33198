#include "core/base/process/library_call.h"

#include <atomic>
#include <cstdlib>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/process/forked.h"

namespace hawser {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(1);
// A call takes milliseconds; a process ends within these after its handlers.
constexpr int kLooks = 3000;

std::atomic<bool> ending{false}, waited_out{false};
std::atomic<int> under_way{0};

}  // namespace

void LibraryCall::WatchTheEnd() {
  static const bool watched = std::atexit([] {
    if (IsForked()) return;
    ending = true;
    for (int i = 0; i < kLooks && under_way > 0; ++i) absl::SleepFor(kLook);
  }) == 0;
  (void)watched;
}

LibraryCall::LibraryCall() {
  ++under_way;
  if (!ending || waited_out) return;
  --under_way;
  for (int i = 0; i < kLooks && !waited_out; ++i) absl::SleepFor(kLook);
  waited_out = true;  // the process does not end: its own work needs this
  ++under_way;
}

LibraryCall::~LibraryCall() { --under_way; }

}  // namespace hawser
