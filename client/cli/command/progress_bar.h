// A line on a terminal that shows how far a transfer is.
#ifndef HAWSER_CLIENT_CLI_COMMAND_PROGRESS_BAR_H_
#define HAWSER_CLIENT_CLI_COMMAND_PROGRESS_BAR_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace hawser::cli {

// The line to show after `elapsed`: bar, percent, bytes, bytes per second, time
// left.
std::string ProgressLine(int64_t done, int64_t total, absl::Duration elapsed);

// Draws its line at most ten times a second; its destructor clears the line.
// Thread-safe.
class ProgressBar {
 public:
  // Writes nothing when not `visible`. `label` stands in front of each line.
  ProgressBar(std::ostream* out, bool visible, std::string label = "",
              std::function<absl::Time()> now = absl::Now);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Update(int64_t done, int64_t total);
  // A callback for CallOptions, which must not outlive this object.
  std::function<void(int64_t, int64_t)> Callback() {
    return [this](int64_t done, int64_t total) { Update(done, total); };
  }

 private:
  std::ostream* const out_;
  const bool visible_;
  const std::string label_;
  const std::function<absl::Time()> now_;
  const absl::Time start_;
  Mutex mu_;
  absl::Time drawn_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_COMMAND_PROGRESS_BAR_H_
