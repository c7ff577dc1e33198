// FallbackDatasets::Restore and GiveUnsent: what the primary did not get while
// it was away goes over, or to the program's end.
#include <utility>

#include "client/fallback/fallback_client.h"
#include "client/fallback/fallback_datasets.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"

namespace hawser {
namespace {

bool IsLinkError(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status);
}

}  // namespace

absl::Status FallbackDatasets::Restore(const CancelToken& cancel) {
  runtime::Client& primary = *client_->primary_;
  // A server that was restarted may have lost what was put; only what it lacks
  // is sent. It still has what was deleted meanwhile.
  const KnownDatasets::Missing missing = known_.TakeMissing();
  for (const std::string& token : missing.deleted) {
    const absl::Status gone = primary.datasets()
                                  .Ask(DeleteDataset{token}, {.cancel = cancel})
                                  .status();
    if (!IsLinkError(gone)) continue;
    known_.DeleteLater(missing.deleted);
    return gone;
  }
  for (const auto& [token, source] : missing.sources) {
    const absl::Status put =
        primary.datasets().Put(source, {.cancel = cancel}).status();
    if (IsLinkError(put)) return put;
    if (put.ok()) known_.NotAlone(token);
    if (put.ok()) continue;
    // Back for all that does not need it.
    HAWSER_LOG(kWarning) << "dataset " << token << " cannot be put again on "
                         << primary.name() << ": " << put.ToString();
  }
  return RestoreTags(cancel);
}

absl::Status FallbackDatasets::RestoreTags(const CancelToken& cancel) {
  for (const auto& [name, token] : known_.QueuedTags()) {
    const absl::Status set =
        client_->primary_->datasets()
            .Ask(DatasetTag{name, token, std::nullopt}, {.cancel = cancel})
            .status();
    if (IsLinkError(set)) return set;
    if (!set.ok()) {
      HAWSER_LOG(kWarning) << "tag " << name << " cannot be set on "
                           << client_->primary_->name() << ": " << set;
    }
    known_.UnqueueTag(name, token);
  }
  return absl::OkStatus();
}

void FallbackDatasets::GiveUnsent() {
  if (client_->policy_.on_unsent == nullptr) return;
  const KnownDatasets::Tags tags = known_.QueuedTags();
  for (const std::string& token : known_.TakeAlone()) {
    UnsentDataset unsent{token};
    for (const auto& [name, tagged] : tags) {
      if (tagged == token) unsent.tags.push_back(name);
    }
    auto info = client_->secondary_->datasets().Ask(StatDataset{token}, {});
    for (size_t i = 0; info.ok() && i < info->arrays.size(); ++i) {
      const std::string& name = info->arrays[i].name;
      auto array = client_->secondary_->datasets().Open({token, name}, {});
      if (!array.ok()) continue;
      auto value = (*array)->Fetch({}).Await();
      if (value.ok()) unsent.arrays.push_back({name, *std::move(value)});
    }
    client_->policy_.on_unsent(unsent);
  }
}

}  // namespace hawser
