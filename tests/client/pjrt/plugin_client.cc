#include "tests/client/pjrt/plugin_client.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ir/text/printer.h"
#include "core/runtime/datasets.h"
#include "nlohmann/json.hpp"
#include "tests/client/pjrt/plugin.h"

namespace hawser::pjrt {
namespace {

using runtime::Argument;
using runtime::BufferPtr;
using runtime::CallOptions;

absl::Status StatusOf(Error* error) {
  const Said said = Take(error);
  return absl::Status(static_cast<absl::StatusCode>(said.code), said.text);
}

template <typename Args>
absl::Status CallEntry(EntryId id, Args* args) {
  args->header = {sizeof(Args), nullptr};
  return StatusOf(CallRaw(id, args));
}

// Calls an entry that takes one handle and does not fail.
template <typename Args, typename Handle>
void Give(EntryId id, Handle* handle) {
  Args args = {{}, handle};
  HAWSER_CHECK(CallEntry(id, &args).ok());
}

// The numbers of dtypes in the ABI, from 1 on.
constexpr DType kDTypes[] = {
    DType::kBool, DType::kS8,  DType::kS16,  DType::kS32, DType::kS64,
    DType::kU8,   DType::kU16, DType::kU32,  DType::kU64, DType::kF16,
    DType::kF32,  DType::kF64, DType::kBF16, DType::kC64, DType::kC128};
int TypeOf(DType dtype) {
  return 1 + static_cast<int>(
                 std::find(std::begin(kDTypes), std::end(kDTypes), dtype) -
                 std::begin(kDTypes));
}

// Completes with `value` when the event does, which is destroyed.
template <typename T>
Future<T> When(Event* event, T value) {
  struct Waiting {
    Promise<T> promise;
    T value;
  };
  auto* waiting = new Waiting{{}, std::move(value)};
  Future<T> future = waiting->promise.future();
  Event_OnReadyArgs args = {
      {},
      event,
      [](Error* error, void* arg) {
        const std::unique_ptr<Waiting> mine(static_cast<Waiting*>(arg));
        if (error == nullptr) {
          mine->promise.Set(std::move(mine->value));
        } else {
          mine->promise.Set(StatusOf(error));
        }
      },
      waiting};
  HAWSER_CHECK(CallEntry(EntryId::kEvent_OnReady, &args).ok());
  Give<Event_DestroyArgs>(EntryId::kEvent_Destroy, event);
  return future;
}

// The names of handles in classes whose bases are called the same.
using BufferHandle = Buffer*;
using ClientHandle = Client*;

class PluginClient;

class PluginBuffer final : public runtime::Buffer {
 public:
  PluginBuffer(std::shared_ptr<PluginClient> client, BufferHandle handle,
               Shape shape)
      : client_(std::move(client)), handle_(handle), shape_(std::move(shape)) {}
  ~PluginBuffer() override {
    Give<Buffer_DestroyArgs>(EntryId::kBuffer_Destroy, handle_);
  }

  BufferHandle handle() const { return handle_; }
  const Shape& shape() const override { return shape_; }
  runtime::Client* client() const override;

  Future<Literal> Fetch(const CallOptions&) override {
    auto value = Literal::Allocate(shape_);
    if (!value.ok()) return WhyNot(value.status());
    const absl::Span<char> bytes = value->mutable_bytes();
    char none = 0;
    Buffer_ToHostBufferArgs args = {};
    args.src = handle_;
    args.dst = bytes.empty() ? &none : bytes.data();
    args.dst_size = bytes.size();
    const absl::Status status = CallEntry(EntryId::kBuffer_ToHostBuffer, &args);
    if (!status.ok()) return Future<Literal>(status);
    return When(args.event, *std::move(value));
  }
  Future<bool> Ready(const CallOptions&) override {
    Buffer_ReadyEventArgs args = {};
    args.buffer = handle_;
    const absl::Status status = CallEntry(EntryId::kBuffer_ReadyEvent, &args);
    if (!status.ok()) return Future<bool>(status);
    return When(args.event, true);
  }
  runtime::RanOn ran_on() const override {
    const std::string request = R"({"verb": "ran_on"})";
    AskArgs args = {};
    args.header = {sizeof(args), nullptr};
    args.request = request.data();
    args.request_size = request.size();
    args.buffers = &handle_;
    args.num_buffers = 1;
    const auto* extension =
        static_cast<const Extension*>(TheApi().extension_start);
    const absl::Status status = StatusOf(extension->ask(&args));
    if (!status.ok()) return {std::string(status.message())};
    const auto said =
        nlohmann::json::parse(args.answer, args.answer + args.answer_size);
    args.delete_answer(args.answer);
    return {said["where"], said["fallback"]};
  }

