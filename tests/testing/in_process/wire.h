// Messages as bytes, as on a network.
#ifndef HAWSER_TESTS_TESTING_IN_PROCESS_WIRE_H_
#define HAWSER_TESTS_TESTING_IN_PROCESS_WIRE_H_

#include <string>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message.h"
#include "server/service/messages/message_cost.h"

namespace hawser {

inline std::string Encode(const google::protobuf::Message& message) {
  return message.SerializeAsString();
}

// As the server reads what comes in.
inline absl::Status Decode(const std::string& bytes,
                           google::protobuf::Message* message) {
  const int64_t size = static_cast<int64_t>(bytes.size());
  if (size > server::kCheapMessageBytes) {
    google::protobuf::io::CodedInputStream in(
        reinterpret_cast<const uint8_t*>(bytes.data()),
        static_cast<int>(size));
    HAWSER_RETURN_IF_ERROR(
        server::CheckMessageCost(*message->GetDescriptor(), size, &in));
  }
  if (message->ParseFromString(bytes)) return absl::OkStatus();
  return InvalidArgument("not a ", message->GetTypeName());
}

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_IN_PROCESS_WIRE_H_
