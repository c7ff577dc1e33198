#include "core/base/text/terminal_text.h"

#include <cstddef>

#include "absl/strings/str_format.h"

namespace hawser {
namespace {

bool IsContinuation(unsigned char c) { return c >= 0x80 && c < 0xc0; }

}  // namespace

std::string TerminalText(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool within = false;  // of a character of several bytes
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size()
                          ? static_cast<unsigned char>(text[i + 1])
                          : static_cast<unsigned char>(0);
    const bool plain = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    // U+0080 to U+009F, and their second byte alone.
    const bool two_bytes = c == 0xc2 && next >= 0x80 && next < 0xa0;
    const bool alone = IsContinuation(c) && !within;
    within = c >= 0xc2 || (within && IsContinuation(c));
    if (plain || two_bytes || alone) {
      absl::StrAppendFormat(&out, "\\x%02x", c);
      if (two_bytes) {
        absl::StrAppendFormat(&out, "\\x%02x", next);
        ++i;
      }
      within = false;
      continue;
    }
    out.push_back(text[i]);
  }
  return out;
}

}  // namespace hawser
