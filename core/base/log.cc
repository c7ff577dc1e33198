#include "core/base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/text/terminal_text.h"

namespace hawser {
namespace {

int FromEnvironment() {
  // Any other value is left out, as core/environment says.
  const char* text = std::getenv("HAWSER_LOG_LEVEL");
  const bool is_level = text != nullptr && *text >= '0' && *text <= '2';
  return is_level && text[1] == '\0' ? *text - '0' : 0;
}

std::atomic<int>& MinSeverity() {
  static std::atomic<int> severity{FromEnvironment()};
  return severity;
}

}  // namespace

void SetMinLogSeverity(LogSeverity severity) {
  MinSeverity() = static_cast<int>(severity);
}

bool LogEnabled(LogSeverity severity) {
  return static_cast<int>(severity) >= MinSeverity();
}

LogLine::LogLine(LogSeverity severity, const char* file, int line) {
  const char* slash = std::strrchr(file, '/');
  text_ << "IWE"[static_cast<int>(severity)]
        << absl::FormatTime("%m%d %H:%M:%E6S", absl::Now(),
                            absl::LocalTimeZone())
        << ' ' << (slash == nullptr ? file : slash + 1) << ':' << line << "] ";
}

LogLine::~LogLine() {
  text_ << '\n';
  const std::string line = TerminalText(text_.str());
  // A log line that cannot be written has nowhere to be reported.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace hawser
