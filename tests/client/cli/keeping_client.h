// A client that keeps datasets as a server does: durable, pinned, tagged. It
// computes and holds values on this CPU, and counts what it is asked.
#ifndef HAWSER_TESTS_CLIENT_CLI_KEEPING_CLIENT_H_
#define HAWSER_TESTS_CLIENT_CLI_KEEPING_CLIENT_H_

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/status.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/forwarding_client.h"

namespace hawser::cli {

class KeepingClient : public ForwardingClient {
 public:
  KeepingClient() : ForwardingClient(cpu::MakeCpuClient()) {}
  // The time at which everything here happens.
  static absl::Time Now() { return absl::FromUnixSeconds(1'700'000'000); }

  int puts = 0;
  int64_t unknown_chunks = 0;  // put without their digests
  bool durable = true;
  absl::Status put_error;
  absl::Status get_error;
  absl::Status delete_error;
  DatasetUsage usage;
  std::map<std::string, absl::Time> used;  // by token; others: Now

  std::string name() const override { return "near"; }
  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const runtime::CallOptions& call) override {
    HAWSER_RETURN_IF_ERROR(put_error);
    ++puts;
    for (const DatasetSource::Array& array : source.arrays) {
      if (!array.chunks.empty()) continue;
      unknown_chunks +=
          ArrayManifest{array.name, array.shape(), {}}.num_chunks();
    }
    HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                            inner().datasets().Put(source, call));
    return Kept(info);
  }
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart& part, const runtime::CallOptions& call) override {
    if (!part.rows.has_value()) HAWSER_RETURN_IF_ERROR(get_error);
    return inner().datasets().Open(part, call);
  }
  absl::StatusOr<DatasetAnswer> Answer(
      const DatasetVerb& verb, const runtime::CallOptions& call) override {
    return std::visit(Verbs{*this, call}, verb);
  }

 private:
  struct Verbs {
    KeepingClient& keeper;
    const runtime::CallOptions& call;

    template <typename Verb>
    absl::StatusOr<DatasetAnswer> operator()(const Verb& verb) {
      return keeper.inner().datasets().Answer(verb, call);
    }
    absl::StatusOr<DatasetAnswer> operator()(StatDataset stat) {
      if (IsTag(stat.token)) {
        if (!keeper.tags_.contains(stat.token)) {
          return NotFound("there is no dataset ", stat.token);
        }
        stat.token = keeper.tags_[stat.token];
      }
      HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                              keeper.inner().datasets().Ask(stat, call));
      return keeper.Kept(info);
    }
    absl::StatusOr<DatasetAnswer> operator()(const DeleteDataset& one) {
      HAWSER_RETURN_IF_ERROR(keeper.delete_error);
      return keeper.inner().datasets().Answer(one, call);
    }
    absl::StatusOr<DatasetAnswer> operator()(const DatasetQuery& query) {
      HAWSER_ASSIGN_OR_RETURN(DatasetPage page,
                              keeper.inner().datasets().Ask(query, call));
      for (DatasetInfo& info : page.datasets) info = keeper.Kept(info);
      return page;
    }
    absl::StatusOr<DatasetAnswer> operator()(const PinDataset& pin) {
      HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info,
                              keeper.Ask(StatDataset{pin.token}, call));
      keeper.pins_[info.token] = pin.ttl == absl::ZeroDuration()
                                     ? absl::InfinitePast()
                                     : Now() + pin.ttl;
      return keeper.Kept(info);
    }
    absl::StatusOr<DatasetAnswer> operator()(const DatasetTag& tag) {
      auto& tags = keeper.tags_;
      const std::string now = tags.contains(tag.name) ? tags[tag.name] : "";
      if (tag.expected.has_value() && *tag.expected != now) {
        return Aborted(tag.name, " names ", now.empty() ? "nothing" : now);
      }
      if (tag.token.empty()) {
        tags.erase(tag.name);
      } else {
        tags[tag.name] = tag.token;
      }
      return Acknowledgement();
    }
    absl::StatusOr<DatasetAnswer> operator()(const QueryUsage&) {
      return keeper.usage;
    }
  };

  DatasetInfo Kept(DatasetInfo info) {
    info.durable = durable;
    info.last_used = used.contains(info.token) ? used[info.token] : Now();
    if (pins_.contains(info.token)) info.pinned_until = pins_[info.token];
    info.tags.clear();
    for (const auto& [name, token] : tags_) {
      if (token == info.token) info.tags.push_back(name);
    }
    return info;
  }

  std::map<std::string, std::string> tags_;
  std::map<std::string, absl::Time> pins_;
};

}  // namespace hawser::cli
#endif  // HAWSER_TESTS_CLIENT_CLI_KEEPING_CLIENT_H_
