#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/status.h"
#include "core/wire/codec.h"
#include "core/wire/columns.h"
#include "google/protobuf/stubs/common.h"

namespace hawser {
namespace {

constexpr int kMaxArrays = 1024;
constexpr int64_t kMaxDatasetBytes = int64_t{1} << 62;

// Reads name and shape, which manifests and infos have in common, and adds the
// size to `bytes`.
template <typename Proto>
absl::StatusOr<Shape> ArrayShape(const Proto& proto, int64_t* bytes) {
  auto shape = FromProto(proto.shape());
  if (!shape.ok()) {
    return Annotate(shape.status(),
                    absl::StrCat("array ", QuotedWireText(proto.name())));
  }
  // One shape is below 2^62 bytes, so this sum does not overflow.
  *bytes += shape->byte_size();
  if (*bytes > kMaxDatasetBytes) {
    return InvalidArgument("a dataset is larger than 2^62 bytes");
  }
  return shape;
}

// Milliseconds since 1970; 0: InfinitePast, the largest: InfiniteFuture.
constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

int64_t ToMillis(absl::Time time) {
  if (time == absl::InfinitePast()) return 0;
  return time == absl::InfiniteFuture() ? kForEver : absl::ToUnixMillis(time);
}

absl::Time FromMillis(int64_t millis) {
  if (millis == kForEver) return absl::InfiniteFuture();
  return millis <= 0 ? absl::InfinitePast() : absl::FromUnixMillis(millis);
}

absl::Status CheckCount(int arrays) {
  if (arrays <= kMaxArrays) return absl::OkStatus();
  return ResourceExhausted("a dataset has ", arrays, " arrays, the limit is ",
                           kMaxArrays);
}

void AppendDigests(const ArrayManifest& array, std::string* to) {
  to->reserve(array.chunks.size() * Digest::kSize);
  for (const Digest& chunk : array.chunks) {
    to->append(chunk.bytes().data(), Digest::kSize);
  }
}

}  // namespace

void SetChunks(const DatasetManifest& manifest, v1::DatasetInfoProto* info) {
  for (size_t i = 0; i < manifest.arrays.size(); ++i) {
    AppendDigests(manifest.arrays[i],
                  info->mutable_arrays(static_cast<int>(i))->mutable_chunks());
  }
}

v1::DatasetManifestProto ToProto(const DatasetManifest& manifest) {
  v1::DatasetManifestProto proto;
  for (const ArrayManifest& array : manifest.arrays) {
    v1::ArrayManifestProto* to = proto.add_arrays();
    to->set_name(array.name);
    *to->mutable_shape() = ToProto(array.shape);
    AppendDigests(array, to->mutable_chunks());
  }
  return proto;
}

absl::StatusOr<DatasetManifest> FromProto(
    const v1::DatasetManifestProto& proto) {
  HAWSER_RETURN_IF_ERROR(CheckCount(proto.arrays_size()));
  DatasetManifest manifest;
  int64_t bytes = 0;
  for (const v1::ArrayManifestProto& array : proto.arrays()) {
    HAWSER_ASSIGN_OR_RETURN(Shape shape, ArrayShape(array, &bytes));
    const absl::string_view digests = array.chunks();
    if (digests.size() % Digest::kSize != 0) {
      return InvalidArgument(
          "array ", QuotedWireText(array.name()), " has ", digests.size(),
          " bytes of digests, no multiple of ", Digest::kSize);
    }
    ArrayManifest to{array.name(), std::move(shape), {}};
    to.chunks.reserve(digests.size() / Digest::kSize);
    for (size_t at = 0; at < digests.size(); at += Digest::kSize) {
      HAWSER_ASSIGN_OR_RETURN(
          Digest digest, Digest::FromBytes(digests.substr(at, Digest::kSize)));
      to.chunks.push_back(digest);
    }
    manifest.arrays.push_back(std::move(to));
  }
  HAWSER_RETURN_IF_ERROR(CheckManifest(manifest));
  return manifest;
}

v1::DatasetInfoProto ToProto(const DatasetInfo& info) {
  v1::DatasetInfoProto proto;
  proto.set_token(info.token);
  for (const DatasetInfo::Array& array : info.arrays) {
    v1::DatasetInfoProto::Array* to = proto.add_arrays();
    to->set_name(array.name);
    *to->mutable_shape() = ToProto(array.shape);
  }
  proto.set_bytes(info.bytes);
  proto.set_durable(info.durable);
  proto.set_being_written(info.being_written);
  proto.set_last_used_ms(ToMillis(info.last_used));
  proto.set_pinned_until_ms(ToMillis(info.pinned_until));
  for (const std::string& tag : info.tags) proto.add_tags(tag);
  return proto;
}

absl::StatusOr<DatasetInfo> FromProto(const v1::DatasetInfoProto& proto) {
  HAWSER_RETURN_IF_ERROR(CheckCount(proto.arrays_size()));
  HAWSER_RETURN_IF_ERROR(ParseToken(proto.token()));
  DatasetInfo info;
  info.token = proto.token();
  int64_t bytes = 0;
  for (const v1::DatasetInfoProto::Array& array : proto.arrays()) {
    HAWSER_ASSIGN_OR_RETURN(Shape shape, ArrayShape(array, &bytes));
    info.arrays.push_back({array.name(), std::move(shape)});
  }
  if (proto.bytes() != bytes) {
    return InvalidArgument("dataset claims ", proto.bytes(),
                           " bytes, its arrays have ", bytes);
  }
  info.bytes = bytes;
  info.durable = proto.durable();
  info.being_written = proto.being_written();
  info.last_used = FromMillis(proto.last_used_ms());
  info.pinned_until = FromMillis(proto.pinned_until_ms());
  for (const std::string& tag : proto.tags()) {
    HAWSER_RETURN_IF_ERROR(CheckTag(tag));
    info.tags.push_back(tag);
  }
  return info;
}

v1::ListReply ToProto(const DatasetPage& page) {
  v1::ListReply proto;
  for (const DatasetInfo& info : page.datasets) {
    *proto.add_datasets() = ToProto(info);
  }
  proto.set_more(page.more);
  return proto;
}

absl::StatusOr<DatasetPage> FromProto(const v1::ListReply& proto) {
  DatasetPage page;
  page.more = proto.more();
  for (const v1::DatasetInfoProto& info : proto.datasets()) {
    HAWSER_ASSIGN_OR_RETURN(DatasetInfo one, FromProto(info));
    page.datasets.push_back(std::move(one));
  }
  return page;
}

v1::UsageReply ToProto(const DatasetUsage& usage) {
  v1::UsageReply proto;
  proto.set_datasets(usage.datasets);
  proto.set_bytes(usage.bytes);
  proto.set_upload_bytes(usage.upload_bytes);
  proto.set_pinned_bytes(usage.pinned_bytes);
  proto.set_max_datasets(usage.max_datasets);
  proto.set_max_bytes(usage.max_bytes);
  proto.set_bad_files(usage.bad_files);
  proto.set_lost_bytes(usage.lost_bytes);
  proto.set_memory_held(usage.memory_held);
  proto.set_memory_limit(usage.memory_limit);
  proto.set_all_memory_held(usage.all_memory_held);
  proto.set_all_memory_limit(usage.all_memory_limit);
  return proto;
}

DatasetUsage FromProto(const v1::UsageReply& proto) {
  return {.datasets = proto.datasets(),
          .bytes = proto.bytes(),
          .upload_bytes = proto.upload_bytes(),
          .pinned_bytes = proto.pinned_bytes(),
          .max_datasets = proto.max_datasets(),
          .max_bytes = proto.max_bytes(),
          .bad_files = proto.bad_files(),
          .lost_bytes = proto.lost_bytes(),
          .memory_held = proto.memory_held(),
          .memory_limit = proto.memory_limit(),
          .all_memory_held = proto.all_memory_held(),
          .all_memory_limit = proto.all_memory_limit()};
}

}  // namespace hawser
