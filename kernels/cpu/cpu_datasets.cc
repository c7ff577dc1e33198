// The datasets of a CpuClient: values in this process, by token.
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "kernels/cpu/client_state.h"
#include "kernels/cpu/cpu_buffer.h"
#include "kernels/cpu/cpu_client.h"

namespace hawser::cpu {
namespace {

using runtime::BufferPtr;
using runtime::CallOptions;

// Infos in one page of a listing.
constexpr int kPage = 1000;

}  // namespace

absl::StatusOr<DatasetInfo> CpuClient::PutDataset(const DatasetSource& source,
                                                  const CallOptions& call) {
  DatasetSource sorted = source;
  HAWSER_RETURN_IF_ERROR(NormalizeSource(&sorted));
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  for (const auto& array : sorted.arrays) {
    HAWSER_RETURN_IF_ERROR(
        Annotate(CheckBytes(array.value.shape(), array.value.bytes()),
                 absl::StrCat("array \"", array.name, "\"")));
  }
  Dataset dataset{InfoOf(ManifestOf(sorted, state_->pool.size())), {}};
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  for (const auto& array : sorted.arrays) {
    HAWSER_ASSIGN_OR_RETURN(Literal value,
                            state_->allocator->Aligned(array.value));
    dataset.values.push_back(std::move(value));
  }
  const DatasetInfo info = dataset.info;
  {
    MutexLock lock(&mu_);
    datasets_.try_emplace(info.token, std::move(dataset));
  }
  if (call.progress) call.progress(info.bytes, info.bytes);
  return info;
}

absl::StatusOr<CpuClient::Dataset> CpuClient::FindDataset(
    absl::string_view token) {
  HAWSER_RETURN_IF_ERROR(ParseToken(token));
  MutexLock lock(&mu_);
  const auto at = datasets_.find(token);
  if (at == datasets_.end()) {
    return NotFound("no dataset ", token, " on cpu");
  }
  return at->second;
}

absl::StatusOr<Literal> CpuClient::FindArray(absl::string_view token,
                                             absl::string_view array) {
  HAWSER_ASSIGN_OR_RETURN(Dataset dataset, FindDataset(token));
  for (size_t i = 0; i < dataset.values.size(); ++i) {
    if (dataset.info.arrays[i].name == array) return dataset.values[i];
  }
  return NotFound("dataset ", token, " has no array \"", array, "\"");
}

absl::StatusOr<DatasetInfo> CpuClient::StatDataset(absl::string_view token,
                                                   const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_ASSIGN_OR_RETURN(Dataset dataset, FindDataset(token));
  return dataset.info;
}

absl::StatusOr<BufferPtr> CpuClient::DatasetArray(absl::string_view token,
                                                  absl::string_view array,
                                                  const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_ASSIGN_OR_RETURN(Literal value, FindArray(token, array));
  const Shape shape = value.shape();
  return std::make_shared<CpuBuffer>(state_, shape,
                                     Future<Literal>(std::move(value)));
}

absl::StatusOr<BufferPtr> CpuClient::DatasetRows(absl::string_view token,
                                                 absl::string_view array,
                                                 const RowRange& rows,
                                                 const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_ASSIGN_OR_RETURN(const Literal whole, FindArray(token, array));
  absl::StatusOr<Literal> part = SliceRows(whole, rows);
  if (!part.ok()) {
    return Annotate(part.status(), DescribeArray(token, array));
  }
  // Every row begins where an element may: the array does.
  const Shape shape = part->shape();
  return std::make_shared<CpuBuffer>(state_, shape,
                                     Future<Literal>(*std::move(part)));
}

absl::StatusOr<DatasetPage> CpuClient::ListDatasets(const DatasetQuery& query,
                                                    const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  std::vector<DatasetInfo> all;
  {
    MutexLock lock(&mu_);
    for (const auto& [token, dataset] : datasets_) all.push_back(dataset.info);
  }
  return PageOf(std::move(all), query, kPage);
}

absl::Status CpuClient::DeleteDataset(absl::string_view token,
                                      const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_RETURN_IF_ERROR(ParseToken(token));
  Dataset gone;  // its values die after the lock, unless work uses them
  MutexLock lock(&mu_);
  const auto at = datasets_.find(token);
  if (at == datasets_.end()) {
    return NotFound("no dataset ", token, " on cpu");
  }
  gone = std::move(at->second);
  datasets_.erase(at);
  return absl::OkStatus();
}

absl::StatusOr<DatasetInfo> CpuClient::FreezeDataset(
    absl::Span<const runtime::NamedArgument> arrays, const CallOptions& call) {
  DatasetSource source;
  for (const runtime::NamedArgument& array : arrays) {
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
  return PutDataset(source, call);
}

}  // namespace hawser::cpu
