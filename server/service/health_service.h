// gRPC's own health service, per service and overall. gRPC's
// DefaultHealthCheckService would say the same, but it is a callback service,
// which brings threads (server/rpc/README.md), and its calls pass neither the
// limit of open calls nor ConnectionGuard.
#ifndef HAWSER_SERVER_SERVICE_HEALTH_SERVICE_H_
#define HAWSER_SERVER_SERVICE_HEALTH_SERVICE_H_

#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"
#include "server/rpc/rpc_server.h"

namespace hawser::server {

// Thread-safe. Outlives the RpcServer it is added to.
class HealthService {
 public:
  // Adds its methods. All services added before are healthy, and so is
  // this one.
  void AddMethods(RpcServer* server);
  // Says if all of them are healthy from now on; clients that watch are told.
  // May be called again.
  void SetServing(bool serving);

 private:
  class Watch;
  bool Knows(const std::string& service) const;
  void Begin(Watch* watch);
  void End(Watch* watch);

  std::set<std::string> services_;  // "": the server as a whole
  Mutex mu_;
  bool serving_ ABSL_GUARDED_BY(mu_) = true;
  std::set<Watch*> watches_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_HEALTH_SERVICE_H_
