#include "core/base/values/absent_size.h"

#include <array>
#include <limits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"

namespace hawser {
namespace {

constexpr int64_t kHighest = -1'520'000'000;
constexpr int64_t kStep = 4 * kAbsentSlack;
constexpr int64_t kKept = 128;
constexpr int64_t kLowest = kHighest - (kKept - 1) * kStep - kAbsentSlack;
static_assert(kLowest > std::numeric_limits<int32_t>::min());
constexpr int64_t kNearest = kHighest + kAbsentSlack;
static_assert(kNearest * kNearest > int64_t{1} << 61);

class Absences {
 public:
  int64_t Keep(Absence absence) {
    MutexLock lock(&mu_);
    const int64_t place = next_++ % kKept;
    kept_[place] = std::move(absence);
    return kHighest - place * kStep;
  }
  std::optional<Absence> Find(int64_t place) {
    MutexLock lock(&mu_);
    if (place >= next_) return std::nullopt;
    return kept_[place];
  }

 private:
  Mutex mu_;
  int64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  std::array<Absence, kKept> kept_ ABSL_GUARDED_BY(mu_);
};

Absences& All() {
  static auto& absences = *new Absences;
  return absences;
}

}  // namespace

int64_t AbsentSize(Absence absence) { return All().Keep(std::move(absence)); }

std::optional<Absence> FindAbsence(int64_t size, int64_t slack) {
  if (size < kLowest || size > kNearest) return std::nullopt;
  const int64_t place = (kHighest + kStep / 2 - size) / kStep;
  const int64_t distance = size - (kHighest - place * kStep);
  if (distance < -slack || distance > slack) return std::nullopt;
  return All().Find(place);
}

}  // namespace hawser
