#include "client/remote/session/window/slow_requests.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace hawser {
namespace {

// The log tells of executions that wait for the device for so long.
constexpr absl::Duration kLongWait = absl::Minutes(1);

std::string InSeconds(absl::Duration time) {
  return absl::FormatDuration(absl::Trunc(time, absl::Seconds(1)));
}

}  // namespace

absl::Time SlowRequests::NextReport(absl::Time oldest) const {
  return std::max(oldest, asked_) + silence_;
}

uint64_t SlowRequests::Lost(const v1::PingReply& report, uint64_t sequence,
                            const RequestWindow& window) {
  const uint64_t missed =
      window.FirstBeside({report.unfinished().data(),
                          static_cast<size_t>(report.unfinished_size())},
                         sequence);
  return std::exchange(missed_, missed) == missed ? missed : 0;
}

std::string SlowRequests::LongWait(const v1::PingReply& report,
                                   absl::Time oldest, absl::Time now) {
  // A user before a terminal hears of it sooner.
  static const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  const absl::Duration in_line = absl::Microseconds(report.waited_us());
  const absl::Duration all = now - oldest;
  const bool is_long = is_terminal ? all >= silence_ : in_line >= kLongWait;
  if (!is_long) {
    said_ = absl::ZeroDuration();
    return "";
  }
  if (all < 2 * said_) return "";
  said_ = all;
  std::string text =
      absl::StrCat(address_, ": works on this for ", InSeconds(all));
  if (report.waiting() == 0) return text;
  return absl::StrCat(text, "; for ", InSeconds(in_line),
                      " an execution has been in line for the device, with ",
                      report.waiting_before(), " before it; ", report.waiting(),
                      " of this tenant wait");
}

}  // namespace hawser
