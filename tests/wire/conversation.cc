#include "tests/wire/conversation.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status.h"

namespace hawser {

std::string ToText(const Conversation& conversation) {
  std::string text;
  for (const Exchange& exchange : conversation) {
    absl::StrAppend(&text, exchange.method, " ",
                    absl::BytesToHexString(exchange.request), " ",
                    absl::BytesToHexString(exchange.reply), "\n");
  }
  return text;
}

absl::StatusOr<Conversation> ConversationOf(absl::string_view text) {
  Conversation conversation;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() != 3) {
      return InvalidArgument("line ", conversation.size() + 1, " has ",
                             words.size(), " words, not 3");
    }
    conversation.push_back({words[0], absl::HexStringToBytes(words[1]),
                            absl::HexStringToBytes(words[2])});
  }
  return conversation;
}

}  // namespace hawser
