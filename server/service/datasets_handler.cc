#include "server/service/datasets_handler.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// They cover 256 GiB and are looked up in about 10 ms, with the store's lock
// held.
constexpr size_t kMaxDigests = 1 << 16;

absl::Status CheckUpload(uint64_t upload) {
  if (upload != 0) return absl::OkStatus();
  return InvalidArgument("upload 0: each put has a number, any but 0");
}

}  // namespace

// ---- Put ------------------------------------------------------------------

void PutStream::Frame(const v1::PutChunk& header, uint64_t size, Ready ready) {
  if (header.digest().empty()) {
    if (chunk_ == nullptr) {
      return ready(InvalidArgument("the first frame of a chunk names it"));
    }
    if (size > static_cast<uint64_t>(chunk_->missing())) {
      return ready(InvalidArgument("a frame of ", size, " bytes for chunk ",
                                   chunk_->digest().ToHex(), ", which lacks ",
                                   chunk_->missing()));
    }
    return ready(absl::OkStatus());
  }
  const auto name = Digest::FromBytes(header.digest());
  if (!name.ok()) return ready(name.status());
  if (chunk_ != nullptr) {
    return ready(InvalidArgument("chunk ", name->ToHex(), " begins while ",
                                 chunk_->digest().ToHex(), " lacks ",
                                 chunk_->missing(), " bytes"));
  }
  if (size > header.chunk_bytes()) {
    return ready(InvalidArgument("a frame of ", size, " bytes for chunk ",
                                 name->ToHex(), " of ", header.chunk_bytes()));
  }
  const absl::Status upload = CheckUpload(header.upload());
  if (!upload.ok()) return ready(upload);
  store_->BeginChunk(
      tenant_, header.upload(), *name, header.chunk_bytes(),
      [this, ready = std::move(ready)](
          absl::StatusOr<std::unique_ptr<ChunkReceiver>> receiver) {
        if (receiver.ok()) chunk_ = *std::move(receiver);
        ready(receiver.status());
      });
}

absl::Status PutStream::Filled(int64_t n) {
  chunk_->Advance(n);
  if (chunk_->missing() > 0) return absl::OkStatus();
  const std::unique_ptr<ChunkReceiver> whole = std::move(chunk_);
  HAWSER_RETURN_IF_ERROR(whole->Finish());
  reply_.set_chunks(reply_.chunks() + 1);
  reply_.set_bytes(reply_.bytes() + whole->size());
  return absl::OkStatus();
}

absl::StatusOr<v1::PutReply> PutStream::Finish() const {
  if (chunk_ == nullptr) return reply_;
  return DataLoss("the stream ended ", chunk_->missing(),
                  " bytes before the end of chunk ", chunk_->digest().ToHex());
}

// ---- Get ------------------------------------------------------------------

RowReader::RowReader(DatasetStore* store, ThreadPool* workers, std::string what,
                     std::shared_ptr<const StoredArray> array, RowBytes rows)
    : store_(store),
      workers_(workers),
      what_(std::move(what)),
      array_(std::move(array)),
      shape_(std::move(rows.shape)),
      at_(rows.begin),
      end_(rows.end) {}

absl::StatusOr<Piece> RowReader::ReadNext() {
  if (at_ >= end_) return Piece{};
  const int64_t index = at_ / kChunkBytes;
  absl::StatusOr<ChunkBytes> loaded =
      store_->LoadChunk(*array_, static_cast<size_t>(index));
  if (!loaded.ok()) return Annotate(loaded.status(), what_);
  const ChunkBytes& chunk = *loaded;
  const int64_t begin = at_ - index * kChunkBytes;
  const int64_t n = std::min(chunk.size - begin, end_ - at_);
  at_ += n;
  return Piece{chunk.data, absl::MakeConstSpan(chunk.data.get() + begin,
                                               static_cast<size_t>(n))};
}

void RowReader::Next(PieceDone done) {
  workers_->Schedule([self = shared_from_this(), done = std::move(done)] {
    done(self->ReadNext());
  });
}

