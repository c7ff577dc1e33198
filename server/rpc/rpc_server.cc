#include "server/rpc/rpc_server.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// A call that ends before it has begun.
class Refused final : public Reactor {
 public:
  Refused(Rpc* rpc, const absl::Status& why) : Reactor(rpc) {
    rpc->Finish(why);
  }
};

std::string PathOf(absl::string_view service, absl::string_view method) {
  return absl::StrCat("/", service, "/", method);
}

}  // namespace

RpcServer::RpcServer(const Access* access, ConnectionGuard* guard, int queues)
    : access_(access), guard_(guard), num_queues_(std::max(queues, 1)) {}

RpcServer::~RpcServer() { Join(); }

void RpcServer::Add(absl::string_view service, absl::string_view method,
                    Start start) {
  methods_[PathOf(service, method)] = std::move(start);
}

void RpcServer::AddOpen(
    absl::string_view service, absl::string_view method,
    std::function<std::unique_ptr<Reactor>(Rpc* rpc)> start) {
  open_methods_[PathOf(service, method)] = std::move(start);
}

std::vector<std::string> RpcServer::services() const {
  std::set<std::string> names;
  const auto add = [&](const std::string& path) {
    names.insert(path.substr(1, path.rfind('/') - 1));
  };
  for (const auto& [path, start] : methods_) add(path);
  for (const auto& [path, start] : open_methods_) add(path);
  return {names.begin(), names.end()};
}

void RpcServer::Register(grpc::ServerBuilder* builder) {
  builder->RegisterAsyncGenericService(&service_);
  for (int i = 0; i < num_queues_; ++i) {
    queues_.push_back(
        std::make_unique<ServedQueue>(builder->AddCompletionQueue(), [this] {
          if (guard_ != nullptr) guard_->Blame();
        }));
  }
}

void RpcServer::Run() {
  {
    MutexLock lock(&mu_);
    accepting_ = true;
  }
  for (const auto& queue : queues_) {
    OnAccepted(queue->queue());
    queue->Start();
  }
}

void RpcServer::OnAccepted(grpc::ServerCompletionQueue* queue) {
  MutexLock lock(&mu_);
  if (!accepting_) return;
  ++calls_;
  Rpc::Accept(&service_, queue, this);
}

void RpcServer::OnOver() {
  MutexLock lock(&mu_);
  if (--calls_ == 0) over_.SignalAll();
}

void RpcServer::StopAccepting() {
  MutexLock lock(&mu_);
  accepting_ = false;
}

void RpcServer::Join() {
  StopAccepting();
  {
    // The server's shutdown ends with the connections, not with their calls,
    // and gRPC aborts where a call goes on upon a queue that is shut down.
    MutexLock lock(&mu_);
    over_.Wait(&mu_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return calls_ == 0;
    });
  }
  queues_.clear();
}

absl::Status RpcServer::Enter(Rpc* rpc, absl::string_view tenant) {
  if (guard_ == nullptr) return absl::OkStatus();
  auto connection = guard_->Find(rpc->context().peer());
  if (connection == nullptr) return absl::OkStatus();
  HAWSER_RETURN_IF_ERROR(guard_->Authorise(*connection, tenant));
  rpc->held().connection = std::move(connection);
  return absl::OkStatus();
}

std::unique_ptr<Reactor> RpcServer::Dispatch(const std::string& method,
                                             Rpc* rpc) {
  if (auto it = methods_.find(method); it != methods_.end()) {
    auto tenant = access_->TenantOf(rpc->context());
    if (!tenant.ok()) return std::make_unique<Refused>(rpc, tenant.status());
    const absl::Status entered = Enter(rpc, *tenant);
    if (!entered.ok()) return std::make_unique<Refused>(rpc, entered);
    return it->second(rpc, *std::move(tenant));
  }
  if (auto it = open_methods_.find(method); it != open_methods_.end()) {
    if (open_calls_.use_count() > kMostOpenCalls) {
      return std::make_unique<Refused>(
          rpc, ResourceExhausted("this server answers ", kMostOpenCalls,
                                 " health and reflection calls at a time; try "
                                 "again when some have ended"));
    }
    rpc->held().slot = open_calls_;
    // If clients show no credentials, none is a stranger.
    if (auto tenant = access_->TenantOf(rpc->context()); tenant.ok()) {
      const absl::Status entered = Enter(rpc, *tenant);
      if (!entered.ok()) return std::make_unique<Refused>(rpc, entered);
    }
    return it->second(rpc);
  }
  return std::make_unique<Refused>(
      rpc, Unimplemented("this server has no method ", method));
}

}  // namespace hawser::server
