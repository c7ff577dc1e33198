#include "server/service/execution/answers.h"

#include <utility>

#include "core/wire/codec.h"
#include "google/protobuf/arena.h"

namespace hawser::server {
namespace {

// The answer to a step with a few small results fits the first block.
struct ServerMessageMemory {
  ServerMessageMemory()
      : arena(block, sizeof(block)),
        message(
            google::protobuf::Arena::CreateMessage<v1::ServerMessage>(&arena)) {
  }
  alignas(8) char block[768];
  google::protobuf::Arena arena;
  v1::ServerMessage* message;
};

}  // namespace

std::shared_ptr<v1::ServerMessage> NewServerMessage() {
  auto memory = std::make_shared<ServerMessageMemory>();
  v1::ServerMessage* message = memory->message;
  return std::shared_ptr<v1::ServerMessage>(std::move(memory), message);
}

Reply ToReply(std::shared_ptr<const v1::ServerMessage> message) {
  Reply reply;
  reply.sequence = message->sequence();
  reply.bytes = static_cast<int64_t>(message->ByteSizeLong() +
                                     sizeof(ServerMessageMemory));
  reply.message = std::move(message);
  return reply;
}

void Answer(Session& session, const Ticket& ticket,
            std::shared_ptr<v1::ServerMessage> message) {
  message->set_sequence(ticket.sequence);
  session.Answer(ticket, ToReply(std::move(message)));
}

void Answer(Session& session, const Ticket& ticket,
            const absl::Status& status) {
  if (status.ok()) {
    return session.Answer(ticket, {ticket.sequence, sizeof(Reply), nullptr});
  }
  auto message = NewServerMessage();
  ToProto(status, message->mutable_status());
  Answer(session, ticket, std::move(message));
}

}  // namespace hawser::server
