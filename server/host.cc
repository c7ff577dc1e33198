#include "server/host.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/threads/cpu_threads.h"
#include "server/idle_memory.h"
#include "server/listener.h"
#include "server/memory_limit.h"
#include "server/rpc/rpc_server.h"
#include "server/service/datasets_handler.h"
#include "server/service/datasets_service.h"
#include "server/service/executor_service.h"
#include "server/service/health_service.h"
#include "server/service/reflection_service.h"
#include "server/sweeper.h"

namespace hawser::server {
namespace {

// A module of 16 MiB and what stands around it.
constexpr int kMaxMessageBytes = 20 << 20;
// The time in which answers that are ready at a stop are sent.
constexpr absl::Duration kLastWords = absl::Milliseconds(200);

// The time from a connection's first byte to a finished TLS and HTTP/2
// handshake.
constexpr int kHandshakeMs = 10000;

// A thread that serves connections carries some GB/s or 50,000 small steps a
// second; a second thread costs each step 10 us, since they wake each other.
// The other cores compute.
int RpcThreads(int wanted) {
  if (wanted > 0) return wanted;
  const int cores = CpuThreads();
  return std::clamp(cores / 8, 1, 4);
}

constexpr int kReadBytes = 512 << 10;
// The streams of one connection: sessions, transfers and calls under way.
constexpr int kMostStreams = 1000;

using grpc::experimental::ExternalConnectionAcceptor;

class GrpcHost final : public Host {
 public:
  GrpcHost(HostOptions options, std::unique_ptr<Access> access,
           std::unique_ptr<Listener> listener,
           std::unique_ptr<DatasetStore> datasets,
           std::unique_ptr<Executor> executor,
           std::unique_ptr<ConnectionGuard> guard)
      : options_(std::move(options)),
        access_(std::move(access)),
        guard_(std::move(guard)),
        datasets_(std::move(datasets)),
        executor_(std::move(executor)),
        datasets_handler_(datasets_.get(), &executor_->workers,
                          &executor_->calls),
        rpcs_(access_.get(), guard_.get(), RpcThreads(options_.rpc_threads)),
        listener_(std::move(listener)),
        idle_memory_(options_.let_go) {
    datasets_->OnEvicted([this] { executor_->arrays.Sweep(); });
    AddExecutorMethods(executor_.get(), &rpcs_);
    AddDatasetsMethods(&datasets_handler_, &executor_->workers, &rpcs_);
    health_.AddMethods(&rpcs_);
    AddReflectionMethods(&rpcs_);
  }
  ~GrpcHost() override { Stop(); }

  absl::Status Serve();
  void Reload() override { access_->Refresh(); }
  void Stop() override;
  const std::string& address() const override { return listener_->address(); }
  Executor& executor() override { return *executor_; }
  DatasetStore& datasets() override { return *datasets_; }
  const MemoryAccount* account() const override {
    return options_.account.get();
  }

 private:
  void SetLimits(grpc::ServerBuilder& builder);
  void StartAccepting();
  void Sweep();

  const HostOptions options_;
  const std::unique_ptr<Access> access_;
  const std::unique_ptr<ConnectionGuard> guard_;
  const std::unique_ptr<DatasetStore> datasets_;
  const std::unique_ptr<Executor> executor_;
  DatasetsHandler datasets_handler_;
  HealthService health_;
  RpcServer rpcs_;
  const std::unique_ptr<Listener> listener_;
  IdleMemory idle_memory_;  // of the sweeper
  std::unique_ptr<ExternalConnectionAcceptor> handshakes_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  Sweeper sweeper_;
};

void GrpcHost::SetLimits(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             kHandshakeMs);
  // Finds clients that have gone silently, also between calls, and answers
  // theirs.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreams);
  // gRPC parses all that it has read at a time, whatever ConnectionGuard does:
  // the default of 4 MiB may hold headers that take 60 MiB.
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadBytes);
  // gRPC inflates a message before it looks at its size. No client of ours
  // compresses: calls that announce it are refused before anything is read.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
}

