#include "core/runtime/host_dataset_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/process/mapped_file.h"
#include "core/base/status.h"

namespace hawser::runtime {
namespace {

// Infos in one page of a listing.
constexpr int kPage = 1000;

}  // namespace

absl::StatusOr<DatasetInfo> HostDatasetClient::Put(const DatasetSource& source,
                                                   const CallOptions& call) {
  DatasetSource sorted = source;
  HAWSER_RETURN_IF_ERROR(NormalizeSource(&sorted));
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  DatasetInfo info = InfoOf(ManifestOf(sorted, hash_threads_));
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  if (!FindUsed(&info)) {
    Dataset dataset{std::move(info), {}};
    for (const DatasetSource::Array& array : sorted.arrays) {
      HAWSER_ASSIGN_OR_RETURN(Literal value, KeptOf(array));
      HAWSER_RETURN_IF_ERROR(CheckUnchanged(value.bytes()));
      dataset.values.push_back(std::move(value));
    }
    info = Add(std::move(dataset));
  }
  if (call.progress) call.progress(info.bytes, info.bytes);
  return info;
}

absl::StatusOr<Literal> HostDatasetClient::KeptOf(
    const DatasetSource::Array& array) {
  HAWSER_ASSIGN_OR_RETURN(const Literal value, array.Value());
  HAWSER_RETURN_IF_ERROR(Annotate(CheckBytes(value.shape(), value.bytes()),
                                  absl::StrCat("array \"", array.name, "\"")));
  return Keep(value);
}

bool HostDatasetClient::FindUsed(DatasetInfo* info) {
  MutexLock lock(&mu_);
  const auto at = datasets_.find(info->token);
  if (at == datasets_.end()) return false;
  at->second.info.last_used = SteadyNow();
  *info = at->second.info;
  return true;
}

DatasetInfo HostDatasetClient::Add(Dataset dataset) {
  const std::string token = dataset.info.token;
  MutexLock lock(&mu_);
  for (const auto& [tag, named] : tags_) {
    if (named == token) dataset.info.tags.push_back(tag);
  }
  Dataset& kept =
      datasets_.try_emplace(token, std::move(dataset)).first->second;
  kept.info.last_used = SteadyNow();
  return kept.info;
}

absl::StatusOr<HostDatasetClient::Dataset*> HostDatasetClient::Find(
    absl::string_view asked) {
  std::string token(asked);
  if (IsTag(asked)) {
    HAWSER_RETURN_IF_ERROR(CheckTag(asked));
    const auto tag = tags_.find(asked);
    if (tag == tags_.end()) return NotFound("no tag ", asked, " on ", name());
    token = tag->second;
  } else {
    HAWSER_RETURN_IF_ERROR(ParseToken(asked));
  }
  const auto at = datasets_.find(token);
  if (at == datasets_.end()) {
    return NotFound("no dataset ", token, " on ", name());
  }
  return &at->second;
}

absl::StatusOr<HostDatasetClient::Found> HostDatasetClient::FindArray(
    absl::string_view asked, absl::string_view array) {
  MutexLock lock(&mu_);
  HAWSER_ASSIGN_OR_RETURN(Dataset * dataset, Find(asked));
  dataset->info.last_used = SteadyNow();
  for (size_t i = 0; i < dataset->values.size(); ++i) {
    if (dataset->info.arrays[i].name != array) continue;
    return Found{dataset->info.token, dataset->values[i]};
  }
  return NotFound("dataset ", asked, " has no array \"", array, "\"");
}

absl::StatusOr<BufferPtr> HostDatasetClient::Open(const DatasetPart& part,
                                                  const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_ASSIGN_OR_RETURN(Found found, FindArray(part.token, part.array));
  if (!part.rows.has_value()) {
    return ArrayBuffer(found.token, part.array, std::move(found.value));
  }
  absl::StatusOr<Literal> rows = SliceRows(found.value, *part.rows);
  if (!rows.ok()) {
    return Annotate(rows.status(), DescribeArray(part.token, part.array));
  }
  return MakeBuffer(*std::move(rows));
}

struct HostDatasetClient::Verbs {
  HostDatasetClient& client;

  absl::StatusOr<DatasetAnswer> operator()(const StatDataset& stat) {
    MutexLock lock(&client.mu_);
    HAWSER_ASSIGN_OR_RETURN(const Dataset* dataset, client.Find(stat.token));
    return dataset->info;
  }

