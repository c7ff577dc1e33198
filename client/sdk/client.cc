#include "client/sdk/client.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/sdk/dataset.h"
#include "client/sdk/graph/client_state.h"
#include "client/sdk/graph/evaluate.h"
#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/cpu/cpu_client.h"

namespace hawser {
namespace {

struct ProcessDefault {
  Mutex mu;
  std::function<Client()> factory ABSL_GUARDED_BY(mu);
  Client client ABSL_GUARDED_BY(mu);
};
ProcessDefault& TheDefault() {
  static auto& instance = *new ProcessDefault;
  return instance;
}

Client& ThreadDefault() {
  thread_local Client client;
  return client;
}

// The client HAWSER_CLIENT names; none where that is not set or not to be had.
Client FromEnvironment() {
  const char* name = std::getenv("HAWSER_CLIENT");
  if (name == nullptr || *name == '\0') return Client();
  auto client = Client::Named(name);
  if (client.ok()) return *std::move(client);
  HAWSER_LOG(kWarning) << "HAWSER_CLIENT=" << name << ": " << client.status();
  return Client();
}

absl::Status NoClient() {
  return FailedPrecondition("this hawser::Client has no client in it");
}

}  // namespace

Client::Client(std::shared_ptr<runtime::Client> client) {
  if (client == nullptr) return;
  state_ = std::make_shared<sdk::ClientState>();
  state_->client = std::move(client);
}

Client Client::Cpu() {
  static const Client& cpu = *new Client(cpu::MakeCpuClient());
  return cpu;
}

Client Client::Default() {
  if (ThreadDefault().valid()) return ThreadDefault();
  ProcessDefault& process = TheDefault();
  MutexLock lock(&process.mu);
  if (!process.client.valid()) process.client = FromEnvironment();
  if (!process.client.valid() && process.factory != nullptr) {
    process.client = process.factory();
  }
  if (!process.client.valid()) process.client = Cpu();
  return process.client;
}

void SetDefaultClientFactory(std::function<Client()> factory) {
  ProcessDefault& process = TheDefault();
  MutexLock lock(&process.mu);
  process.factory = std::move(factory);
  process.client = Client();
}

ScopedClient::ScopedClient(Client client)
    : previous_(std::exchange(ThreadDefault(), std::move(client))) {}

ScopedClient::~ScopedClient() { ThreadDefault() = std::move(previous_); }

runtime::Client* Client::runtime() const {
  return state_ == nullptr ? nullptr : state_->client.get();
}

std::shared_ptr<runtime::Client> Client::shared() const {
  return state_ == nullptr ? nullptr : state_->client;
}

std::string Client::name() const {
  return valid() ? runtime()->name() : "none";
}

absl::StatusOr<runtime::Capabilities> Client::capabilities() const {
  if (!valid()) return NoClient();
  return runtime()->capabilities();
}

absl::StatusOr<hawser::Dataset> Client::Put(
    std::vector<DatasetSource::Array> arrays, const CallOptions& call) const {
  if (!valid()) return NoClient();
  DatasetSource source{std::move(arrays)};
  HAWSER_RETURN_IF_ERROR(NormalizeSource(&source));
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info,
                          runtime()->PutDataset(source, call.FromNow()));
  return hawser::Dataset(*this, std::move(info));
}

absl::StatusOr<hawser::Dataset> Client::Dataset(
    absl::string_view token, const CallOptions& call) const {
  if (!valid()) return NoClient();
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info,
                          runtime()->StatDataset(token, call.FromNow()));
  return hawser::Dataset(*this, std::move(info));
}

absl::StatusOr<hawser::Dataset> Client::Freeze(
    std::vector<NamedTensor> arrays, const CallOptions& call) const {
  if (!valid()) return NoClient();
  const sdk::Execution execution{.client = *this, .call = call.FromNow()};
  std::vector<Tensor> tensors;
  for (const NamedTensor& array : arrays) {
    const absl::Status status = array.value.status();
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("array \"", array.name, "\""));
    }
    tensors.push_back(array.value);
  }
  HAWSER_RETURN_IF_ERROR(sdk::Evaluate(tensors, execution));
  std::vector<runtime::NamedArgument> values;
  for (NamedTensor& array : arrays) {
    auto value = sdk::ToArgument(array.value, *this, execution.call);
    if (!value.ok()) {
      return Annotate(value.status(),
                      absl::StrCat("array \"", array.name, "\""));
    }
    values.push_back({std::move(array.name), *std::move(value)});
  }
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info,
                          runtime()->FreezeDataset(values, execution.call));
  return hawser::Dataset(*this, std::move(info));
}

absl::StatusOr<std::vector<DatasetInfo>> Client::List(
    absl::string_view prefix, const CallOptions& call) const {
  if (!valid()) return NoClient();
  const runtime::CallOptions limits = call.FromNow();
  std::vector<DatasetInfo> all;
  DatasetQuery query{.prefix = std::string(prefix)};
  for (bool more = true; more;) {
    HAWSER_ASSIGN_OR_RETURN(DatasetPage page,
                            runtime()->ListDatasets(query, limits));
    for (DatasetInfo& info : page.datasets) {
      query.after = info.token;
      all.push_back(std::move(info));
    }
    more = page.more;
  }
  return all;
}

absl::Status Client::Delete(absl::string_view token,
                            const CallOptions& call) const {
  if (!valid()) return NoClient();
  const runtime::CallOptions limits = call.FromNow();
  if (!IsTag(token)) return runtime()->DeleteDataset(token, limits);
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                          runtime()->StatDataset(token, limits));
  return runtime()->DeleteDataset(info.token, limits);
}

absl::StatusOr<DatasetInfo> Client::Pin(absl::string_view token,
                                        absl::Duration ttl,
                                        const CallOptions& call) const {
  if (!valid()) return NoClient();
  return runtime()->PinDataset(token, ttl, call.FromNow());
}

absl::Status Client::Tag(const DatasetTag& tag, const CallOptions& call) const {
  if (!valid()) return NoClient();
  return runtime()->TagDataset(tag, call.FromNow());
}

absl::StatusOr<DatasetUsage> Client::Usage(const CallOptions& call) const {
  if (!valid()) return NoClient();
  return runtime()->QueryUsage(call.FromNow());
}

}  // namespace hawser
