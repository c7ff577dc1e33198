// The datasets of a GpuClient: on the host, by token, uploaded when used.
#include <utility>

#include "core/base/status.h"
#include "kernels/gpu/gpu_buffer.h"
#include "kernels/gpu/gpu_client.h"
#include "kernels/gpu/uploaded_arrays.h"

namespace hawser::gpu {
namespace {

using runtime::BufferPtr;
using runtime::CallOptions;

// That hash chunks.
constexpr int kThreads = 4;

}  // namespace

absl::StatusOr<DatasetInfo> GpuClient::PutDataset(const DatasetSource& source,
                                                  const CallOptions& call) {
  return datasets_.Put(
      source, call, kThreads,
      [](const Literal& value) -> absl::StatusOr<Literal> { return value; });
}

absl::StatusOr<DatasetInfo> GpuClient::StatDataset(absl::string_view token,
                                                   const CallOptions& call) {
  return datasets_.Stat(token, call);
}

absl::StatusOr<BufferPtr> GpuClient::DatasetArray(absl::string_view token,
                                                  absl::string_view array,
                                                  const CallOptions& call) {
  // A tag may mean another dataset tomorrow.
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info, datasets_.Stat(token, call));
  HAWSER_ASSIGN_OR_RETURN(const Literal value,
                          datasets_.Array(info.token, array, call));
  return arrays_->Get(engine_, info.token, array, value);
}

absl::StatusOr<BufferPtr> GpuClient::DatasetRows(absl::string_view token,
                                                 absl::string_view array,
                                                 const RowRange& rows,
                                                 const CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(Literal part,
                          datasets_.Rows(token, array, rows, call));
  return std::make_shared<GpuBuffer>(engine_, std::move(part));
}

absl::StatusOr<DatasetPage> GpuClient::ListDatasets(const DatasetQuery& query,
                                                    const CallOptions& call) {
  return datasets_.List(query, call);
}

absl::Status GpuClient::DeleteDataset(absl::string_view token,
                                      const CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info, datasets_.Stat(token, call));
  HAWSER_RETURN_IF_ERROR(datasets_.Delete(token, call));
  arrays_->Drop(info.token);
  return absl::OkStatus();
}

absl::StatusOr<DatasetInfo> GpuClient::PinDataset(absl::string_view token,
                                                  absl::Duration ttl,
                                                  const CallOptions& call) {
  return datasets_.Pin(token, ttl, call);
}

absl::Status GpuClient::TagDataset(const DatasetTag& tag,
                                   const CallOptions& call) {
  return datasets_.Tag(tag, call);
}

absl::StatusOr<DatasetUsage> GpuClient::QueryUsage(const CallOptions& call) {
  return datasets_.Usage(call);
}

absl::StatusOr<DatasetInfo> GpuClient::FreezeDataset(
    absl::Span<const runtime::NamedArgument> arrays, const CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const DatasetSource source,
                          runtime::FetchSource(this, arrays, call));
  return PutDataset(source, call);
}

}  // namespace hawser::gpu
