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
  // What it is worth without "=": then a value comes only so. Empty: it needs
  // one.
  absl::string_view implied = "";
};

class CommandLine {
 public:
  // Takes "--flag value", "--flag=value" and "-f value" in any order with the
  // other words, and "--flag" alone where a value is implied; behind "--" every
  // word is one of those.
  // Errors: kInvalidArgument for an unknown flag, a flag without its value,
  // a value for a flag that takes none.
  static absl::StatusOr<CommandLine> Parse(absl::Span<const Flag> flags,
                                           absl::Span<const std::string> words);

  const std::vector<std::string>& words() const { return words_; }
  bool Has(absl::string_view flag) const { return !All(flag).empty(); }
  // The last value given; "" without one.
  std::string Get(absl::string_view flag) const;
  // Every value given, in order.
  std::vector<std::string> All(absl::string_view flag) const;

 private:
  std::vector<std::pair<absl::string_view, std::string>> flags_;  // by name
  std::vector<std::string> words_;
};

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_COMMAND_COMMAND_LINE_H_
