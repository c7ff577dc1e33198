// Conversation: what a client and a server have said to each other, as a file.
#ifndef HAWSER_TESTS_WIRE_CONVERSATION_H_
#define HAWSER_TESTS_WIRE_CONVERSATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hawser {

// What stands for a method where a request went over the session stream.
inline constexpr char kOnSession[] = "session";
// The stateless call.
inline constexpr char kCallMethod[] = "Call";

// A request and its answer, serialized. On the session stream: a ClientMessage
// without `more`, and the ServerMessage of its sequence, without `more` and
// `done`.
struct Exchange {
  std::string method;  // kOnSession, kCallMethod, or one of service Datasets
  std::string request;
  std::string reply;
};
// In the order in which the client asked, one after the other.
using Conversation = std::vector<Exchange>;

// A line for each exchange: method, request and reply in hexadecimal.
std::string ToText(const Conversation& conversation);
// Errors: kInvalidArgument naming the line.
absl::StatusOr<Conversation> ConversationOf(absl::string_view text);

}  // namespace hawser
#endif  // HAWSER_TESTS_WIRE_CONVERSATION_H_
