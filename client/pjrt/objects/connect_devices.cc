#include "client/pjrt/objects/connect_devices.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/connect.h"
#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/base/process/version.h"
#include "core/base/status.h"

namespace hawser::pjrt {
namespace {

struct Latest {
  Mutex mu;
  std::weak_ptr<const Devices> devices ABSL_GUARDED_BY(mu);
};
Latest& latest = *new Latest();  // threads may outlive statics

std::unique_ptr<Device> MakeDevice(int id,
                                   std::shared_ptr<runtime::Client> runtime) {
  auto device = std::make_unique<Device>();
  const std::string name = runtime->name();
  const auto capabilities = runtime->capabilities();
  device->description.id = id;
  device->description.kind =
      capabilities.ok() ? capabilities->device : std::string("unreachable");
  device->description.text =
      absl::StrCat("HawserDevice(id=", id, ", ", name, ")");
  device->memory.device = device.get();
  device->memory.text = absl::StrCat("HawserMemory(id=", id, ", ", name, ")");
  device->memories = {&device->memory};
  device->runtime = std::move(runtime);
  return device;
}

}  // namespace

std::vector<std::string> ServersOfEnvironment() {
  const char* servers = std::getenv("HAWSER_SERVERS");
  return absl::StrSplit(servers == nullptr ? "" : servers, ',',
                        absl::SkipWhitespace());
}

absl::StatusOr<DevicesPtr> ConnectDevices(
    const std::vector<std::string>& servers) {
  auto devices = std::make_shared<Devices>();
  devices->version = std::string(kVersion);
  devices->servers = servers;
  for (const std::string& server : servers) {
    HAWSER_ASSIGN_OR_RETURN(
        const auto client,
        Connect({.servers = {server}, .client_name = "pjrt"}));
    devices->all.push_back(
        MakeDevice(static_cast<int>(devices->all.size()), client.runtime()));
  }
  if (servers.empty()) {
    HAWSER_LOG(kInfo) << "no HAWSER_SERVERS: this machine computes";
    devices->all.push_back(MakeDevice(0, hawser::Client::Cpu().runtime()));
  }
  for (const auto& device : devices->all) {
    devices->list.push_back(device.get());
    devices->memories.push_back(&device->memory);
    devices->descriptions.push_back(&device->description);
  }
  MutexLock lock(&latest.mu);
  latest.devices = devices;
  return DevicesPtr(std::move(devices));
}

absl::StatusOr<std::shared_ptr<runtime::Client>> Devices::AllDevices() const {
  MutexLock lock(&mu_);
  if (all_devices_ == nullptr) {
    HAWSER_ASSIGN_OR_RETURN(
        const auto client,
        Sharded({.servers = servers, .client_name = "pjrt"}));
    all_devices_ = client.runtime();
  }
  return all_devices_;
}

DevicesPtr LatestDevices() {
  MutexLock lock(&latest.mu);
  return latest.devices.lock();
}

}  // namespace hawser::pjrt
