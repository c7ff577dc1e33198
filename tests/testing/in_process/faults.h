// FaultPlan: what goes wrong on a link, drawn from one seed.
#ifndef HAWSER_TESTS_TESTING_IN_PROCESS_FAULTS_H_
#define HAWSER_TESTS_TESTING_IN_PROCESS_FAULTS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/time/time.h"
#include "core/wire/dataset_verbs.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {

// Chances are of 0 to 1. The default is a link without faults.
struct FaultOptions {
  // Of the streams, and of the calls of each kind, only so many first ones are
  // hit, so that every schedule comes to its end.
  int faulty = 6;
  // Breaks somewhere within its first so many bytes, in either direction:
  // whatever was on its way is lost, and each end hears of it in its own time.
  double cut_stream = 0;
  int64_t stream_bytes = 4096;
  // The first stream breaks only once the server has answered on it: a client
  // does not try again to reach what it never reached.
  bool first_opens = false;
  double cut_call = 0;
  int64_t call_bytes = 64 << 10;
  // A call's answer is lost, though all of it was done.
  double lose_answer = 0;
  // The port is closed; never for the first stream, nor for two in a row.
  double refuse = 0;
  // Takes everything and says nothing: to be noticed by a timeout.
  double silent = 0;
  // Of messages: late, sent twice (once reattached), answers in another order.
  double delay = 0;
  double duplicate = 0;
  double reorder = 0;
  absl::Duration longest_delay = absl::Milliseconds(2);
  // Of puts: one bit arrives wrong.
  double corrupt = 0;
};

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Of one session stream.
struct StreamFaults {
  int64_t cut_after_sent = kNever;
  int64_t cut_after_received = kNever;
  // How late either end hears of the cut.
  absl::Duration client_hears;
  absl::Duration server_hears;
  bool refused = false;
  bool silent = false;
  bool opens = false;  // no cut before the first message each way
};

// Of one call: a request, a stream of frames, or both.
struct CallFaults {
  int64_t cut_after_sent = kNever;
  int64_t cut_after_received = kNever;
  int64_t corrupt_at = kNever;  // of the data sent
  bool answer_lost = false;
  absl::Duration delay;         // before the request arrives
  absl::Duration server_hears;  // of a cut
};

// Those of one request and one answer are numbered from kUnary on.
enum class CallKind : uint8_t { kCall, kUpload, kDownload, kPut, kGet, kUnary };

template <typename Method>
CallKind KindOf() {
  int kind = static_cast<int>(CallKind::kUnary), found = 0;
  ForEachDatasetsMethod([&](auto method) {
    if (std::is_same_v<decltype(method), Method>) found = kind;
    ++kind;
  });
  return static_cast<CallKind>(found);
}
inline constexpr int kCallKinds = 32;

// Thread-safe. The n-th stream, and the n-th call of each kind, has the same
// faults whenever it comes.
class FaultPlan {
 public:
  explicit FaultPlan(uint64_t seed = 0, const FaultOptions& options = {})
      : seed_(seed), options_(options) {}

  const FaultOptions& options() const { return options_; }
  // The next stream; its number is for Messages.
  StreamFaults NextStream(int* number);
  CallFaults NextCall(CallKind kind);
  // What to draw from for the messages of stream `number` in one direction.
  Random Messages(int number, bool to_server) const;

  // Calls of this kind that were hit so far, which explains a kUnavailable.
  int hit(CallKind kind) const { return hit_[static_cast<int>(kind)]; }
  int corrupted() const { return corrupted_; }
  // Called when a fault happens, not when it is drawn.
  void CountHit(CallKind kind) { ++hit_[static_cast<int>(kind)]; }
  void CountCorrupted() { ++corrupted_; }

 private:
  const uint64_t seed_;
  const FaultOptions options_;
  std::atomic<int> streams_{0};
  std::array<std::atomic<int>, kCallKinds> calls_{};
  std::array<std::atomic<int>, kCallKinds> hit_{};
  std::atomic<int> corrupted_{0};
};

bool Chance(Random& random, double chance);
absl::Duration PickDuration(Random& random, absl::Duration longest);

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_IN_PROCESS_FAULTS_H_