absl::Status GrpcHost::Serve() {
  // Ours takes its place. A process-wide switch, harmless to repeat.
  grpc::EnableDefaultHealthCheckService(false);
  grpc::ServerBuilder builder;
  SetLimits(builder);
  rpcs_.Register(&builder);
  handshakes_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      access_->Credentials());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return Internal("gRPC did not start");
  rpcs_.Run();
  AcceptorOptions accepting = options_.acceptor;
  accepting.not_before = [this](int fd) { return guard_->NotBefore(fd); };
  HAWSER_ASSIGN_OR_RETURN(
      acceptor_, Acceptor::Create(listener_->fd(), std::move(accepting)));
  StartAccepting();
  sweeper_.Start([this] { Sweep(); });
  return absl::OkStatus();
}

void GrpcHost::StartAccepting() {
  acceptor_->Start([this](int fd) {
    ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listener_->fd();
    connection.fd = fd;
    guard_->Add(fd);
    handshakes_->HandleNewConnection(&connection);
  });
}

void GrpcHost::Sweep() {
  executor_->Sweep();
  datasets_->Sweep();
  access_->Refresh();
  idle_memory_.Look();
  health_.SetServing(!absl::IsUnavailable(executor_->device->Ping({})) &&
                     !executor_->stuck());
}

void GrpcHost::Stop() {
  const absl::Time deadline = SteadyNow() + options_.grace;
  if (!sweeper_.Stop()) return;
  if (acceptor_ != nullptr) acceptor_->Stop();
  listener_->Refuse();
  health_.SetServing(false);
  executor_->Shutdown();
  // Before the server: it answers the calls that wait for the disk.
  datasets_->Stop(deadline);
  if (server_ == nullptr) return;
  rpcs_.StopAccepting();
  server_->Shutdown(ToWallChrono(
      std::max(deadline - options_.grace / 2, SteadyNow() + kLastWords)));
  server_->Wait();
  rpcs_.Join();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Host>> Host::Start(
    std::shared_ptr<runtime::Client> device, HostOptions options) {
  HAWSER_ASSIGN_OR_RETURN(auto access, Access::Open(options.access));
  HAWSER_ASSIGN_OR_RETURN(
      auto listener,
      Listener::Bind(options.listen, options.insecure || access->mutual_tls()));
  if (!listener->local() && access->wants_tokens() && !access->tls()) {
    HAWSER_LOG(kWarning) << listener->address() << " takes tokens in "
                         << "plaintext: they can be read on the way";
  }
  options.executor.several_tenants =
      access->wants_tokens() || access->mutual_tls();
  options.executor.memory = options.account;
  options.datasets.memory = options.account;
  ConnectionLimits& connections = options.connections;
  connections.resident_bytes = MemoryToCloseAt(options.memory);
  if (options.executor.several_tenants) {
    connections.of_tenant = std::max(options.acceptor.max_connections / 4, 1);
  }
  DatasetStoreOptions& store = options.datasets;
  if (options.account != nullptr) {
    connections.uncharged_bytes = options.memory / 4;
    connections.charged = [account = options.account] {
      return account->held();
    };
    connections.held = [account = options.account](absl::string_view tenant) {
      return account->Tenant(tenant)->held();
    };
    // Values need room beside them.
    store.memory_bytes =
        std::min(store.memory_bytes, options.account->limit() / 2);
  }
  if (options.executor.several_tenants && store.data_dir.empty() &&
      store.tenant_bytes == 0) {
    // All that a tenant puts stays in memory, and must leave room for others.
    store.tenant_bytes = store.memory_bytes / 4 * 3;
  }
  auto guard = std::make_unique<ConnectionGuard>(connections);
  HAWSER_ASSIGN_OR_RETURN(auto datasets, DatasetStore::Open(options.datasets));
  // Arrays that the device keeps though nothing uses them leave room for new
  // ones.
  int64_t& kept = options.executor.device_arrays_bytes;
  kept = std::min(kept, options.datasets.memory_bytes / 2);
  HAWSER_ASSIGN_OR_RETURN(
      auto executor,
      Executor::Create(std::move(device), datasets.get(), options.executor));
  auto host = std::make_unique<GrpcHost>(
      std::move(options), std::move(access), std::move(listener),
      std::move(datasets), std::move(executor), std::move(guard));
  HAWSER_RETURN_IF_ERROR(host->Serve());
  return host;
}

}  // namespace hawser::server
