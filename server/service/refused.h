// Refused: the reactor of a call that ends before it has begun.
#ifndef HAWSER_SERVER_SERVICE_REFUSED_H_
#define HAWSER_SERVER_SERVICE_REFUSED_H_

#include <grpcpp/support/server_callback.h>

#include "absl/status/status.h"
#include "proto/grpc_status.h"

namespace hawser::server {

// Of the kind `Reactor` that the method returns. Deletes itself in OnDone.
template <typename Reactor>
class Refused final : public Reactor {
 public:
  explicit Refused(const absl::Status& why) { this->Finish(ToGrpc(why)); }
  void OnDone() override { delete this; }
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_REFUSED_H_
