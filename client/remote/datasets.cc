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

absl::Status CheckName(absl::string_view name) {
  return IsTag(name) ? CheckTag(name) : ParseToken(name).status();
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
  return NotFound(
      "dataset ", token, " has no array \"", array, "\", it has ",
      absl::StrJoin(info.arrays, ", ", [](std::string* out, const auto& a) {
        absl::StrAppend(out, "\"", a.name, "\"");
      }));
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
  HAWSER_ASSIGN_OR_RETURN(Shape shape, DatasetShape(token, array, call));
  v1::GetRequest request;
  request.set_token(token.data(), token.size());
  request.set_array(array.data(), array.size());
  if (rows.has_value()) {
    absl::StatusOr<RowBytes> part = FindRows(shape, *rows);
    if (!part.ok()) {
      return Annotate(part.status(), DescribeArray(token, array));
    }
    shape = std::move(part->shape);
    request.set_row_begin(rows->begin);
    request.set_row_count(rows->count);
  }
  HAWSER_RETURN_IF_ERROR(CheckRoom(token, array, shape, into.size()));
  if (into.empty()) return absl::OkStatus();  // no rows would mean all of them
  return GetDataset(transport_.get(), bulk_streams(), request, shape, into,
                    call);
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
