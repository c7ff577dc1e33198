// Estimates the memory of a message before it is parsed.
#ifndef HAWSER_SERVER_SERVICE_MESSAGES_MESSAGE_COST_H_
#define HAWSER_SERVER_SERVICE_MESSAGES_MESSAGE_COST_H_

#include <cstdint>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"

namespace hawser::server {

// Messages up to this size are parsed without a look: a hundred times as much
// is still little.
inline constexpr int64_t kCheapMessageBytes = 64 << 10;
// The most that one message may take: the largest bulk and its frame. Two bytes
// of wire can ask for an object of a hundred.
inline constexpr int64_t kMessageMemory = int64_t{32} << 20;

// Walks the fields of a serialized `type` up to the end of `in`; allocates
// nothing of their size and does not recurse. Bytes that it lets through need
// not parse. Errors: kResourceExhausted, kInvalidArgument for bytes that break
// off or are nested deeper than any message of hawser.
absl::Status CheckMessageCost(const google::protobuf::Descriptor& type,
                              int64_t bytes,
                              google::protobuf::io::CodedInputStream* in);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_MESSAGES_MESSAGE_COST_H_
