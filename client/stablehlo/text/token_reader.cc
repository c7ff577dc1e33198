#include "client/stablehlo/text/token_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hawser::stablehlo {
namespace {

// A level takes about 1 KiB of stack; real programs have 20.
constexpr int kMostLevels = 200;

bool InName(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.';
}

bool InValueName(char c) { return InName(c) || c == '-'; }

// Returns how many characters from `begin` on are of a kind.
template <typename InKind>
size_t Run(absl::string_view text, size_t begin, InKind in_kind) {
  size_t end = begin;
  while (end < text.size() && in_kind(text[end])) ++end;
  return end;
}

size_t Digits(absl::string_view text, size_t begin) {
  return Run(text, begin, [](char c) { return absl::ascii_isdigit(c); });
}

// The size of the number that `text` begins with, or 0.
size_t NumberSize(absl::string_view text) {
  const size_t sign = text[0] == '-' ? 1 : 0;
  size_t end = Digits(text, sign);
  if (end == sign) return 0;
  if (end == sign + 1 && text[sign] == '0' && text.substr(end, 1) == "x") {
    const size_t hex =
        Run(text, end + 1, [](char c) { return absl::ascii_isxdigit(c); });
    // "0x3xf32" has sizes; they are read by TakeSizes.
    if (hex > end + 1) return hex;
  }
  if (text.substr(end, 1) == ".") end = Digits(text, end + 1);
  if (text.substr(end, 1) == "e" || text.substr(end, 1) == "E") {
    size_t exponent = end + 1;
    if (exponent < text.size() &&
        (text[exponent] == '+' || text[exponent] == '-')) {
      ++exponent;
    }
    const size_t digits = Digits(text, exponent);
    if (digits > exponent) end = digits;
  }
  return end;
}

char Closing(char opening) {
  switch (opening) {
    case '<':
      return '>';
    case '(':
      return ')';
    case '[':
      return ']';
    case '{':
      return '}';
    default:
      return 0;
  }
}

}  // namespace

void TokenReader::SkipBlanks() {
  size_t at = 0;
  while (at < rest_.size()) {
    const char c = rest_[at];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at;
    } else if (c == '/' && rest_.substr(at, 2) == "//") {
      at = std::min(rest_.find('\n', at), rest_.size());
    } else {
      break;
    }
  }
  rest_.remove_prefix(at);
}

Token TokenReader::Cut(Token::Kind kind, size_t size) {
  const Token token{kind, rest_.substr(0, size)};
  rest_.remove_prefix(token.text.size());
  return token;
}

// The token includes its quotes; a backslash and what follows it are of the
// string.
Token TokenReader::NextString() {
  size_t at = 1;
  while (true) {
    const size_t quote = rest_.find('"', at);
    if (quote == absl::string_view::npos) {
      return Cut(Token::kBad, rest_.size());
    }
    size_t slashes = 0;
    while (quote - slashes > at && rest_[quote - slashes - 1] == '\\') {
      ++slashes;
    }
    if (slashes % 2 == 0) return Cut(Token::kString, quote + 1);
    at = quote + 1;
  }
}

Token TokenReader::Next() {
  SkipBlanks();
  if (rest_.empty()) return Cut(Token::kEnd, 0);
  const char c = rest_[0];
  if (absl::ascii_isalpha(c) || c == '_') {
    return Cut(Token::kWord, Run(rest_, 1, InName));
  }
  switch (c) {
    case '%': {
      size_t end = Run(rest_, 1, InValueName);
      if (end == 1) return Cut(Token::kBad, 1);
      if (rest_.substr(end, 1) == "#") end = Digits(rest_, end + 1);
      return Cut(Token::kValue, end);
    }
    case '"':
      return NextString();
    case '@': {
      if (rest_.substr(1, 1) != "\"") {
        return Cut(Token::kSymbol, Run(rest_, 1, InValueName));
      }
      rest_.remove_prefix(1);
      Token token = NextString();
      if (token.kind == Token::kString) token.kind = Token::kSymbol;
      return token;
    }
    case '#':
      if (absl::StartsWith(rest_, "#-}")) return Cut(Token::kPunctuation, 3);
      return Cut(Token::kAlias, Run(rest_, 1, InName));
    case '!':
      return Cut(Token::kTypeName, Run(rest_, 1, InName));
    case '^':
      return Cut(Token::kBlock, Run(rest_, 1, InValueName));
    case '{':
      return Cut(Token::kPunctuation, absl::StartsWith(rest_, "{-#") ? 3 : 1);
    case '-':
      if (rest_.substr(0, 2) == "->") return Cut(Token::kPunctuation, 2);
      break;
    default:
      break;
  }
  if (absl::ascii_isdigit(c) || c == '-') {
    const size_t size = NumberSize(rest_);
    if (size > 0) return Cut(Token::kNumber, size);
  }
  const bool known = absl::StrContains("()[]{}<>:,=?*+|-/;", c);
  return Cut(known ? Token::kPunctuation : Token::kBad, 1);
}

