// The dataset methods of RemoteClient.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/remote/call_limits.h"
#include "client/remote/dataset_get.h"
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
// Some 64 MiB of them: of 8 TiB.
constexpr int64_t kDigestsKept = int64_t{1} << 21;

absl::Status CheckName(absl::string_view name) {
  return IsTag(name) ? CheckTag(name) : ParseToken(name).status();
}

absl::Status NoSuchArray(absl::string_view token, absl::string_view array,
                         const DatasetInfo& info) {
  return NotFound(
      "dataset ", token, " has no array \"", array, "\", it has ",
      absl::StrJoin(info.arrays, ", ", [](std::string* out, const auto& a) {
        absl::StrAppend(out, "\"", a.name, "\"");
      }));
}

}  // namespace

absl::StatusOr<DatasetInfo> RemoteClient::PutDataset(
    const DatasetSource& source, const runtime::CallOptions& call) {
  DatasetSource normal = source;
  HAWSER_RETURN_IF_ERROR(NormalizeSource(&normal));
  DatasetPut put(transport_.get(), options_, normal, call);
  return put.Run();
}

absl::StatusOr<DatasetInfo> RemoteClient::Learn(
    const v1::DatasetInfoProto& proto) {
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info, FromProto(proto));
  MutexLock lock(&mu_);
  if (datasets_.size() >= kInfosKept) datasets_.clear();
  datasets_[info.token] = info;
  return info;
}

absl::StatusOr<DatasetInfo> RemoteClient::LearnOf(
    absl::string_view asked, const v1::DatasetInfoProto& proto) {
  if (IsTag(asked) || proto.token() == asked) return Learn(proto);
  return Internal(address_, " was asked for ", asked, ", answered ",
                  proto.token());
}

absl::StatusOr<DatasetInfo> RemoteClient::StatDataset(
    absl::string_view token, const runtime::CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(CheckName(token));
  v1::StatRequest request;
  request.set_token(token.data(), token.size());
  HAWSER_ASSIGN_OR_RETURN(const v1::DatasetInfoProto reply,
                          transport_->Stat(request, CallLimits(call).Rest()));
  return LearnOf(token, reply);
}

absl::StatusOr<Shape> RemoteClient::DatasetShape(
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
  if (found != nullptr) return found->shape;
  return NoSuchArray(token, array, info);
}

absl::StatusOr<runtime::BufferPtr> RemoteClient::DatasetArray(
    absl::string_view token, absl::string_view array,
    const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(Shape shape, DatasetShape(token, array, call));
  return std::make_shared<DatasetBuffer>(shared_from_this(), std::move(shape),
                                         std::string(token),
                                         std::string(array));
}

absl::StatusOr<runtime::BufferPtr> RemoteClient::DatasetRows(
    absl::string_view token, absl::string_view array, const RowRange& rows,
    const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const Shape shape, DatasetShape(token, array, call));
  absl::StatusOr<RowBytes> found = FindRows(shape, rows);
  if (!found.ok()) {
    return Annotate(found.status(), DescribeArray(token, array));
  }
  return std::make_shared<DatasetBuffer>(
      shared_from_this(), std::move(found->shape), std::string(token),
      std::string(array), rows);
}

absl::Status RemoteClient::FetchDataset(absl::string_view token,
                                        absl::string_view array,
                                        const std::optional<RowRange>& rows,
                                        absl::Span<char> into,
                                        const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const CheckedPart part,
                          FindPart(token, array, rows, call));
  Shape shape = part.array->shape;
  if (rows.has_value()) {
    HAWSER_ASSIGN_OR_RETURN(const RowBytes found, FindRows(shape, *rows));
    shape = found.shape;
  }
  HAWSER_RETURN_IF_ERROR(CheckRoom(token, array, shape, into.size()));
  return GetDataset(transport_.get(), bulk_streams(), part, into, call);
}