 private:
  // The error that the value has, if it has one, else `status`.
  Future<Literal> WhyNot(const absl::Status& status) {
    const auto promise = std::make_shared<Promise<Literal>>();
    Ready({}).OnReady([promise, status](const absl::StatusOr<bool>& ready) {
      promise->Set(ready.ok() ? status : ready.status());
    });
    return promise->future();
  }

  const std::shared_ptr<PluginClient> client_;
  const BufferHandle handle_;
  const Shape shape_;
};

class PluginClient final : public runtime::Client,
                           public std::enable_shared_from_this<PluginClient> {
 public:
  PluginClient(ClientHandle handle, std::string server)
      : handle_(handle), server_(std::move(server)), datasets_(this) {}
  ~PluginClient() override {
    Give<Client_DestroyArgs>(EntryId::kClient_Destroy, handle_);
  }

  std::string name() const override { return "plugin(" + server_ + ")"; }
  // The ABI has no words for these.
  absl::StatusOr<runtime::Capabilities> capabilities() override {
    return runtime::Capabilities{.platform = "cpu", .memory_bytes = 1};
  }
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options, const CallOptions& call) override;
  absl::StatusOr<BufferPtr> Upload(const Literal& value,
                                   const CallOptions&) override {
    const Shape& shape = value.shape();
    if (shape.dtype() == DType::kInvalid) return InvalidArgument("no value");
    const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    Client_BufferFromHostBufferArgs args = {};
    args.client = handle_;
    args.data = value.bytes().data();
    args.type = TypeOf(shape.dtype());
    args.dims = dims.data();
    args.num_dims = dims.size();
    HAWSER_RETURN_IF_ERROR(
        CallEntry(EntryId::kClient_BufferFromHostBuffer, &args));
    Give<Event_DestroyArgs>(EntryId::kEvent_Destroy,
                            args.done_with_host_buffer);
    return BufferPtr(new PluginBuffer(shared_from_this(), args.buffer, shape));
  }
  runtime::Datasets& datasets() override { return datasets_; }

 private:
  const ClientHandle handle_;
  const std::string server_;
  runtime::NoDatasets datasets_;
};

runtime::Client* PluginBuffer::client() const { return client_.get(); }

class PluginExecutable final : public runtime::Executable {
 public:
  PluginExecutable(std::shared_ptr<PluginClient> client,
                   LoadedExecutable* handle, Signature signature)
      : client_(std::move(client)),
        handle_(handle),
        signature_(std::move(signature)) {}
  ~PluginExecutable() override {
    Give<LoadedExecutable_DestroyArgs>(EntryId::kLoadedExecutable_Destroy,
                                       handle_);
  }

