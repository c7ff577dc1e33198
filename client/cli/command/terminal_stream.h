// TerminalStream: what a command prints, without orders to the terminal.
#ifndef HAWSER_CLIENT_CLI_COMMAND_TERMINAL_STREAM_H_
#define HAWSER_CLIENT_CLI_COMMAND_TERMINAL_STREAM_H_

#include <ostream>
#include <streambuf>
#include <string>

namespace hawser::cli {

// Passes whole lines, and what is flushed, on to `out` as TerminalText: texts
// of servers and names of files may hold anything. Not thread-safe. `out`
// outlives it.
class TerminalStream final : private std::streambuf, public std::ostream {
 public:
  explicit TerminalStream(std::ostream* out)
      : std::ostream(static_cast<std::streambuf*>(this)), out_(*out) {}
  ~TerminalStream() override { PassOn(text_.size()); }

 private:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;
  void PassOn(size_t size);

  std::ostream& out_;
  std::string text_;  // not passed on yet
};

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_COMMAND_TERMINAL_STREAM_H_
