// One-line logs on stderr: "I1121 10:15:02.123456 session.cc:42] text".
#ifndef HAWSER_CORE_BASE_LOG_H_
#define HAWSER_CORE_BASE_LOG_H_

#include <sstream>

namespace hawser {

enum class LogSeverity { kInfo = 0, kWarning = 1, kError = 2 };

// Lines below this are not written. The initial value is HAWSER_LOG_LEVEL
// (0, 1 or 2) from the environment, else 0.
void SetMinLogSeverity(LogSeverity severity);
bool LogEnabled(LogSeverity severity);

class LogLine {
 public:
  LogLine(LogSeverity severity, const char* file, int line);
  ~LogLine();  // writes the line in one call, so lines never interleave
  template <typename T>
  LogLine& operator<<(const T& value) {
    text_ << value;
    return *this;
  }

 private:
  std::ostringstream text_;
};

}  // namespace hawser

// HAWSER_LOG(kWarning) << "disk is full";
#define HAWSER_LOG(severity)                                          \
  if (!::hawser::LogEnabled(::hawser::LogSeverity::severity)) {       \
  } else                                                              \
    ::hawser::LogLine(::hawser::LogSeverity::severity, __FILE__, __LINE__)

#endif  // HAWSER_CORE_BASE_LOG_H_
