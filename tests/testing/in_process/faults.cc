#include "tests/testing/in_process/faults.h"

namespace hawser {
namespace {

// A generator of its own for everything that is numbered.
Random Draw(uint64_t seed, uint64_t kind, uint64_t number) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // spreads small numbers
  return Random((seed + 1) * kOdd ^ (kind + 1) * (kOdd << 7 | 1) ^
                (number + 1) * (kOdd >> 9 | 1));
}

enum : uint64_t { kStreams = 100, kToServer, kToClient };

}  // namespace

bool Chance(Random& random, double chance) {
  return random.Below(1 << 20) < static_cast<int64_t>(chance * (1 << 20));
}

absl::Duration PickDuration(Random& random, absl::Duration longest) {
  return absl::Microseconds(
      random.Between(0, absl::ToInt64Microseconds(longest)));
}

StreamFaults FaultPlan::NextStream(int* number) {
  const int n = *number = streams_++;
  StreamFaults faults;
  if (n >= options_.faulty) return faults;
  Random random = Draw(seed_, kStreams, n);
  faults.client_hears = PickDuration(random, options_.longest_delay * 4);
  faults.server_hears = PickDuration(random, options_.longest_delay * 4);
  if (Chance(random, options_.cut_stream)) {
    (random.OneIn(2) ? faults.cut_after_sent : faults.cut_after_received) =
        random.Below(options_.stream_bytes);
  }
  faults.opens = n == 0 && options_.first_opens;
  faults.silent = Chance(random, options_.silent);
  // Streams of odd number only: no two in a row, and not the first.
  faults.refused = n % 2 == 1 && Chance(random, options_.refuse);
  return faults;
}

CallFaults FaultPlan::NextCall(CallKind kind) {
  const int n = calls_[static_cast<int>(kind)]++;
  CallFaults faults;
  Random random = Draw(seed_, static_cast<uint64_t>(kind), n);
  if (Chance(random, options_.delay)) {
    faults.delay = PickDuration(random, options_.longest_delay);
  }
  if (n >= options_.faulty) return faults;
  faults.server_hears = PickDuration(random, options_.longest_delay * 2);
  faults.answer_lost = Chance(random, options_.lose_answer);
  if (Chance(random, options_.cut_call)) {
    (random.OneIn(2) ? faults.cut_after_sent : faults.cut_after_received) =
        random.Below(options_.call_bytes);
  }
  if (kind == CallKind::kPut && Chance(random, options_.corrupt)) {
    faults.corrupt_at = random.Below(options_.call_bytes);
  }
  return faults;
}

Random FaultPlan::Messages(int number, bool to_server) const {
  return Draw(seed_, to_server ? kToServer : kToClient, number);
}

}  // namespace hawser
