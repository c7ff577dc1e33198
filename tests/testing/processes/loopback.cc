#include "tests/testing/processes/loopback.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "client/remote/grpc/grpc_transport.h"
#include "core/base/status.h"

namespace hawser {
namespace {

namespace fs = std::filesystem;

// Sockets of this process whose own end is at `port`: the listening one and
// those it accepted.
std::vector<int> SocketsAt(int port) {
  std::vector<int> found;
  for (const fs::directory_entry& entry :
       fs::directory_iterator("/proc/self/fd")) {
    int fd = -1;
    sockaddr_in own{};
    socklen_t size = sizeof(own);
    if (absl::SimpleAtoi(entry.path().filename().string(), &fd) &&
        getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
        own.sin_family == AF_INET && ntohs(own.sin_port) == port) {
      found.push_back(fd);
    }
  }
  return found;
}

int PortOf(absl::string_view address) {
  int port = 0;
  HAWSER_CHECK(
      absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  return port;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoopbackServer>> LoopbackServer::Start(
    LoopbackOptions options) {
  std::unique_ptr<LoopbackServer> server(
      new LoopbackServer(std::move(options)));
  HAWSER_RETURN_IF_ERROR(server->Restart());
  return server;
}

LoopbackServer::LoopbackServer(LoopbackOptions options)
    : options_(std::move(options)) {
  if (!options_.data_dir) return;
  folder_.emplace();
  options_.datasets.data_dir = folder_->path();
}

LoopbackServer::~LoopbackServer() { Stop(); }

std::shared_ptr<runtime::Client> LoopbackServer::Connect(
    RemoteOptions options) const {
  const Credentials& own = options.credentials;
  if (own.ca_file.empty() && !own.has_token()) {
    options.credentials = options_.credentials;
  }
  auto client = ConnectRemote(address_, std::move(options));
  HAWSER_CHECK(client.ok());
  return *std::move(client);
}

void LoopbackServer::Kill() {
  if (!alive()) return;
  for (const int fd : SocketsAt(PortOf(address_))) shutdown(fd, SHUT_RDWR);
  Stop();
}

void LoopbackServer::Stop() {
  host_.reset();
  device_.reset();
}

absl::Status LoopbackServer::Restart() {
  Stop();
  device_ = cpu::MakeCpuClient(options_.device);
  HAWSER_ASSIGN_OR_RETURN(
      host_, server::Host::Start(device_, {.listen = address_,
                                           .access = options_.access,
                                           .executor = options_.executor,
                                           .datasets = options_.datasets}));
  address_ = host_->address();
  return absl::OkStatus();
}

int64_t LoopbackServer::sessions() { return host_->executor().sessions.size(); }

}  // namespace hawser
