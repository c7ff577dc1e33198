// Changes to any protobuf message, spelled by a fuzzer's bytes: rules behind
// the parser are reached, which arbitrary bytes hardly ever are.
#ifndef HAWSER_TESTS_FUZZ_INPUTS_MESSAGE_EDITS_H_
#define HAWSER_TESTS_FUZZ_INPUTS_MESSAGE_EDITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "google/protobuf/message.h"

namespace hawser {

// Every string in `message` and below, for edits to draw from: names of ops,
// shapes, attributes.
std::vector<std::string> WordsOf(const google::protobuf::Message& message);

// Applies as many edits as `bytes` spell, six for each: which message of the
// tree (two), which field, what to do (set, clear, remove, repeat, swap), at
// which place, with which value.
void EditMessage(absl::Span<const uint8_t> bytes,
                 absl::Span<const std::string> words,
                 google::protobuf::Message* message);

}  // namespace hawser
#endif  // HAWSER_TESTS_FUZZ_INPUTS_MESSAGE_EDITS_H_
