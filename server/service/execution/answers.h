// Answers the requests of a session.
#ifndef HAWSER_SERVER_SERVICE_EXECUTION_ANSWERS_H_
#define HAWSER_SERVER_SERVICE_EXECUTION_ANSWERS_H_

#include <memory>

#include "absl/status/status.h"
#include "proto/executor.pb.h"
#include "server/session/session.h"

namespace hawser::server {

// A message with the memory of its parts: one allocation for a small one.
std::shared_ptr<v1::ServerMessage> NewServerMessage();

Reply ToReply(std::shared_ptr<const v1::ServerMessage> message);

// The answer to `ticket`; its sequence is filled in.
void Answer(Session& session, const Ticket& ticket,
            std::shared_ptr<v1::ServerMessage> message);
void Answer(Session& session, const Ticket& ticket, const absl::Status& status);

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTION_ANSWERS_H_