namespace {

absl::StatusOr<RowBytes> ChunksOf(const Shape& shape,
                                  const v1::GetRequest& request) {
  const int64_t chunks = (shape.byte_size() + kChunkBytes - 1) / kChunkBytes;
  const int64_t first = request.first_chunk();
  const int64_t count = request.chunk_count();
  if (first < 0 || first > chunks || count < 1 || count > chunks - first ||
      request.row_begin() != 0 || request.row_count() != 0) {
    return InvalidArgument(count, " chunks from ", first, " on, of ", chunks,
                           " chunks of ", shape.ToString());
  }
  const int64_t begin = first * kChunkBytes;
  const int64_t end =
      std::min((first + count) * kChunkBytes, shape.byte_size());
  return RowBytes{Shape::Of(DType::kU8, {end - begin}), begin, end};
}

absl::StatusOr<RowBytes> RowsOf(const Shape& shape,
                                const v1::GetRequest& request) {
  if (request.first_chunk() != 0 || request.chunk_count() != 0) {
    return ChunksOf(shape, request);
  }
  if (request.row_begin() == 0 && request.row_count() == 0) {
    return RowBytes{shape, 0, shape.byte_size()};
  }
  RowRange rows{request.row_begin(), request.row_count()};
  const bool to_the_end = rows.count == 0 && shape.rank() > 0 &&
                          rows.begin >= 0 && rows.begin <= shape.dim(0);
  if (to_the_end) rows.count = shape.dim(0) - rows.begin;
  return FindRows(shape, rows);
}

}  // namespace

// ---- the service ----------------------------------------------------------

absl::StatusOr<v1::FindMissingReply> DatasetsHandler::FindMissing(
    absl::string_view tenant, const v1::FindMissingRequest& request) {
  HAWSER_RETURN_IF_ERROR(CheckUpload(request.upload()));
  absl::string_view bytes = request.digests();
  if (bytes.size() % Digest::kSize != 0) {
    return InvalidArgument(bytes.size(), " bytes are no list of digests");
  }
  const size_t count = bytes.size() / Digest::kSize;
  if (count > kMaxDigests) {
    return ResourceExhausted(count, " digests in one request, the most is ",
                             kMaxDigests);
  }
  std::vector<Digest> digests;
  digests.reserve(count);
  for (; !bytes.empty(); bytes.remove_prefix(Digest::kSize)) {
    digests.push_back(*Digest::FromBytes(bytes.substr(0, Digest::kSize)));
  }
  v1::FindMissingReply reply;
  HAWSER_ASSIGN_OR_RETURN(
      const std::vector<uint32_t> missing,
      store_->FindMissing(tenant, request.upload(), digests));
  reply.mutable_missing()->Add(missing.begin(), missing.end());
  return reply;
}

std::unique_ptr<PutStream> DatasetsHandler::Put(absl::string_view tenant) {
  return std::make_unique<PutStream>(store_, std::string(tenant));
}

void DatasetsHandler::Answer(FindMissingMethod, absl::string_view tenant,
                             const v1::FindMissingRequest& request,
                             const Done<FindMissingMethod>& done) {
  done(FindMissing(tenant, request));
}

void DatasetsHandler::Answer(CommitMethod, absl::string_view tenant,
                             const v1::CommitRequest& request,
                             Done<CommitMethod> done) {
  const absl::Status upload = CheckUpload(request.upload());
  if (!upload.ok()) return done(upload);
  auto manifest = FromProto(request.manifest());
  if (!manifest.ok()) return done(manifest.status());
  store_->Commit(tenant, request.upload(), *std::move(manifest),
                 request.wait_durable(),
                 [done = std::move(done)](absl::StatusOr<DatasetInfo> info) {
                   if (!info.ok()) return done(info.status());
                   done(ToProto(*info));
                 });
}

absl::StatusOr<std::shared_ptr<RowReader>> DatasetsHandler::Get(
    absl::string_view tenant, const v1::GetRequest& request) {
  HAWSER_ASSIGN_OR_RETURN(
      auto array, store_->Find(tenant, request.token(), request.array()));
  HAWSER_ASSIGN_OR_RETURN(RowBytes rows, RowsOf(array->shape, request));
  return std::make_shared<RowReader>(
      store_, workers_, DescribeArray(request.token(), request.array()),
      std::move(array), std::move(rows));
}

absl::StatusOr<v1::DatasetInfoProto> DatasetsHandler::StatWithDigests(
    absl::string_view tenant, absl::string_view token) {
  HAWSER_ASSIGN_OR_RETURN(const DatasetInfo info, store_->Stat(tenant, token));
  HAWSER_ASSIGN_OR_RETURN(const DatasetManifest manifest,
                          store_->Manifest(tenant, info.token));
  v1::DatasetInfoProto proto = ToProto(info);
  SetChunks(manifest, &proto);
  return proto;
}

void DatasetsHandler::Answer(OnWire<StatDataset>, absl::string_view tenant,
                             const v1::StatRequest& request,
                             Done<OnWire<StatDataset>> done) {
  if (!request.digests()) {
    return ServeVerb<StatDataset>(tenant, request, std::move(done));
  }
  done(StatWithDigests(tenant, request.token()));
}

}  // namespace hawser::server
