// A client that counts what it is asked, over a CPU client of its own.
#ifndef HAWSER_TESTS_CLIENT_SDK_COUNTING_CLIENT_H_
#define HAWSER_TESTS_CLIENT_SDK_COUNTING_CLIENT_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/sdk/client.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/runtime/client.h"
#include "kernels/cpu/cpu_client.h"

namespace hawser {

class CountingClient : public runtime::Client {
 public:
  explicit CountingClient(std::string name = "counting")
      : name_(std::move(name)), cpu_(cpu::MakeCpuClient()) {}

  std::atomic<int> compiles{0};
  std::atomic<int> executions{0};
  std::atomic<int> calls{0};
  std::atomic<int> uploads{0};
  std::atomic<int> array_lookups{0};
  std::atomic<bool> fail_compile{false};
  std::atomic<bool> fail_execute{false};
  // Called by every Compile, which fails with what it says.
  std::function<absl::Status()> on_compile;

  // Of the last Compile and Execute.
  std::shared_ptr<const Module> module() {
    MutexLock lock(&mu_);
    return module_;
  }
  std::vector<int> donated() {
    MutexLock lock(&mu_);
    return donated_;
  }
  // How many references the first donated buffer had inside Execute.
  std::atomic<long> donated_references{0};

  std::string name() const override { return name_; }
  absl::StatusOr<runtime::Capabilities> capabilities() override {
    return cpu_->capabilities();
  }
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override {
    ++compiles;
    if (fail_compile) return absl::UnavailableError("no compiler today");
    if (on_compile) HAWSER_RETURN_IF_ERROR(on_compile());
    {
      MutexLock lock(&mu_);
      module_ = module;
    }
    auto inner = cpu_->Compile(std::move(module), options, call);
    if (!inner.ok()) return inner.status();
    return std::make_shared<Program>(this, *std::move(inner));
  }
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override {
    ++uploads;
    return cpu_->Upload(value, call);
  }
  absl::StatusOr<DatasetInfo> PutDataset(
      const DatasetSource& source, const runtime::CallOptions& call) override {
    return cpu_->PutDataset(source, call);
  }
  absl::StatusOr<DatasetInfo> StatDataset(
      absl::string_view token, const runtime::CallOptions& call) override {
    return cpu_->StatDataset(token, call);
  }
  absl::StatusOr<runtime::BufferPtr> DatasetArray(
      absl::string_view token, absl::string_view array,
      const runtime::CallOptions& call) override {
    ++array_lookups;
    auto buffer = cpu_->DatasetArray(token, array, call);
    if (!buffer.ok()) return buffer;
    MutexLock lock(&mu_);
    arrays_.push_back(*buffer);
    return buffer;
  }
  absl::StatusOr<runtime::BufferPtr> DatasetRows(
      absl::string_view token, absl::string_view array, const RowRange& rows,
      const runtime::CallOptions& call) override {
    return cpu_->DatasetRows(token, array, rows, call);
  }
  absl::StatusOr<DatasetPage> ListDatasets(
      const DatasetQuery& query, const runtime::CallOptions& call) override {
    return cpu_->ListDatasets(query, call);
  }
  absl::Status DeleteDataset(absl::string_view token,
                             const runtime::CallOptions& call) override {
    return cpu_->DeleteDataset(token, call);
  }
  absl::StatusOr<DatasetInfo> PinDataset(
      absl::string_view token, absl::Duration ttl,
      const runtime::CallOptions& call) override {
    return cpu_->PinDataset(token, ttl, call);
  }
  absl::Status TagDataset(const DatasetTag& tag,
                          const runtime::CallOptions& call) override {
    return cpu_->TagDataset(tag, call);
  }
  absl::StatusOr<DatasetUsage> QueryUsage(
      const runtime::CallOptions& call) override {
    return cpu_->QueryUsage(call);
  }
  absl::StatusOr<DatasetInfo> FreezeDataset(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override {
    return cpu_->FreezeDataset(arrays, call);
  }

 private:
  class Program : public runtime::Executable {
   public:
    Program(CountingClient* client, std::shared_ptr<runtime::Executable> inner)
        : client_(client), inner_(std::move(inner)) {}
    const Signature& signature() const override { return inner_->signature(); }
    absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
        absl::Span<const runtime::Argument> arguments,
        const runtime::ExecuteOptions& options) override {
      ++client_->executions;
      if (client_->fail_execute) return absl::UnavailableError("no luck");
      for (int i : options.donated) {
        const auto* buffer = std::get_if<runtime::BufferPtr>(&arguments[i]);
        if (buffer != nullptr) client_->donated_references = buffer->use_count();
      }
      {
        MutexLock lock(&client_->mu_);
        client_->donated_ = options.donated;
      }
      return inner_->Execute(arguments, options);
    }
    // As a server's: the buffers of a session have no meaning here.
    Future<std::vector<Literal>> Call(
        absl::Span<const runtime::Argument> arguments,
        const runtime::CallOptions& options) override {
      ++client_->calls;
      for (const runtime::Argument& argument : arguments) {
        const auto* buffer = std::get_if<runtime::BufferPtr>(&argument);
        if (buffer == nullptr || client_->IsArray(*buffer)) continue;
        return Future<std::vector<Literal>>(
            FailedPrecondition("a buffer of a session"));
      }
      return Executable::Call(arguments, options);
    }

   private:
    CountingClient* const client_;
    const std::shared_ptr<runtime::Executable> inner_;
  };

  bool IsArray(const runtime::BufferPtr& buffer) {
    MutexLock lock(&mu_);
    return std::find(arrays_.begin(), arrays_.end(), buffer) != arrays_.end();
  }

  const std::string name_;
  const std::shared_ptr<cpu::CpuClient> cpu_;
  Mutex mu_;
  std::shared_ptr<const Module> module_ ABSL_GUARDED_BY(mu_);
  std::vector<int> donated_ ABSL_GUARDED_BY(mu_);
  std::vector<runtime::BufferPtr> arrays_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_SDK_COUNTING_CLIENT_H_