absl::StatusOr<std::shared_ptr<const DatasetManifest>> RemoteClient::Manifest(
    absl::string_view name, const runtime::CallOptions& call) {
  {
    MutexLock lock(&mu_);
    const auto found = manifests_.find(name);
    if (found != manifests_.end()) return found->second;
  }
  HAWSER_RETURN_IF_ERROR(CheckName(name));
  HAWSER_ASSIGN_OR_RETURN(auto manifest,
                          FetchManifest(transport_.get(), name, call));
  MutexLock lock(&mu_);
  if (digests_kept_ >= kDigestsKept) {
    manifests_.clear();
    digests_kept_ = 0;
  }
  for (const ArrayManifest& array : manifest->arrays) {
    digests_kept_ += static_cast<int64_t>(array.chunks.size()) + 1;
  }
  manifests_[TokenOf(*manifest)] = manifest;
  return manifest;
}

absl::StatusOr<CheckedPart> RemoteClient::FindPart(
    absl::string_view name, absl::string_view array,
    const std::optional<RowRange>& rows, const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(auto manifest, Manifest(name, call));
  CheckedPart part{.manifest = std::move(manifest), .rows = rows};
  for (const ArrayManifest& found : part.manifest->arrays) {
    if (found.name == array) part.array = &found;
  }
  if (part.array == nullptr) {
    return NoSuchArray(name, array, InfoOf(*part.manifest));
  }
  if (!rows.has_value()) return part;
  const absl::Status found = FindRows(part.array->shape, *rows).status();
  if (!found.ok()) return Annotate(found, DescribeArray(name, array));
  return part;
}

absl::StatusOr<DatasetPage> RemoteClient::ListDatasets(
    const DatasetQuery& query, const runtime::CallOptions& call) {
  v1::ListRequest request;
  request.set_prefix(query.prefix);
  request.set_after(query.after);
  request.set_limit(static_cast<uint32_t>(std::max(query.limit, 0)));
  HAWSER_ASSIGN_OR_RETURN(const v1::ListReply reply,
                          transport_->List(request, CallLimits(call).Rest()));
  DatasetPage page;
  page.more = reply.more();
  for (const v1::DatasetInfoProto& proto : reply.datasets()) {
    HAWSER_ASSIGN_OR_RETURN(DatasetInfo info, FromProto(proto));
    page.datasets.push_back(std::move(info));
  }
  // A page without an end would be asked for again and again.
  if (!page.more || !page.datasets.empty()) return page;
  return Internal(address_, " says there are more datasets behind \"",
                  query.after, "\", and names none");
}

absl::Status RemoteClient::DeleteDataset(absl::string_view token,
                                         const runtime::CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(ParseToken(token));
  v1::DeleteRequest request;
  request.set_token(token.data(), token.size());
  const absl::Status deleted =
      transport_->Delete(request, CallLimits(call).Rest()).status();
  if (deleted.ok() || absl::IsNotFound(deleted)) {
    MutexLock lock(&mu_);
    datasets_.erase(token);
    manifests_.erase(token);
  }
  return deleted;
}

absl::StatusOr<DatasetInfo> RemoteClient::PinDataset(
    absl::string_view token, absl::Duration ttl,
    const runtime::CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(CheckName(token));
  if (ttl < absl::ZeroDuration()) {
    return InvalidArgument("a pin of ", absl::FormatDuration(ttl));
  }
  v1::PinRequest request;
  request.set_token(token.data(), token.size());
  // Infinite: the largest there is.
  request.set_ttl_ms(absl::ToInt64Milliseconds(ttl));
  HAWSER_ASSIGN_OR_RETURN(const v1::DatasetInfoProto reply,
                          transport_->Pin(request, CallLimits(call).Rest()));
  return LearnOf(token, reply);
}

absl::Status RemoteClient::TagDataset(const DatasetTag& tag,
                                      const runtime::CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(CheckTag(tag.name));
  v1::TagRequest request;
  request.set_name(tag.name);
  request.set_token(tag.token);
  if (tag.expected.has_value()) request.set_expected(*tag.expected);
  return transport_->Tag(request, CallLimits(call).Rest()).status();
}

absl::StatusOr<DatasetUsage> RemoteClient::QueryUsage(
    const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const v1::UsageReply reply,
                          transport_->Usage({}, CallLimits(call).Rest()));
  return FromProto(reply);
}

}  // namespace hawser
