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
#include "client/sdk/client/client.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/forwarding_client.h"

namespace hawser {

class CountingClient : public ForwardingClient {
 public:
  explicit CountingClient(std::string name = "counting")
      : ForwardingClient(cpu::MakeCpuClient()), name_(std::move(name)) {}

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
    auto compiled = inner().Compile(std::move(module), options, call);
    if (!compiled.ok()) return compiled.status();
    return std::make_shared<Program>(this, *std::move(compiled));
  }
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override {
    ++uploads;
    return inner().Upload(value, call);
  }
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart& part, const runtime::CallOptions& call) override {
    auto buffer = inner().datasets().Open(part, call);
    if (part.rows.has_value()) return buffer;
    ++array_lookups;
    if (!buffer.ok()) return buffer;
    MutexLock lock(&mu_);
    arrays_.push_back(*buffer);
    return buffer;
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
    Future<runtime::Called> Call(absl::Span<const runtime::Argument> arguments,
                                 const runtime::CallOptions& options) override {
      ++client_->calls;
      for (const runtime::Argument& argument : arguments) {
        const auto* buffer = std::get_if<runtime::BufferPtr>(&argument);
        if (buffer == nullptr || client_->IsArray(*buffer)) continue;
        return Future<runtime::Called>(
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
  Mutex mu_;
  std::shared_ptr<const Module> module_ ABSL_GUARDED_BY(mu_);
  std::vector<int> donated_ ABSL_GUARDED_BY(mu_);
  std::vector<runtime::BufferPtr> arrays_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_SDK_COUNTING_CLIENT_H_
