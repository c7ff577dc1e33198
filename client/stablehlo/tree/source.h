// Source: a text or bytes, and the places in it that errors name.
#ifndef HAWSER_CLIENT_STABLEHLO_TREE_SOURCE_H_
#define HAWSER_CLIENT_STABLEHLO_TREE_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hawser::stablehlo {

// Of a text: both count from 1; columns count bytes. Of other bytes: line 0, and
// how many are before it.
struct Place {
  int64_t line = 1;
  int64_t column = 1;
  std::string ToString() const {
    return line == 0 ? absl::StrCat("byte ", column)
                     : absl::StrCat(line, ":", column);
  }
};

// A text that its owner keeps. Places are looked for when an error needs one,
// so that reading counts no lines.
class Source {
 public:
  Source() = default;
  explicit Source(absl::string_view text) : text_(text) {}
  // Of bytes that have no lines.
  static Source OfBytes(absl::string_view bytes) {
    Source source(bytes);
    source.has_lines_ = false;
    return source;
  }

  absl::string_view text() const { return text_; }
  // Returns the place of a byte of the text, or of its end; any other gives the
  // text's start.
  Place PlaceOf(const char* at) const;

  // "line:column: what", or "byte N: what".
  absl::Status Error(absl::StatusCode code, const char* at,
                     absl::string_view what) const;
  template <typename... Args>
  absl::Status Invalid(const char* at, const Args&... what) const {
    return Error(absl::StatusCode::kInvalidArgument, at, absl::StrCat(what...));
  }

 private:
  absl::string_view text_;
  bool has_lines_ = true;
};

// A piece of the text for an error: quoted, escaped, cut to 64 bytes.
std::string Quoted(absl::string_view text);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_TREE_SOURCE_H_
