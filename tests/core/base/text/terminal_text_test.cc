#include "core/base/text/terminal_text.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace hawser {
namespace {

TEST(TerminalText, ShowsEveryControlCharacterAndNothingElse) {
  for (int c = 0; c < 0x20; ++c) {
    const std::string text(1, static_cast<char>(c));
    if (c == '\n' || c == '\t') {
      EXPECT_EQ(TerminalText(text), text);
    } else {
      EXPECT_EQ(TerminalText(text).substr(0, 2), "\\x") << c;
    }
  }
  EXPECT_EQ(TerminalText("\x7f"), "\\x7f");
  for (int c = 0x20; c < 0x7f; ++c) {
    const std::string text(1, static_cast<char>(c));
    EXPECT_EQ(TerminalText(text), text);
  }
}

TEST(TerminalText, KnowsTheOrdersOfTerminals) {
  const std::pair<const char*, const char*> kRows[] = {
      {"\x1b[31mred", "\\x1b[31mred"},
      {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
      {"\xc2\x9b"
       "2J",
       "\\xc2\\x9b2J"},  // CSI as UTF-8 has it
      {"\x9b"
       "2J",
       "\\x9b2J"},  // and as one byte
      {"a\rb", "a\\x0db"},
      {"b\x08", "b\\x08"},
      {"gr\xc3\xb6\xc3\x9f"
       "er",
       "gr\xc3\xb6\xc3\x9f"
       "er"},
      {"\xe2\x82\xac 5", "\xe2\x82\xac 5"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
      {"", ""},
  };
  for (const auto& [text, shown] : kRows) EXPECT_EQ(TerminalText(text), shown);
}

}  // namespace
}  // namespace hawser
