#include "client/cli/command/terminal_stream.h"

#include <cstdio>

#include "absl/strings/string_view.h"
#include "core/base/text/terminal_text.h"

namespace hawser::cli {

void TerminalStream::PassOn(size_t size) {
  if (size == 0) return;
  out_ << TerminalText(absl::string_view(text_).substr(0, size));
  text_.erase(0, size);
}

int TerminalStream::overflow(int c) {
  if (c == EOF) return 0;
  const char one = static_cast<char>(c);
  xsputn(&one, 1);
  return c;
}

std::streamsize TerminalStream::xsputn(const char* text, std::streamsize size) {
  text_.append(text, static_cast<size_t>(size));
  // A character of several bytes may come in parts, but none goes over a line.
  const size_t end = text_.rfind('\n');
  if (end != std::string::npos) PassOn(end + 1);
  return size;
}

int TerminalStream::sync() {
  PassOn(text_.size());
  out_.flush();
  return out_.good() ? 0 : -1;
}

}  // namespace hawser::cli
