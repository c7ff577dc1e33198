#include "client/sdk/client/client.h"

#include <cstdlib>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "client/sdk/client/dataset.h"
#include "client/sdk/graph/run/client_state.h"
#include "client/sdk/graph/run/deadline.h"
#include "client/sdk/graph/run/evaluate.h"
#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"
#include "kernels/cpu/client/cpu_client.h"

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

using Limits = runtime::CallOptions;

// Calls `fn`, the request of `verb`, under limits that begin now.
absl::Status Ask(const Client& client, const char* verb,
                 const CallOptions& call,
                 absl::FunctionRef<absl::Status(const Limits&)> fn) {
  if (!client.valid()) return NoClient();
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
  const Limits limits = call.FromNow();
  return sdk::NameDeadline(fn(limits), verb, client, call, limits.cancel);
}
template <typename T>
absl::StatusOr<T> Ask(const Client& client, const char* verb,
                      const CallOptions& call,
                      absl::FunctionRef<absl::StatusOr<T>(const Limits&)> fn) {
  absl::StatusOr<T> answer = absl::UnknownError("");
  const absl::Status status =
      Ask(client, verb, call, [&](const Limits& limits) {
        answer = fn(limits);
        return answer.status();
      });
  if (!status.ok()) return status;
  return answer;
}

absl::StatusOr<std::vector<runtime::NamedArgument>> ToArguments(
    std::vector<NamedTensor> arrays, const Client& client,
    const Limits& limits) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& array : arrays) {
    const absl::Status status = array.value.status();
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("array \"", array.name, "\""));
    }
    tensors.push_back(array.value);
  }
  HAWSER_RETURN_IF_ERROR(
      sdk::Evaluate(tensors, {.client = client, .call = limits}));
  std::vector<runtime::NamedArgument> values;
  for (NamedTensor& array : arrays) {
    auto value = sdk::ToArgument(array.value, client, limits);
    if (!value.ok()) {
      return Annotate(value.status(),
                      absl::StrCat("array \"", array.name, "\""));
    }
    values.push_back({std::move(array.name), *std::move(value)});
  }
  return values;
}

absl::StatusOr<std::vector<DatasetInfo>> ListAll(const Client& client,
                                                 absl::string_view prefix,
                                                 const Limits& limits) {
  std::vector<DatasetInfo> all;
  DatasetQuery query{.prefix = std::string(prefix)};
  for (bool more = true; more;) {
    HAWSER_ASSIGN_OR_RETURN(DatasetPage page,
                            client.runtime()->datasets().Ask(query, limits));
    for (DatasetInfo& info : page.datasets) {
      query.after = info.token;
      all.push_back(std::move(info));
    }
    more = page.more;
  }
  return all;
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

const std::shared_ptr<runtime::Client>& Client::runtime() const {
  static const auto& none = *new std::shared_ptr<runtime::Client>;
  return state_ == nullptr ? none : state_->client;
}

std::string Client::name() const {
  return valid() ? runtime()->name() : "none";
}

absl::StatusOr<runtime::Capabilities> Client::capabilities() const {
  if (!valid()) return NoClient();
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
  return runtime()->capabilities();
}

absl::StatusOr<hawser::Dataset> Client::Put(
    std::vector<DatasetSource::Array> arrays, const CallOptions& call) const {
  return Ask<hawser::Dataset>(
      *this, "Put", call,
      [&](const Limits& limits) -> absl::StatusOr<hawser::Dataset> {
        DatasetSource source{std::move(arrays)};
        HAWSER_RETURN_IF_ERROR(NormalizeSource(&source));
        HAWSER_ASSIGN_OR_RETURN(DatasetInfo info,
                                runtime()->datasets().Put(source, limits));
        return hawser::Dataset(*this, std::move(info));
      });
}

absl::StatusOr<hawser::Dataset> Client::Dataset(
    absl::string_view token, const DatasetOptions& options) const {
  return Ask<hawser::Dataset>(
      *this, "Dataset", options.call,
      [&](const Limits& limits) -> absl::StatusOr<hawser::Dataset> {
        absl::StatusOr<DatasetInfo> info =
            runtime()->datasets().Ask(StatDataset{std::string(token)}, limits);
        if (absl::IsInvalidArgument(info.status()) && !IsTag(token)) {
          return InvalidArgument(info.status().message(),
                                 "; a tag begins with \"@\"");
        }
        if (!info.ok()) return info.status();
        if (options.keep_local > 0 && info->bytes <= options.keep_local) {
          runtime()->datasets().KeepLocal(*info);
        }
        return hawser::Dataset(*this, *std::move(info));
      });
}

absl::StatusOr<hawser::Dataset> Client::Freeze(
    std::vector<NamedTensor> arrays, const CallOptions& call) const {
  return Ask<hawser::Dataset>(
      *this, "Freeze", call,
      [&](const Limits& limits) -> absl::StatusOr<hawser::Dataset> {
        HAWSER_ASSIGN_OR_RETURN(const auto values,
                                ToArguments(std::move(arrays), *this, limits));
        HAWSER_ASSIGN_OR_RETURN(DatasetInfo info,
                                runtime()->datasets().Freeze(values, limits));
        return hawser::Dataset(*this, std::move(info));
      });
}

absl::StatusOr<std::vector<DatasetInfo>> Client::List(
    absl::string_view prefix, const CallOptions& call) const {
  return Ask<std::vector<DatasetInfo>>(
      *this, "List", call,
      [&](const Limits& limits) { return ListAll(*this, prefix, limits); });
}

absl::Status Client::Delete(absl::string_view token,
                            const CallOptions& call) const {
  return Ask(*this, "Delete", call, [&](const Limits& limits) -> absl::Status {
    if (!IsTag(token))
      return runtime()
          ->datasets()
          .Ask(DeleteDataset{std::string(token)}, limits)
          .status();
    HAWSER_ASSIGN_OR_RETURN(
        const DatasetInfo info,
        runtime()->datasets().Ask(StatDataset{std::string(token)}, limits));
    return runtime()
        ->datasets()
        .Ask(DeleteDataset{info.token}, limits)
        .status();
  });
}

absl::StatusOr<DatasetInfo> Client::Pin(absl::string_view token,
                                        absl::Duration ttl,
                                        const CallOptions& call) const {
  return Ask<DatasetInfo>(*this, "Pin", call, [&](const Limits& limits) {
    return runtime()->datasets().Ask(PinDataset{std::string(token), ttl},
                                     limits);
  });
}

absl::Status Client::Tag(const DatasetTag& tag, const CallOptions& call) const {
  return Ask(*this, "Tag", call, [&](const Limits& limits) {
    return runtime()->datasets().Ask(tag, limits).status();
  });
}

absl::StatusOr<DatasetUsage> Client::Usage(const CallOptions& call) const {
  return Ask<DatasetUsage>(*this, "Usage", call, [&](const Limits& limits) {
    return runtime()->datasets().Ask(QueryUsage{}, limits);
  });
}

}  // namespace hawser
