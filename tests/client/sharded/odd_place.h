// OddPlace: a place that is there and well, and answers as it is told to.
#ifndef HAWSER_TESTS_CLIENT_SHARDED_ODD_PLACE_H_
#define HAWSER_TESTS_CLIENT_SHARDED_ODD_PLACE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/status.h"
#include "core/runtime/client.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/forwarding_client.h"

namespace hawser {

// A buffer of another, whose values are what `fetch` gives.
class OddBuffer : public runtime::Buffer {
 public:
  using FetchFunction = std::function<Future<Literal>()>;
  OddBuffer(runtime::BufferPtr inner, FetchFunction fetch)
      : inner_(std::move(inner)), fetch_(std::move(fetch)) {}

  const Shape& shape() const override { return inner_->shape(); }
  runtime::Client* client() const override { return inner_->client(); }
  runtime::RanOn ran_on() const override { return inner_->ran_on(); }
  Future<Literal> Fetch(const runtime::CallOptions&) override {
    return fetch_();
  }
  const runtime::BufferPtr& inner() const { return inner_; }

 private:
  const runtime::BufferPtr inner_;
  const FetchFunction fetch_;
};

// Thread-safe. Outlives what is compiled there.
class OddPlace : public ForwardingClient {
 public:
  using Results = absl::StatusOr<std::vector<runtime::BufferPtr>>;
  // What an execution gives instead of what it would.
  using Answer = std::function<Results(std::vector<runtime::BufferPtr>)>;

  OddPlace(std::string name, Answer answer, absl::Status uploads = {})
      : ForwardingClient(cpu::MakeCpuClient({.threads = 1})),
        name_(std::move(name)),
        answer_(std::move(answer)),
        uploads_(std::move(uploads)) {}

  std::string name() const override { return name_; }
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override {
    HAWSER_ASSIGN_OR_RETURN(auto compiled,
                            inner().Compile(std::move(module), options, call));
    return std::make_shared<Executable>(this, std::move(compiled));
  }
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override {
    HAWSER_RETURN_IF_ERROR(uploads_);
    return inner().Upload(value, call);
  }
  int executions() const { return executions_; }

 private:
  class Executable : public runtime::Executable {
   public:
    Executable(OddPlace* place, std::shared_ptr<runtime::Executable> inner)
        : place_(place), inner_(std::move(inner)) {}
    const Signature& signature() const override { return inner_->signature(); }
    Results Execute(absl::Span<const runtime::Argument> arguments,
                    const runtime::ExecuteOptions& options) override {
      ++place_->executions_;
      std::vector<runtime::Argument> own(arguments.begin(), arguments.end());
      for (runtime::Argument& argument : own) {
        const auto* buffer = std::get_if<runtime::BufferPtr>(&argument);
        const auto* odd = buffer == nullptr
                              ? nullptr
                              : dynamic_cast<const OddBuffer*>(buffer->get());
        if (odd != nullptr) argument = runtime::BufferPtr(odd->inner());
      }
      HAWSER_ASSIGN_OR_RETURN(auto results, inner_->Execute(own, options));
      return place_->answer_(std::move(results));
    }

   private:
    OddPlace* const place_;
    const std::shared_ptr<runtime::Executable> inner_;
  };

  const std::string name_;
  const Answer answer_;
  const absl::Status uploads_;
  std::atomic<int> executions_{0};
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_SHARDED_ODD_PLACE_H_