  absl::StatusOr<DatasetAnswer> operator()(const DatasetQuery& query) {
    std::vector<DatasetInfo> all;
    {
      MutexLock lock(&client.mu_);
      for (const auto& [token, dataset] : client.datasets_) {
        all.push_back(dataset.info);
      }
    }
    return PageOf(std::move(all), query, kPage);
  }

  absl::StatusOr<DatasetAnswer> operator()(const DeleteDataset& order) {
    Dataset gone;  // its values die after the lock, unless work uses them
    {
      MutexLock lock(&client.mu_);
      HAWSER_ASSIGN_OR_RETURN(Dataset * dataset, client.Find(order.token));
      gone = std::move(*dataset);
      client.datasets_.erase(gone.info.token);
    }
    client.OnDeleted(gone.info.token);
    return Acknowledgement();
  }

  absl::StatusOr<DatasetAnswer> operator()(const PinDataset& pin) {
    MutexLock lock(&client.mu_);
    HAWSER_ASSIGN_OR_RETURN(Dataset * dataset, client.Find(pin.token));
    dataset->info.pinned_until = pin.ttl > absl::ZeroDuration()
                                     ? SteadyNow() + pin.ttl
                                     : absl::InfinitePast();
    return dataset->info;
  }

  absl::StatusOr<DatasetAnswer> operator()(const DatasetTag& tag) {
    HAWSER_RETURN_IF_ERROR(CheckTag(tag.name));
    MutexLock lock(&client.mu_);
    const auto at = client.tags_.find(tag.name);
    const std::string now = at == client.tags_.end() ? "" : at->second;
    HAWSER_RETURN_IF_ERROR(CheckExpected(tag, now));
    Dataset* next = nullptr;
    if (!tag.token.empty()) {
      HAWSER_RETURN_IF_ERROR(ParseToken(tag.token));
      HAWSER_ASSIGN_OR_RETURN(next, client.Find(tag.token));
    }
    const auto before = client.datasets_.find(now);
    if (before != client.datasets_.end()) {
      auto& tags = before->second.info.tags;
      tags.erase(std::remove(tags.begin(), tags.end(), tag.name), tags.end());
    }
    if (next == nullptr) {
      client.tags_.erase(tag.name);
      return Acknowledgement();
    }
    client.tags_[tag.name] = tag.token;
    auto& tags = next->info.tags;
    tags.insert(std::upper_bound(tags.begin(), tags.end(), tag.name), tag.name);
    return Acknowledgement();
  }

  absl::StatusOr<DatasetAnswer> operator()(const QueryUsage&) {
    DatasetUsage usage;
    const absl::Time now = SteadyNow();
    MutexLock lock(&client.mu_);
    usage.datasets = static_cast<int64_t>(client.datasets_.size());
    for (const auto& [token, dataset] : client.datasets_) {
      usage.bytes += dataset.info.bytes;
      if (dataset.info.pinned_until > now) {
        usage.pinned_bytes += dataset.info.bytes;
      }
    }
    return usage;
  }
};

absl::StatusOr<DatasetAnswer> HostDatasetClient::Answer(
    const DatasetVerb& verb, const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  return std::visit(Verbs{*this}, verb);
}

absl::StatusOr<DatasetSource> HostDatasetClient::FetchSource(
    absl::Span<const NamedArgument> arrays, const CallOptions& call) {
  DatasetSource source;
  for (const NamedArgument& array : arrays) {
    if (const auto* value = std::get_if<Literal>(&array.value)) {
      source.arrays.push_back({array.name, *value});
      continue;
    }
    const BufferPtr& buffer = std::get<BufferPtr>(array.value);
    if (buffer == nullptr || buffer->client() != this) {
      return FailedPrecondition("array \"", array.name, "\" does not live on ",
                                name());
    }
    HAWSER_ASSIGN_OR_RETURN(Literal value, buffer->Fetch(call).Await());
    source.arrays.push_back({array.name, std::move(value)});
  }
  return source;
}

absl::StatusOr<DatasetInfo> HostDatasetClient::Freeze(
    absl::Span<const NamedArgument> arrays, const CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const DatasetSource source,
                          FetchSource(arrays, call));
  return Put(source, call);
}

}  // namespace hawser::runtime
