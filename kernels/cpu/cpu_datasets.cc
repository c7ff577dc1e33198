// The datasets of a CpuClient: values in this process, by token.
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/client_state.h"
#include "kernels/cpu/cpu_buffer.h"
#include "kernels/cpu/cpu_client.h"

namespace hawser::cpu {

using runtime::BufferPtr;
using runtime::CallOptions;

absl::StatusOr<DatasetInfo> CpuClient::PutDataset(const DatasetSource& source,
                                                  const CallOptions& call) {
  return datasets_.Put(
      source, call, state_->pool.size(),
      [this](const Literal& v) { return state_->allocator->Aligned(v); });
}

absl::StatusOr<DatasetInfo> CpuClient::StatDataset(absl::string_view token,
                                                   const CallOptions& call) {
  return datasets_.Stat(token, call);
}

absl::StatusOr<BufferPtr> CpuClient::DatasetArray(absl::string_view token,
                                                  absl::string_view array,
                                                  const CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(Literal value, datasets_.Array(token, array, call));
  const Shape shape = value.shape();
  return std::make_shared<CpuBuffer>(state_, shape,
                                     Future<Literal>(std::move(value)));
}

absl::StatusOr<BufferPtr> CpuClient::DatasetRows(absl::string_view token,
                                                 absl::string_view array,
                                                 const RowRange& rows,
                                                 const CallOptions& call) {
  // Every row begins where an element may: the array does.
  HAWSER_ASSIGN_OR_RETURN(Literal part,
                          datasets_.Rows(token, array, rows, call));
  const Shape shape = part.shape();
  return std::make_shared<CpuBuffer>(state_, shape,
                                     Future<Literal>(std::move(part)));
}

absl::StatusOr<DatasetPage> CpuClient::ListDatasets(const DatasetQuery& query,
                                                    const CallOptions& call) {
  return datasets_.List(query, call);
}

absl::Status CpuClient::DeleteDataset(absl::string_view token,
                                      const CallOptions& call) {
  return datasets_.Delete(token, call);
}

absl::StatusOr<DatasetInfo> CpuClient::PinDataset(absl::string_view token,
                                                  absl::Duration ttl,
                                                  const CallOptions& call) {
  return datasets_.Pin(token, ttl, call);
}

absl::Status CpuClient::TagDataset(const DatasetTag& tag,
                                   const CallOptions& call) {
  return datasets_.Tag(tag, call);
}

absl::StatusOr<DatasetUsage> CpuClient::QueryUsage(const CallOptions& call) {
  return datasets_.Usage(call);
}

absl::StatusOr<DatasetInfo> CpuClient::FreezeDataset(
    absl::Span<const runtime::NamedArgument> arrays, const CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const DatasetSource source,
                          runtime::FetchSource(this, arrays, call));
  return PutDataset(source, call);
}

}  // namespace hawser::cpu
