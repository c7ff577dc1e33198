// Attacks on the session stream itself: bytes, order, numbers, secrets.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/server/service/hostile/attacker.h"
#include "tests/testing/status_words.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;

constexpr uint64_t kLastSequence = std::numeric_limits<uint64_t>::max();

std::string Noise(size_t n) {
  std::string bytes(n, '\0');
  uint64_t state = 42;
  for (char& c : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return bytes;
}

v1::ClientMessage Ping(uint64_t sequence, uint64_t acknowledged = 0) {
  v1::ClientMessage message = PingMessage();
  message.set_sequence(sequence);
  message.set_acknowledged(acknowledged);
  return message;
}

v1::ClientMessage InsideOthers(int depth) {
  v1::ClientMessage message = Ping(1);
  for (int i = 0; i < depth; ++i) {
    v1::ClientMessage outer;
    message.Swap(outer.add_more());
    message.Swap(&outer);
  }
  return message;
}

// As bytes, since protobuf's own walk over so deep a message is a recursion.
std::string BytesInsideOthers(int depth) {
  std::string inner = Ping(1).SerializeAsString();
  std::vector<std::string> headers;
  size_t size = inner.size();
  for (int i = 0; i < depth; ++i) {
    std::string header(
        1, static_cast<char>(v1::ClientMessage::kMoreFieldNumber << 3 | 2));
    for (size_t rest = size; rest > 0; rest >>= 7) {
      header += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    size += header.size();
    headers.push_back(std::move(header));
  }
  std::reverse(headers.begin(), headers.end());
  return absl::StrCat(absl::StrJoin(headers, ""), inner);
}

// Expects the session to be lost as well.
absl::Status Reattach(Attacker& a, uint64_t id, const std::string& secret) {
  bool lost = false;
  const absl::Status status = a.Opens(OpenMessage(id, secret), &lost);
  return lost ? status : absl::InternalError("session_lost is not set");
}

}  // namespace

std::vector<HostileRow> HostileStreams() {
  return {
      {"FirstNoise",
       [](Attacker& a) { return a.EndsFirstBytes(Noise(100)); }, kInvalid,
       "not a hawser.v1.ClientMessage"},
      {"FirstMegabyteOfNoise",
       [](Attacker& a) { return a.EndsFirstBytes(Noise(1 << 20)); }, kInvalid,
       "not a hawser.v1.ClientMessage"},
      {"FirstNothing", [](Attacker& a) { return a.EndsFirstBytes(""); },
       kInvalid, "the first message must be OpenRequest"},
      {"FirstPing", [](Attacker& a) { return a.EndsFirst(Ping(1)); }, kInvalid,
       "the first message must be OpenRequest"},
      {"Noise", [](Attacker& a) { return a.EndsBytes(Noise(1000)); }, kInvalid,
       "not a hawser.v1.ClientMessage"},
      {"CutInTheMiddle",
       [](Attacker& a) {
         v1::ClientMessage m = ExecuteMessage(1, 20, {10, 11});
         m.set_sequence(6);
         const std::string bytes = m.SerializeAsString();
         return a.EndsBytes(
             absl::string_view(bytes).substr(0, bytes.size() - 1));
       },
       kInvalid, "not a hawser.v1.ClientMessage"},
      {"BatchInABatch", [](Attacker& a) { return a.Ends(InsideOthers(2)); },
       kInvalid, "request 0 of a message of several is no plain request"},
      {"BatchThatIsARequest",
       [](Attacker& a) {
         v1::ClientMessage m = Ping(6);
         *m.add_more() = Ping(7);
         return a.Ends(m);
       },
       kInvalid, "a message of several requests is itself none"},
      {"BatchThatOpens",
       [](Attacker& a) {
         v1::ClientMessage m;
         *m.add_more() = OpenMessage();
         return a.Ends(m);
       },
       kInvalid, "request 0 of a message of several is no plain request"},
      {"BatchWithAGap",
       [](Attacker& a) {
         v1::ClientMessage m;
         *m.add_more() = Ping(6);
         *m.add_more() = Ping(8);
         return a.Ends(m);
       },
       kInvalid, "sequence 8 came after 6; numbers leave no gap"},
      {"BatchOfTooMany",
       [](Attacker& a) {
         v1::ClientMessage m;
         for (uint64_t i = 0; i < 1025; ++i) *m.add_more() = Ping(6 + i);
         return a.Ends(m);
       },
       kInvalid, "1025 requests in one message, the most is 1024"},
      {"TwoHundredMessagesInMessages",
       [](Attacker& a) { return a.Ends(InsideOthers(200)); }, kInvalid,
       "not a hawser.v1.ClientMessage"},
      {"TwentyThousandMessagesInMessages",
       [](Attacker& a) { return a.EndsBytes(BytesInsideOthers(20000)); },
       kInvalid, "not a hawser.v1.ClientMessage"},
      {"MillionMessagesInOne",
       [](Attacker& a) {
         std::string bytes;
         for (int i = 0; i < 1000000; ++i) bytes += "\x52" + std::string(1, 0);
         return a.EndsBytes(bytes);
       },
       StatusCode::kResourceExhausted, "would take more than 33554432 bytes"},
      {"LargerThanAnyMessage",
       [](Attacker& a) { return a.EndsBytes(std::string(21 << 20, '\0')); },
       StatusCode::kResourceExhausted, "larger than max"},
      {"MillionsOfReleases",
       [](Attacker& a) {
         v1::ClientMessage m = Ping(6);
         for (int i = 0; i < 4000000; ++i) m.add_release(1);
         return a.Ends(m);
       },
       StatusCode::kResourceExhausted, "would take more than 33554432 bytes"},

      {"OpensTwice",
       [](Attacker& a) { return a.Ends(OpenMessage()); }, kInvalid,
       "is open already"},
      {"ReattachesInside",
       [](Attacker& a) {
         return a.Ends(OpenMessage(a.session().id(), a.session().secret()));
       },
       kInvalid, "is open already"},
      {"OpensDeviceOne",
       [](Attacker& a) {
         v1::ClientMessage m = OpenMessage();
         m.mutable_open()->set_device_ordinal(1);
         bool lost;
         return a.Opens(m, &lost);
       },
       kInvalid, "device ordinal 1; a server has device 0 alone"},
      {"ReattachesToNobody",
       [](Attacker& a) { return Reattach(a, 12345, "secret"); },
       StatusCode::kUnavailable, "session 12345 is not known on this server"},
      {"GuessesTheSecret",
       [](Attacker& a) {
         return Reattach(a, a.victim().session_id, std::string(32, 's'));
       },
       StatusCode::kUnavailable, "is not known on this server"},
      {"LeavesTheSecretOut",
       [](Attacker& a) { return Reattach(a, a.victim().session_id, ""); },
       StatusCode::kUnavailable, "is not known on this server"},
      {"SendsAMegabyteOfSecret",
       [](Attacker& a) {
         return Reattach(a, a.victim().session_id, std::string(1 << 20, 's'));
       },
       StatusCode::kUnavailable, "is not known on this server"},

      {"SequenceZero", [](Attacker& a) { return a.Ends(Ping(0)); }, kInvalid,
       "sequence 0 belongs to OpenRequest alone"},
      {"SequenceGap", [](Attacker& a) { return a.Ends(Ping(7)); }, kInvalid,
       "sequence 7 came after 5; numbers leave no gap"},
      {"SequenceAtTheEnd",
       [](Attacker& a) { return a.Ends(Ping(kLastSequence)); }, kInvalid,
       "sequence 18446744073709551615 came after 5"},
      {"AcknowledgesTheFuture",
       [](Attacker& a) { return a.Ends(Ping(6, kLastSequence)); }, kInvalid,
       "the answer to sequence 18446744073709551615 is acknowledged, but only "
       "5 requests have come"},
      {"AcknowledgesItself", [](Attacker& a) { return a.Ends(Ping(6, 6)); },
       kInvalid, "but only 5 requests have come"},
      {"AsksNothing", [](Attacker& a) { return a.Ask(v1::ClientMessage()); },
       kInvalid, "request 6 asks for nothing"},
      {"AsksWhatIsToCome",
       [](Attacker& a) {
         v1::ClientMessage m;
         m.GetReflection()->MutableUnknownFields(&m)->AddLengthDelimited(
             99, "from a later version");
         return a.Ask(m);
       },
       StatusCode::kUnimplemented, "request 6 is of no kind this server knows"},
      {"ReleasesWhatIsNot",
       [](Attacker& a) {
         v1::ClientMessage m = PingMessage();
         for (uint64_t h = 0; h < 10000; ++h) m.add_release(kLastSequence - h);
         return a.Ask(m);
       },
       StatusCode::kOk, ""},
  };
}

}  // namespace hawser::testing
