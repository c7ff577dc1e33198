#include "client/pjrt/objects/connect_devices.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/connect.h"
#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/base/process/version.h"
#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"

namespace hawser::pjrt {
namespace {

// The devices that are there, by their numbers.
struct Numbered {
  Mutex mu;
  int64_t last ABSL_GUARDED_BY(mu) = 0;
  std::map<int64_t, std::weak_ptr<const Devices>> all ABSL_GUARDED_BY(mu);
};
Numbered& numbered = *new Numbered();  // threads may outlive statics

void Number(const std::shared_ptr<Devices>& devices) {
  MutexLock lock(&numbered.mu);
  std::erase_if(numbered.all,
                [](const auto& one) { return one.second.expired(); });
  devices->number = ++numbered.last;
  numbered.all[devices->number] = devices;
}

NamedValue AttributeOf(const Devices& devices) {
  constexpr absl::string_view kName = "hawser_client";
  NamedValue value = {};
  value.header.struct_size = sizeof(NamedValue);
  value.name = kName.data();
  value.name_size = kName.size();
  value.type = 1;
  value.integer = devices.number;
  value.size = 1;
  return value;
}

// A server that says nothing for so long is not waited for when a program
// begins.
constexpr absl::Duration kPatience = absl::Milliseconds(1500);

std::unique_ptr<Device> MakeDevice(int id,
                                   std::shared_ptr<runtime::Client> runtime) {
  auto device = std::make_unique<Device>();
  const std::string name = runtime->name();
  const auto capabilities = runtime->capabilities();
  device->description.id = id;
  device->description.kind =
      capabilities.ok() ? capabilities->device : std::string("unreachable");
  if (capabilities.ok()) device->memory_bytes = capabilities->memory_bytes;
  device->description.text =
      absl::StrCat("HawserDevice(id=", id, ", ", name, ")");
  device->memory.device = device.get();
  device->memory.text = absl::StrCat("HawserMemory(id=", id, ", ", name, ")");
  device->memories = {&device->memory};
  device->runtime = std::move(runtime);
  return device;
}

// Connects all at once.
absl::StatusOr<std::vector<std::unique_ptr<Device>>> ConnectAll(
    const std::vector<std::string>& servers) {
  std::vector<std::unique_ptr<Device>> devices(servers.size());
  const auto connect = [&](int i) -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(const auto client,
                            Connect({.servers = {servers[i]},
                                     .patience = kPatience,
                                     .client_name = "pjrt"}));
    devices[i] = MakeDevice(i, client.runtime());
    return absl::OkStatus();
  };
  HAWSER_RETURN_IF_ERROR(OnThreads(static_cast<int>(servers.size()), connect));
  return devices;
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
  HAWSER_ASSIGN_OR_RETURN(devices->all, ConnectAll(servers));
  if (servers.empty()) {
    HAWSER_LOG(kInfo) << "no HAWSER_SERVERS: this machine computes";
    devices->all.push_back(MakeDevice(0, hawser::Client::Cpu().runtime()));
  }
  Number(devices);
  for (const auto& device : devices->all) {
    device->description.client = AttributeOf(*devices);
    devices->list.push_back(device.get());
    devices->memories.push_back(&device->memory);
    devices->descriptions.push_back(&device->description);
  }
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

DevicesPtr DevicesOfNumber(int64_t number) {
  MutexLock lock(&numbered.mu);
  const auto found = numbered.all.find(number);
  return found == numbered.all.end() ? nullptr : found->second.lock();
}

}  // namespace hawser::pjrt
