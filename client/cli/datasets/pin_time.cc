#include "client/cli/datasets/pin_time.h"

#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/command/command.h"

namespace hawser::cli {
namespace {

// Days come before what absl reads. Milliseconds are the finest that the wire
// carries.
std::optional<absl::Duration> Read(absl::string_view text) {
  absl::Duration days = absl::ZeroDuration(), rest = absl::ZeroDuration();
  if (const size_t d = text.find('d'); d != absl::string_view::npos) {
    int32_t count = 0;
    if (!absl::SimpleAtoi(text.substr(0, d), &count) || count < 0) {
      return std::nullopt;
    }
    days = count * absl::Hours(24);
    text.remove_prefix(d + 1);
    if (text.empty()) text = "0";
  }
  if (!absl::ParseDuration(text, &rest) || rest < absl::ZeroDuration() ||
      days + rest < absl::Milliseconds(1)) {
    return std::nullopt;
  }
  return days + rest;
}

}  // namespace

absl::StatusOr<absl::Duration> ReadAge(absl::string_view flag,
                                       absl::string_view text) {
  const std::optional<absl::Duration> time = Read(text);
  if (time.has_value() && *time < absl::InfiniteDuration()) return *time;
  return UsageError(
      absl::StrCat(flag, " \"", text, "\" is no time: 90s, 10m, 36h, 7d"));
}

absl::StatusOr<absl::Duration> ReadPinTime(absl::string_view flag,
                                           absl::string_view text) {
  if (text == "forever") return absl::InfiniteDuration();
  if (const auto time = Read(text)) return *time;
  return UsageError(absl::StrCat(flag, " \"", text,
                                 "\" is no time: 90s, 10m, 36h, 7d, forever"));
}

}  // namespace hawser::cli
