// A client that keeps datasets as a server does: durable, pinned, tagged. It
// computes and holds values on this CPU, and counts what it is asked.
#ifndef HAWSER_TESTS_CLIENT_CLI_KEEPING_CLIENT_H_
#define HAWSER_TESTS_CLIENT_CLI_KEEPING_CLIENT_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/cpu_client.h"

namespace hawser::cli {

class KeepingClient : public runtime::Client {
 public:
  // The time at which everything here happens.
  static absl::Time Now() { return absl::FromUnixSeconds(1'700'000'000); }

  int puts = 0;
  int64_t unknown_chunks = 0;  // put without their digests
  bool durable = true;
  absl::Status put_error;
  absl::Status get_error;
  DatasetUsage usage;

  std::string name() const override { return "near"; }
  absl::StatusOr<runtime::Capabilities> capabilities() override {
    return cpu_->capabilities();
  }
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override {
    return cpu_->Compile(module, options, call);
  }
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override {
    return cpu_->Upload(value, call);
  }
  absl::StatusOr<DatasetInfo> PutDataset(
      const DatasetSource& source, const runtime::CallOptions& call) override {
    HAWSER_RETURN_IF_ERROR(put_error);
    ++puts;
    for (const DatasetSource::Array& array : source.arrays) {
      if (!array.chunks.empty()) continue;
      unknown_chunks +=
          ArrayManifest{array.name, array.shape(), {}}.num_chunks();
    }
    HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                            cpu_->PutDataset(source, call));
    return Kept(info);
  }
  absl::StatusOr<DatasetInfo> StatDataset(
      absl::string_view token, const runtime::CallOptions& call) override {
    if (IsTag(token) && !tags_.contains(std::string(token))) {
      return NotFound("there is no dataset ", token);
    }
    HAWSER_ASSIGN_OR_RETURN(
        const DatasetInfo info,
        cpu_->StatDataset(
            IsTag(token) ? tags_[std::string(token)] : std::string(token),
            call));
    return Kept(info);
  }
  absl::StatusOr<runtime::BufferPtr> DatasetArray(
      absl::string_view token, absl::string_view array,
      const runtime::CallOptions& call) override {
    HAWSER_RETURN_IF_ERROR(get_error);
    return cpu_->DatasetArray(token, array, call);
  }
  absl::StatusOr<runtime::BufferPtr> DatasetRows(
      absl::string_view token, absl::string_view array, const RowRange& rows,
      const runtime::CallOptions& call) override {
    return cpu_->DatasetRows(token, array, rows, call);
  }
  absl::StatusOr<DatasetPage> ListDatasets(
      const DatasetQuery& query, const runtime::CallOptions& call) override {
    HAWSER_ASSIGN_OR_RETURN(DatasetPage page, cpu_->ListDatasets(query, call));
    for (DatasetInfo& info : page.datasets) info = Kept(info);
    return page;
  }
  absl::Status DeleteDataset(absl::string_view token,
                             const runtime::CallOptions& call) override {
    return cpu_->DeleteDataset(token, call);
  }
  absl::StatusOr<DatasetInfo> PinDataset(
      absl::string_view token, absl::Duration ttl,
      const runtime::CallOptions& call) override {
    HAWSER_ASSIGN_OR_RETURN(DatasetInfo info, StatDataset(token, call));
    pins_[info.token] =
        ttl == absl::ZeroDuration() ? absl::InfinitePast() : Now() + ttl;
    return Kept(info);
  }
  absl::Status TagDataset(const DatasetTag& tag,
                          const runtime::CallOptions&) override {
    const std::string now = tags_.contains(tag.name) ? tags_[tag.name] : "";
    if (tag.expected.has_value() && *tag.expected != now) {
      return Aborted(tag.name, " names ", now.empty() ? "nothing" : now);
    }
    if (tag.token.empty()) {
      tags_.erase(tag.name);
    } else {
      tags_[tag.name] = tag.token;
    }
    return absl::OkStatus();
  }
  absl::StatusOr<DatasetUsage> QueryUsage(
      const runtime::CallOptions&) override {
    return usage;
  }

 private:
  DatasetInfo Kept(DatasetInfo info) {
    info.durable = durable;
    info.last_used = Now();
    if (pins_.contains(info.token)) info.pinned_until = pins_[info.token];
    info.tags.clear();
    for (const auto& [name, token] : tags_) {
      if (token == info.token) info.tags.push_back(name);
    }
    return info;
  }

  const std::shared_ptr<runtime::Client> cpu_ = cpu::MakeCpuClient();
  std::map<std::string, std::string> tags_;
  std::map<std::string, absl::Time> pins_;
};

}  // namespace hawser::cli
#endif  // HAWSER_TESTS_CLIENT_CLI_KEEPING_CLIENT_H_
