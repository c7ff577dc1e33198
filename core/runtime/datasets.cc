#include "core/runtime/datasets.h"

#include <algorithm>

namespace hawser::runtime {

absl::Status Datasets::FetchInto(const DatasetPart& part, absl::Span<char> into,
                                 const CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const BufferPtr buffer, Open(part, call));
  HAWSER_RETURN_IF_ERROR(CheckRoom(part, buffer->shape(), into.size()));
  HAWSER_ASSIGN_OR_RETURN(const Literal value, buffer->Fetch(call).Await());
  std::copy_n(value.bytes().begin(), into.size(), into.begin());
  return absl::OkStatus();
}

absl::Status NoDatasets::None() const {
  return Unimplemented("client ", client_->name(), " keeps no datasets");
}

absl::StatusOr<DatasetInfo> NoDatasets::Put(const DatasetSource&,
                                            const CallOptions&) {
  return None();
}

absl::StatusOr<BufferPtr> NoDatasets::Open(const DatasetPart&,
                                           const CallOptions&) {
  return None();
}

absl::StatusOr<DatasetInfo> NoDatasets::Freeze(absl::Span<const NamedArgument>,
                                               const CallOptions&) {
  return None();
}

absl::StatusOr<DatasetAnswer> NoDatasets::Answer(const DatasetVerb&,
                                                 const CallOptions&) {
  return None();
}

}  // namespace hawser::runtime
