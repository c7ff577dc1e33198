// ForwardingClient: a client that another does everything for. Doubles derive
// from it and override what they count, change or refuse.
#ifndef HAWSER_TESTS_TESTING_FORWARDING_CLIENT_H_
#define HAWSER_TESTS_TESTING_FORWARDING_CLIENT_H_

#include <memory>
#include <string>
#include <utility>

#include "core/runtime/client.h"
#include "core/runtime/datasets.h"

namespace hawser {

// Buffers are the inner client's. Thread-safe as that is.
class ForwardingClient : public runtime::Client, public runtime::Datasets {
 public:
  explicit ForwardingClient(std::shared_ptr<runtime::Client> inner)
      : inner_(std::move(inner)) {}

  std::string name() const override { return inner_->name(); }
  absl::StatusOr<runtime::Capabilities> capabilities() override {
    return inner_->capabilities();
  }
  absl::Status Ping(const runtime::CallOptions& call) override {
    return inner_->Ping(call);
  }
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override {
    return inner_->Compile(std::move(module), options, call);
  }
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override {
    return inner_->Upload(value, call);
  }
  runtime::Datasets& datasets() override { return *this; }

  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const runtime::CallOptions& call) override {
    return inner_->datasets().Put(source, call);
  }
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart& part, const runtime::CallOptions& call) override {
    return inner_->datasets().Open(part, call);
  }
  absl::StatusOr<DatasetInfo> Freeze(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override {
    return inner_->datasets().Freeze(arrays, call);
  }
  void KeepLocal(const DatasetInfo& info) override {
    inner_->datasets().KeepLocal(info);
  }
  absl::StatusOr<DatasetAnswer> Answer(
      const DatasetVerb& verb, const runtime::CallOptions& call) override {
    return inner_->datasets().Answer(verb, call);
  }

 protected:
  runtime::Client& inner() { return *inner_; }

 private:
  const std::shared_ptr<runtime::Client> inner_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_FORWARDING_CLIENT_H_
