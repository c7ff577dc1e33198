// The words after a subcommand: flags and the rest.
#ifndef HAWSER_CLIENT_CLI_COMMAND_COMMAND_LINE_H_
#define HAWSER_CLIENT_CLI_COMMAND_COMMAND_LINE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hawser::cli {

struct Flag {
  absl::string_view name;       // "--output"
  absl::string_view shorthand;  // "-o", or empty
  absl::string_view value;      // what the help calls its value; empty: none
  absl::string_view summary;
  // The value of the flag without "="; another value then needs "=". Empty: the
  // flag needs a value.
  absl::string_view implied = "";
};

// A parsed command line: the values of its flags, and the words that are no
// flags.
class CommandLine {
 public:
  // Parses "--flag value", "--flag=value" and "-f value" in any order with
  // other words, and "--flag" alone where a value is implied. After "--" no
  // word is a flag.
  // Errors: kInvalidArgument for an unknown flag, a flag without its value,
  // a value for a flag that takes none.
  static absl::StatusOr<CommandLine> Parse(absl::Span<const Flag> flags,
                                           absl::Span<const std::string> words);

  const std::vector<std::string>& words() const { return words_; }
  bool Has(absl::string_view flag) const { return !All(flag).empty(); }
  // The last value of the flag; "" without one.
  std::string Get(absl::string_view flag) const;
  // Every value of the flag, in order.
  std::vector<std::string> All(absl::string_view flag) const;

 private:
  std::vector<std::pair<absl::string_view, std::string>> flags_;  // by name
  std::vector<std::string> words_;
};

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_COMMAND_COMMAND_LINE_H_