Token TokenReader::Take() {
  const Token taken = ahead_;
  taken_end_ = taken.text.data() + taken.text.size();
  ahead_ = Next();
  return taken;
}

bool TokenReader::TakeIf(absl::string_view punctuation) {
  if (!ahead_.Is(punctuation)) return false;
  Take();
  return true;
}

bool TokenReader::TakeWordIf(absl::string_view word) {
  if (!ahead_.IsWord(word)) return false;
  Take();
  return true;
}

absl::Status TokenReader::Expected(absl::string_view what) const {
  const std::string got =
      ahead_.kind == Token::kEnd ? "the end of the text" : Quoted(ahead_.text);
  return source_.Invalid(ahead_.text.data(), "expected ", what, ", got ", got);
}

absl::Status TokenReader::Expect(absl::string_view punctuation) {
  if (TakeIf(punctuation)) return absl::OkStatus();
  return Expected(absl::StrCat("'", punctuation, "'"));
}

absl::StatusOr<absl::string_view> TokenReader::Expect(Token::Kind kind,
                                                      absl::string_view what) {
  if (ahead_.kind != kind) return Expected(what);
  return Take().text;
}

absl::StatusOr<absl::string_view> TokenReader::TakeBrackets() {
  const char* const begin = ahead_.text.data();
  std::string closing;  // of the brackets that are open, the last one last
  do {
    if (ahead_.kind == Token::kEnd || ahead_.kind == Token::kBad) {
      return Expected(
          absl::StrCat("'", closing.substr(closing.size() - 1), "'"));
    }
    const Token token = Take();
    if (token.kind != Token::kPunctuation || token.text.size() != 1) continue;
    if (const char close = Closing(token.text[0])) {
      closing.push_back(close);
    } else if (token.text[0] == closing.back()) {
      closing.pop_back();
    }
  } while (!closing.empty());
  return absl::string_view(begin, static_cast<size_t>(taken_end_ - begin));
}

absl::StatusOr<absl::string_view> TokenReader::TakeAngled() {
  if (!ahead_.Is("<")) return Expected("'<'");
  const absl::string_view text = rest_;
  size_t at = 0;
  while (at < text.size() && text[at] != '>') {
    if (text[at] == '"') {
      rest_ = text.substr(at);
      const Token string = NextString();
      at += string.text.size();
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else {
      ++at;
    }
  }
  if (at >= text.size()) {
    ahead_ = {Token::kEnd, text.substr(text.size())};
    rest_ = ahead_.text;
    return Expected("'>'");
  }
  rest_ = text.substr(at + 1);
  taken_end_ = rest_.data();
  ahead_ = Next();
  return text.substr(0, at);
}

absl::string_view TokenReader::TakeSizes() {
  size_t at = 0;
  while (true) {
    size_t end = rest_.substr(at, 1) == "?" ? at + 1 : Digits(rest_, at);
    if (end == at || rest_.substr(end, 1) != "x") break;
    at = end + 1;
  }
  const absl::string_view sizes = rest_.substr(0, at);
  rest_.remove_prefix(at);
  Take();
  return sizes;
}

absl::Status TokenReader::Enter() {
  if (++depth_ <= kMostLevels) return absl::OkStatus();
  return source_.Invalid(ahead_.text.data(), "nested deeper than ", kMostLevels,
                         " levels");
}

}  // namespace hawser::stablehlo
