#include "client/cli/command/command_line.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::cli {
namespace {

const Flag* FindFlag(absl::Span<const Flag> flags, absl::string_view word) {
  for (const Flag& flag : flags) {
    if (word == flag.name || word == flag.shorthand) return &flag;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<CommandLine> CommandLine::Parse(
    absl::Span<const Flag> flags, absl::Span<const std::string> words) {
  CommandLine line;
  bool flags_ended = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const absl::string_view word = words[i];
    if (flags_ended || word == "-" || !absl::StartsWith(word, "-")) {
      line.words_.emplace_back(word);
      continue;
    }
    if (word == "--") {
      flags_ended = true;
      continue;
    }
    const size_t equals = word.find('=');
    const absl::string_view name = word.substr(0, equals);
    const bool has_value = equals != absl::string_view::npos;
    const Flag* flag = FindFlag(flags, name);
    if (flag == nullptr) return InvalidArgument("unknown flag ", name);
    if (flag->value.empty() && has_value) {
      return InvalidArgument(name, " takes no value");
    }
    std::string value;
    if (has_value) {
      value = std::string(word.substr(equals + 1));
    } else if (!flag->implied.empty()) {
      value = std::string(flag->implied);
    } else if (!flag->value.empty()) {
      if (++i == words.size()) {
        return InvalidArgument(name, " needs a value: ", name, " ",
                               flag->value);
      }
      value = words[i];
    }
    line.flags_.emplace_back(flag->name, std::move(value));
  }
  return line;
}

std::string CommandLine::Get(absl::string_view flag) const {
  const auto values = All(flag);
  return values.empty() ? "" : values.back();
}

std::vector<std::string> CommandLine::All(absl::string_view flag) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : flags_) {
    if (name == flag) values.push_back(value);
  }
  return values;
}

}  // namespace hawser::cli
