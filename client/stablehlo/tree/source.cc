#include "client/stablehlo/tree/source.h"

#include <algorithm>

#include "absl/strings/escaping.h"

namespace hawser::stablehlo {
namespace {

constexpr size_t kLongestQuoted = 64;

}  // namespace

Place Source::PlaceOf(const char* at) const {
  const bool inside = at >= text_.data() && at <= text_.data() + text_.size();
  if (!has_lines_) return {0, inside ? at - text_.data() : 0};
  if (!inside) return {};
  const absl::string_view before(text_.data(),
                                 static_cast<size_t>(at - text_.data()));
  Place place;
  place.line += std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  place.column += static_cast<int64_t>(newline == absl::string_view::npos
                                           ? before.size()
                                           : before.size() - newline - 1);
  return place;
}

absl::Status Source::Error(absl::StatusCode code, const char* at,
                           absl::string_view what) const {
  return absl::Status(code, absl::StrCat(PlaceOf(at).ToString(), ": ", what));
}

std::string Quoted(absl::string_view text) {
  const bool cut = text.size() > kLongestQuoted;
  return absl::StrCat("'", absl::CEscape(text.substr(0, kLongestQuoted)),
                      cut ? "..." : "", "'");
}

}  // namespace hawser::stablehlo
