#include "core/ir/text/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hawser {
namespace {

constexpr absl::string_view kPunctuation = "()[]{},:=";

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsWordPart(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// Returns how many bytes from `from` on pass `test`.
template <typename Test>
size_t Count(absl::string_view text, size_t from, Test test) {
  size_t end = from;
  while (end < text.size() && test(text[end])) ++end;
  return end - from;
}

// Digits, letters and points; a sign only after an exponent's e. A caller that
// knows the type it should have checks that it is a number.
size_t NumberSize(absl::string_view text) {
  const bool hex = absl::StartsWith(text, "0x");
  size_t end = 1;
  while (end < text.size()) {
    const char c = text[end];
    const bool exponent =
        !hex && (text[end - 1] == 'e' || text[end - 1] == 'E');
    if (!IsWordPart(c) && c != '.' &&
        !(exponent && (c == '+' || c == '-'))) {
      break;
    }
    ++end;
  }
  return end;
}

// Up to and with the closing quote; 0 when there is none on the line.
size_t StringSize(absl::string_view text) {
  for (size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '"') return i + 1;
    const bool escapes = text[i] == '\\' && i + 1 < text.size();
    if (escapes && text[i + 1] != '\n') ++i;
  }
  return 0;
}

}  // namespace

std::string Token::ToString() const {
  constexpr size_t kShown = 64;
  if (kind == kEnd) return "the end of the text";
  const absl::string_view shown = text.substr(0, kShown);
  const std::string quoted =
      absl::StrCat("'", absl::CHexEscape(shown),
                   shown.size() < text.size() ? "...'" : "'");
  return kind == kBad && text[0] == '"'
             ? absl::StrCat("a string that does not end on its line, ", quoted)
             : quoted;
}

void Lexer::SkipBlanks() {
  while (!rest_.empty()) {
    if (rest_[0] == '\n') {
      ++line_;
      column_ = 1;
      rest_.remove_prefix(1);
      continue;
    }
    size_t size = Count(rest_, 0, [](char c) {
      return c == ' ' || c == '\t' || c == '\r';
    });
    if (size == 0 && absl::StartsWith(rest_, "//")) {
      size = Count(rest_, 0, [](char c) { return c != '\n'; });
    }
    if (size == 0) return;
    column_ += static_cast<int>(size);
    rest_.remove_prefix(size);
  }
}

Token Lexer::Take(Token::Kind kind, size_t size) {
  const Token token{kind, rest_.substr(0, size), line_, column_};
  column_ += static_cast<int>(size);
  rest_.remove_prefix(size);
  return token;
}

Token Lexer::Next() {
  SkipBlanks();
  if (rest_.empty()) return Take(Token::kEnd, 0);
  const char c = rest_[0];
  const char second = rest_.size() > 1 ? rest_[1] : '\0';
  if (IsWordStart(c) || (c == '-' && IsWordStart(second))) {
    return Take(Token::kWord, 1 + Count(rest_, 1, IsWordPart));
  }
  if (absl::ascii_isdigit(c) || (c == '-' && absl::ascii_isdigit(second))) {
    return Take(Token::kNumber, NumberSize(rest_));
  }
  if ((c == '%' || c == '@') && absl::ascii_isdigit(second)) {
    return Take(c == '%' ? Token::kValue : Token::kComputation,
                1 + Count(rest_, 1, [](char d) {
                  return absl::ascii_isdigit(d);
                }));
  }
  if (kPunctuation.find(c) != absl::string_view::npos) {
    return Take(Token::kPunctuation, 1);
  }
  if (c != '"') return Take(Token::kBad, 1);
  const size_t size = StringSize(rest_);
  if (size > 0) return Take(Token::kString, size);
  return Take(Token::kBad, Count(rest_, 0, [](char d) { return d != '\n'; }));
}

}  // namespace hawser
