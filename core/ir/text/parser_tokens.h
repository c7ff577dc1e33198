// The parser's view of a text: the token at hand, the one after it, and the
// errors that name them.
#ifndef HAWSER_CORE_IR_TEXT_PARSER_TOKENS_H_
#define HAWSER_CORE_IR_TEXT_PARSER_TOKENS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ir/text/lexer.h"

namespace hawser {

// `status` with "line:column: " in front.
absl::Status At(const Token& token, const absl::Status& status);

class TokenReader {
 public:
  // `text` must outlive the reader and its tokens.
  explicit TokenReader(absl::string_view text);

  const Token& token() const { return token_; }  // the one at hand
  const Token& next() const { return next_; }    // the one after it
  void Advance();
  // The token at hand, going on to the next.
  Token Take();

  bool Is(char punctuation) const { return token_.Is(punctuation); }
  // Goes on if this is the token at hand.
  bool Skip(char punctuation);

  // Each goes on if the token at hand is what it wants. Errors:
  // kInvalidArgument with line and column, what was wanted and what is there.
  absl::Status Expect(char punctuation);
  absl::Status ExpectWord(absl::string_view word);
  absl::StatusOr<std::string> TakeString(absl::string_view wanted);
  absl::StatusOr<int64_t> TakeInteger(absl::string_view wanted);
  // The number of a kValue or kComputation token.
  absl::StatusOr<int32_t> TakeIndex(Token::Kind kind, absl::string_view wanted);

  // The error that the token at hand is not `wanted`.
  absl::Status Unexpected(absl::string_view wanted) const;

 private:
  Lexer lexer_;
  Token token_;
  Token next_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_IR_TEXT_PARSER_TOKENS_H_
