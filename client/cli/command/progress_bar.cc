#include "client/cli/command/progress_bar.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/command/quantity.h"
#include "core/base/text/terminal_text.h"

namespace hawser::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr absl::Duration kRedraw = absl::Milliseconds(100);
// Moves the cursor to the first column and clears the line.
constexpr absl::string_view kRewind = "\r\x1b[K";

}  // namespace

std::string ProgressLine(int64_t done, int64_t total, absl::Duration elapsed) {
  const double part =
      total <= 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / total);
  const int filled = static_cast<int>(part * kBarWidth);
  std::string line = absl::StrFormat(
      "[%s%s] %3d%%  %s of %s", std::string(filled, '#'),
      std::string(kBarWidth - filled, '.'), static_cast<int>(part * 100),
      ReadableBytes(done), ReadableBytes(total));
  const double seconds = absl::ToDoubleSeconds(elapsed);
  if (done <= 0 || seconds <= 0) return line;
  const double rate = done / seconds;
  absl::StrAppend(&line, "  ", ReadableBytes(static_cast<int64_t>(rate)), "/s");
  if (done < total) {
    absl::StrAppend(&line, "  ETA ",
                    ReadableDuration(absl::Seconds((total - done) / rate)));
  }
  return line;
}

ProgressBar::ProgressBar(std::ostream* out, bool visible, std::string label,
                         std::function<absl::Time()> now)
    : out_(out),
      visible_(visible),
      label_(TerminalText(label)),
      now_(std::move(now)),
      start_(now_()) {}

ProgressBar::~ProgressBar() {
  MutexLock lock(&mu_);
  if (drawn_ != absl::InfinitePast()) *out_ << kRewind << std::flush;
}

void ProgressBar::Update(int64_t done, int64_t total) {
  if (!visible_) return;
  const absl::Time now = now_();
  MutexLock lock(&mu_);
  if (now - drawn_ < kRedraw) return;
  drawn_ = now;
  *out_ << kRewind << label_ << ProgressLine(done, total, now - start_)
        << std::flush;
}

}  // namespace hawser::cli
