#include "core/ir/text/parser_tokens.h"

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {

absl::Status At(const Token& token, const absl::Status& status) {
  return Annotate(status, absl::StrCat(token.line, ":", token.column));
}

TokenReader::TokenReader(absl::string_view text) : lexer_(text) {
  token_ = lexer_.Next();
  next_ = lexer_.Next();
}

void TokenReader::Advance() {
  token_ = next_;
  next_ = lexer_.Next();
}

Token TokenReader::Take() {
  const Token taken = token_;
  Advance();
  return taken;
}

bool TokenReader::Skip(char punctuation) {
  if (!Is(punctuation)) return false;
  Advance();
  return true;
}

absl::Status TokenReader::Expect(char punctuation) {
  if (Skip(punctuation)) return absl::OkStatus();
  return Unexpected(absl::StrCat("'", absl::string_view(&punctuation, 1), "'"));
}

absl::Status TokenReader::ExpectWord(absl::string_view word) {
  if (!token_.IsWord(word)) return Unexpected(absl::StrCat("'", word, "'"));
  Advance();
  return absl::OkStatus();
}

absl::StatusOr<std::string> TokenReader::TakeString(absl::string_view wanted) {
  if (token_.kind != Token::kString) return Unexpected(wanted);
  const Token token = Take();
  std::string value, why;
  const absl::string_view inner = token.text.substr(1, token.text.size() - 2);
  if (absl::CUnescape(inner, &value, &why)) return value;
  return At(token, InvalidArgument("the string ", token.ToString(),
                                   " has a bad escape: ", why));
}

absl::StatusOr<int64_t> TokenReader::TakeInteger(absl::string_view wanted) {
  int64_t value = 0;
  if (token_.kind != Token::kNumber || !absl::SimpleAtoi(token_.text, &value)) {
    return Unexpected(wanted);
  }
  Advance();
  return value;
}

absl::StatusOr<int32_t> TokenReader::TakeIndex(Token::Kind kind,
                                               absl::string_view wanted) {
  int32_t value = 0;
  if (token_.kind != kind ||
      !absl::SimpleAtoi(token_.text.substr(1), &value)) {
    return Unexpected(wanted);
  }
  Advance();
  return value;
}

absl::Status TokenReader::Unexpected(absl::string_view wanted) const {
  return At(token_,
            InvalidArgument("expected ", wanted, ", got ", token_.ToString()));
}

}  // namespace hawser
