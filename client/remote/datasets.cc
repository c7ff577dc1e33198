// The dataset methods of RemoteClient.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/remote/call_limits.h"
#include "client/remote/dataset_put.h"
#include "client/remote/remote_buffer.h"
#include "client/remote/remote_client.h"
#include "core/base/status.h"
#include "core/runtime/dataset.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

// Infos are small; more tokens than this in one process are asked for again.
constexpr size_t kInfosKept = 1024;

}  // namespace

absl::StatusOr<DatasetInfo> RemoteClient::PutDataset(
    const DatasetSource& source, const runtime::CallOptions& call) {
  DatasetSource normal = source;
  HAWSER_RETURN_IF_ERROR(NormalizeSource(&normal));
  DatasetPut put(transport_.get(), options_, normal, call);
  return put.Run();
}

absl::StatusOr<DatasetInfo> RemoteClient::StatDataset(
    absl::string_view token, const runtime::CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(ParseToken(token));
  v1::StatRequest request;
  request.set_token(token.data(), token.size());
  HAWSER_ASSIGN_OR_RETURN(
      const v1::DatasetInfoProto reply,
      transport_->Stat(request, CallLimits(call).Rest()));
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info, FromProto(reply));
  if (info.token != token) {
    return Internal(address_, " was asked for ", token, ", answered ",
                    info.token);
  }
  MutexLock lock(&mu_);
  if (datasets_.size() >= kInfosKept) datasets_.clear();
  datasets_[info.token] = info;
  return info;
}

absl::StatusOr<runtime::BufferPtr> RemoteClient::DatasetArray(
    absl::string_view token, absl::string_view array,
    const runtime::CallOptions& call) {
  DatasetInfo info;
  {
    MutexLock lock(&mu_);
    if (auto found = datasets_.find(token); found != datasets_.end()) {
      info = found->second;
    }
  }
  if (info.token.empty()) {
    HAWSER_ASSIGN_OR_RETURN(info, StatDataset(token, call));
  }
  const DatasetInfo::Array* found = info.Find(array);
  if (found == nullptr) {
    return NotFound(
        "dataset ", token, " has no array \"", array, "\", it has ",
        absl::StrJoin(info.arrays, ", ", [](std::string* out, const auto& a) {
          absl::StrAppend(out, "\"", a.name, "\"");
        }));
  }
  return std::make_shared<DatasetBuffer>(shared_from_this(), found->shape,
                                         info.token, found->name);
}

}  // namespace hawser
