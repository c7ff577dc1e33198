// A text cut into tokens, one of them ahead.
#ifndef HAWSER_CLIENT_STABLEHLO_TEXT_TOKEN_READER_H_
#define HAWSER_CLIENT_STABLEHLO_TEXT_TOKEN_READER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/stablehlo/tree/source.h"

namespace hawser::stablehlo {

struct Token {
  enum Kind : uint8_t {
    kEnd,          // of the text
    kWord,         // stablehlo.add, f32, true
    kNumber,       // -3, 1.5e+00, 0x7F800000
    kString,       // with its quotes
    kValue,        // %3, %arg0#1
    kSymbol,       // @main, @"a b"
    kAlias,        // #loc3, #stablehlo.gather
    kTypeName,     // !stablehlo.token
    kBlock,        // ^bb0
    kPunctuation,  // one character, "->", "{-#" or "#-}"
    kBad,          // what begins no token, a string that does not end
  };
  Kind kind = kEnd;
  absl::string_view text;  // as it stands in the text

  bool Is(absl::string_view punctuation) const {
    return kind == kPunctuation && text == punctuation;
  }
  bool IsWord(absl::string_view word) const {
    return kind == kWord && text == word;
  }
};

// Blanks and comments ("//" up to the end of the line) separate tokens and mean
// nothing else. The text of the source must outlive the reader and its tokens.
class TokenReader {
 public:
  explicit TokenReader(const Source& source)
      : source_(source), rest_(source.text()) {
    Take();
  }

  const Source& source() const { return source_; }
  // The token ahead; kEnd again and again once there is nothing left.
  const Token& ahead() const { return ahead_; }
  Token Take();
  // True if the token ahead was it, and has been taken.
  bool TakeIf(absl::string_view punctuation);
  bool TakeWordIf(absl::string_view word);

  // Takes what the grammar says must come. Errors (all kInvalidArgument):
  // "line:column: expected `what`, got '...'".
  absl::Status Expect(absl::string_view punctuation);
  absl::StatusOr<absl::string_view> Expect(Token::Kind kind,
                                           absl::string_view what);
  absl::Status Expected(absl::string_view what) const;

  // The text of everything from a '<', '(', '[' or '{' ahead to the bracket
  // that closes it, both among it. Errors: the text ends first.
  absl::StatusOr<absl::string_view> TakeBrackets();
  // Takes the text between a '<' ahead and the next '>' that is in no string
  // and no comment, without cutting it into tokens: values of many megabytes.
  absl::StatusOr<absl::string_view> TakeAngled();
  // Takes a '<' ahead and the digits and sizes after it, as "2x?x"; ahead is
  // what follows them.
  absl::string_view TakeSizes();
  // Points to the end of the last token that was taken.
  const char* taken_end() const { return taken_end_; }

  // Brackets, regions and types within each other, counted by those who
  // recurse. Errors: deeper than any program, kInvalidArgument.
  absl::Status Enter();
  void Leave() { --depth_; }

 private:
  Token Next();
  Token Cut(Token::Kind kind, size_t size);
  Token NextString();
  void SkipBlanks();

  Source source_;
  absl::string_view rest_;  // after ahead_
  Token ahead_;
  const char* taken_end_ = nullptr;
  int depth_ = 0;
};

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TEXT_TOKEN_READER_H_
