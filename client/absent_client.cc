#include "client/absent_client.h"

#include <utility>

#include "core/runtime/datasets.h"

namespace hawser {
namespace {

class AbsentDatasets final : public runtime::Datasets {
 public:
  explicit AbsentDatasets(absl::Status why) : why_(std::move(why)) {}
  absl::StatusOr<DatasetInfo> Put(const DatasetSource&,
                                  const runtime::CallOptions&) override {
    return why_;
  }
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart&, const runtime::CallOptions&) override {
    return why_;
  }
  absl::StatusOr<DatasetInfo> Freeze(absl::Span<const runtime::NamedArgument>,
                                     const runtime::CallOptions&) override {
    return why_;
  }
  absl::StatusOr<DatasetAnswer> Answer(const DatasetVerb&,
                                       const runtime::CallOptions&) override {
    return why_;
  }

 private:
  const absl::Status why_;
};

class AbsentClient final : public runtime::Client {
 public:
  AbsentClient(std::string name, const absl::Status& why)
      : name_(std::move(name)), why_(why), datasets_(why) {}
  std::string name() const override { return name_; }
  absl::StatusOr<runtime::Capabilities> capabilities() override { return why_; }
  absl::Status Ping(const runtime::CallOptions&) override { return why_; }
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module>, const runtime::CompileOptions&,
      const runtime::CallOptions&) override {
    return why_;
  }
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal&, const runtime::CallOptions&) override {
    return why_;
  }
  runtime::Datasets& datasets() override { return datasets_; }

 private:
  const std::string name_;
  const absl::Status why_;
  AbsentDatasets datasets_;
};

}  // namespace

std::shared_ptr<runtime::Client> MakeAbsentClient(std::string name,
                                                  absl::Status why) {
  return std::make_shared<AbsentClient>(std::move(name), why);
}

}  // namespace hawser