  const Signature& signature() const override { return signature_; }
  absl::StatusOr<std::vector<BufferPtr>> Execute(
      absl::Span<const Argument> arguments,
      const runtime::ExecuteOptions& options) override {
    std::vector<BufferPtr> held;
    std::vector<Buffer*> handles;
    HAWSER_RETURN_IF_ERROR(Send(arguments, &held, &handles));
    // All may be donated but those that are named.
    std::vector<int64_t> kept;
    const auto count = static_cast<int>(arguments.size());
    for (const int i : options.donated) {
      if (i < 0 || i >= count) return InvalidArgument("donated ", i);
    }
    for (int i = 0; i < count; ++i) {
      const auto at =
          std::find(options.donated.begin(), options.donated.end(), i);
      if (at == options.donated.end()) kept.push_back(i);
    }
    ExecuteOptions given = {};
    given.header = {sizeof(given), nullptr};
    given.non_donatable_input_indices = kept.data();
    given.num_non_donatable_input_indices = kept.size();
    std::vector<Buffer*> results(signature_.results.size());
    Buffer* const* const lists[] = {handles.data()};
    Buffer** const outputs[] = {results.data()};
    LoadedExecutable_ExecuteArgs args = {};
    args.executable = handle_;
    args.options = &given;
    args.argument_lists = lists;
    args.num_devices = 1;
    args.num_args = handles.size();
    args.output_lists = outputs;
    HAWSER_RETURN_IF_ERROR(
        CallEntry(EntryId::kLoadedExecutable_Execute, &args));
    std::vector<BufferPtr> made;
    for (size_t i = 0; i < results.size(); ++i) {
      made.push_back(std::make_shared<PluginBuffer>(client_, results[i],
                                                    signature_.results[i]));
    }
    return made;
  }

 private:
  // The handles of arguments; `held` keeps those that are sent for it.
  absl::Status Send(absl::Span<const Argument> arguments,
                    std::vector<BufferPtr>* held,
                    std::vector<Buffer*>* handles) const {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto* buffer = std::get_if<BufferPtr>(&arguments[i]);
      if (buffer == nullptr) {
        HAWSER_ASSIGN_OR_RETURN(
            held->emplace_back(),
            client_->Upload(std::get<Literal>(arguments[i]), {}));
        buffer = &held->back();
      }
      if (*buffer == nullptr) {
        handles->push_back(nullptr);
        continue;
      }
      const auto* mine = dynamic_cast<const PluginBuffer*>(buffer->get());
      if (mine == nullptr || mine->client() != client_.get()) {
        return FailedPrecondition("argument ", i, " is of another client");
      }
      handles->push_back(mine->handle());
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<PluginClient> client_;
  LoadedExecutable* const handle_;
  const Signature signature_;
};

absl::StatusOr<std::shared_ptr<runtime::Executable>> PluginClient::Compile(
    std::shared_ptr<const Module> module,
    const runtime::CompileOptions& options, const CallOptions&) {
  if (module == nullptr) return InvalidArgument("no module");
  if (module->computations().empty()) {  // which has no text form
    return InvalidArgument("no computations");
  }
  const std::string text = Print(*module);
  const bool strict = options.numerics == runtime::Numerics::kStrict;
  Program program = {};
  program.header = {sizeof(program), nullptr};
  program.code = text.data();
  program.code_size = text.size();
  program.format = "hawser.text";
  program.format_size = 11;
  Client_CompileArgs args = {};
  args.client = handle_;
  args.program = &program;
  args.compile_options = "strict";
  args.compile_options_size = strict ? 6 : 0;
  HAWSER_RETURN_IF_ERROR(CallEntry(EntryId::kClient_Compile, &args));
  return std::make_shared<PluginExecutable>(shared_from_this(), args.executable,
                                            module->signature());
}

}  // namespace

std::shared_ptr<runtime::Client> MakePluginClient(const std::string& server) {
  NamedValue servers = {};
  servers.header.struct_size = sizeof(servers);
  servers.name = "servers";
  servers.name_size = 7;
  servers.string = server.data();
  servers.size = server.size();
  Client_CreateArgs args = {};
  args.create_options = &servers;
  args.num_options = 1;
  HAWSER_CHECK(CallEntry(EntryId::kClient_Create, &args).ok());
  return std::make_shared<PluginClient>(args.client, server);
}

bool HasPlugin() { return access(kPluginPath, R_OK) == 0; }

}  // namespace hawser::pjrt
