// The text form cut into tokens.
#ifndef HAWSER_CORE_IR_TEXT_LEXER_H_
#define HAWSER_CORE_IR_TEXT_LEXER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hawser {

struct Token {
  enum Kind : uint8_t {
    kEnd,          // of the text
    kWord,         // add, f32, -inf
    kNumber,       // -3, 1e-07, 0x7fc00001
    kString,       // with its quotes and escapes
    kValue,        // %12
    kComputation,  // @3
    kPunctuation,  // one character
    kBad,          // what begins no token, a string that does not end
  };
  Kind kind = kEnd;
  absl::string_view text;  // as it stands in the text
  int line = 1;            // both from 1; columns count bytes
  int column = 1;

  bool Is(char punctuation) const {
    return kind == kPunctuation && text[0] == punctuation;
  }
  bool IsWord(absl::string_view word) const {
    return kind == kWord && text == word;
  }
  // Returns its text for error messages: quoted, escaped, cut to 64 bytes.
  std::string ToString() const;
};

// Blanks, line ends and comments ("//" up to the end of the line) separate
// tokens and mean nothing else. `text` must outlive the lexer and its tokens.
class Lexer {
 public:
  explicit Lexer(absl::string_view text) : rest_(text) {}
  // kEnd again and again once there is nothing left.
  Token Next();

 private:
  void SkipBlanks();
  // The first `size` bytes as a token.
  Token Take(Token::Kind kind, size_t size);

  absl::string_view rest_;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace hawser
#endif  // HAWSER_CORE_IR_TEXT_LEXER_H_
