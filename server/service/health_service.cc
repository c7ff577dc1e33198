#include "server/service/health_service.h"

#include <memory>

#include "core/base/status.h"
#include "proto/health.grpc.pb.h"
#include "server/service/messages/frames.h"
#include "server/service/messages/unary.h"

namespace hawser::server {
namespace {

namespace health = grpc::health::v1;
using health::HealthCheckRequest;
using health::HealthCheckResponse;
using ServingStatus = HealthCheckResponse::ServingStatus;

ServingStatus StatusOf(bool serving) {
  return serving ? HealthCheckResponse::SERVING
                 : HealthCheckResponse::NOT_SERVING;
}

}  // namespace

// Tells the status when asked and when it changes.
class HealthService::Watch final : public Reactor {
 public:
  Watch(Rpc* rpc, HealthService* service) : Reactor(rpc), service_(service) {
    rpc->Read(&buffer_);
  }

  void OnRead(bool ok) override {
    HealthCheckRequest request;
    const absl::Status parsed = ok ? ParseBuffer(buffer_, &request)
                                   : InvalidArgument("no request came");
    if (!parsed.ok()) return Finish(parsed);
    known_ = service_->Knows(request.service());
    service_->Begin(this);
  }
  void OnWritten(bool ok) override {
    MutexLock lock(&mu_);
    writing_ = false;
    if (ok) WriteLocked();
  }
  void OnCancel() override { Finish(Cancelled("the client is gone")); }
  void OnDone() override { service_->End(this); }

  void Tell(bool serving) {
    MutexLock lock(&mu_);
    wanted_ = known_ ? StatusOf(serving) : HealthCheckResponse::SERVICE_UNKNOWN;
    if (!writing_) WriteLocked();
  }

 private:
  void WriteLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (finished_ || wanted_ == told_) return;
    told_ = wanted_;
    writing_ = true;
    HealthCheckResponse response;
    response.set_status(told_);
    FillBuffer(response, &buffer_);
    rpc().Write(buffer_);
  }
  void Finish(const absl::Status& why) {
    MutexLock lock(&mu_);
    if (finished_) return;
    finished_ = true;
    rpc().Finish(why);
  }

  HealthService* const service_;
  bool known_ = false;
  grpc::ByteBuffer buffer_;  // the request, then what is written
  Mutex mu_;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  ServingStatus wanted_ ABSL_GUARDED_BY(mu_) = HealthCheckResponse::UNKNOWN;
  ServingStatus told_ ABSL_GUARDED_BY(mu_) = HealthCheckResponse::UNKNOWN;
};

void HealthService::AddMethods(RpcServer* server) {
  const char* const name = health::Health::service_full_name();
  server->AddOpen(name, "Watch", [this](Rpc* rpc) {
    return std::make_unique<Watch>(rpc, this);
  });
  server->AddOpen(name, "Check", [this](Rpc* rpc) {
    using Check = Unary<HealthCheckRequest, HealthCheckResponse>;
    return std::make_unique<Check>(
        rpc, [this](HealthCheckRequest* request, const CancelToken&,
                    const Check::Done& done) {
          if (!Knows(request->service())) {
            return done(NotFound("no service ", request->service()));
          }
          HealthCheckResponse response;
          MutexLock lock(&mu_);
          response.set_status(StatusOf(serving_));
          done(response);
        });
  });
  for (const std::string& service : server->services()) {
    services_.insert(service);
  }
  services_.insert("");
}

bool HealthService::Knows(const std::string& service) const {
  return services_.count(service) > 0;
}

void HealthService::Begin(Watch* watch) {
  MutexLock lock(&mu_);
  watches_.insert(watch);
  watch->Tell(serving_);
}

void HealthService::End(Watch* watch) {
  MutexLock lock(&mu_);
  watches_.erase(watch);
}

void HealthService::SetServing(bool serving) {
  MutexLock lock(&mu_);
  serving_ = serving;
  for (Watch* watch : watches_) watch->Tell(serving);
}

}  // namespace hawser::server
