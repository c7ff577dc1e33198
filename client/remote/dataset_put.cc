#include "client/remote/dataset_put.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

// Chunks asked about and sent together: 64 MiB, which hides the round trip of
// the question, and after which a cancel is noticed while hashing.
constexpr size_t kBatch = 16;
// A server may evict what FindMissing found before Commit.
constexpr int kCommitAttempts = 3;

void HashChunks(absl::Span<ChunkToPut> chunks) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < chunks.size();) {
      chunks[i].digest = Sha256(chunks[i].bytes);
    }
  };
  std::vector<std::thread> others;
  const size_t threads = std::min<size_t>(
      std::max(std::thread::hardware_concurrency(), 1u), chunks.size());
  for (size_t t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
}

}  // namespace

DatasetPut::DatasetPut(Transport* transport, const RemoteOptions& options,
                       const DatasetSource& source,
                       const runtime::CallOptions& call)
    : transport_(transport),
      options_(options),
      limits_(call),
      progress_(call.progress) {
  for (const DatasetSource::Array& array : source.arrays) {
    ArrayManifest m{array.name, array.value.shape(), {}};
    for (int64_t i = 0; i < m.num_chunks(); ++i) {
      chunks_.push_back({Digest(),
                         array.value.bytes().subspan(i * kChunkBytes,
                                                     m.chunk_size(i)),
                         array.value});
    }
    total_bytes_ += m.shape.byte_size();
    manifest_.arrays.push_back(std::move(m));
  }
}

absl::StatusOr<DatasetInfo> DatasetPut::Run() {
  for (int attempt = 1;; ++attempt) {
    HAWSER_RETURN_IF_ERROR(SendAll(/*hash=*/attempt == 1));
    auto info = Commit();
    if (absl::IsFailedPrecondition(info.status()) &&
        attempt < kCommitAttempts) {
      there_.clear();
      done_bytes_ = 0;
      continue;
    }
    return info;
  }
}

absl::Status DatasetPut::SendAll(bool hash) {
  const Chunks all = absl::MakeSpan(chunks_);
  if (hash) HashChunks(all.subspan(0, kBatch));
  for (size_t begin = 0; begin < all.size(); begin += kBatch) {
    HAWSER_RETURN_IF_ERROR(limits_.Check(absl::Now(), transport_->address()));
    std::thread next;
    if (hash && begin + kBatch < all.size()) {
      next = std::thread(
          [&] { HashChunks(all.subspan(begin + kBatch, kBatch)); });
    }
    const absl::Status status = SendMissing(all.subspan(begin, kBatch));
    if (next.joinable()) next.join();
    HAWSER_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status DatasetPut::SendMissing(Chunks batch) {
  std::vector<ChunkToPut> asked;
  std::string digests;
  int64_t bytes = 0;
  for (const ChunkToPut& chunk : batch) {
    bytes += chunk.bytes.size();
    if (!there_.insert(chunk.digest).second) continue;
    asked.push_back(chunk);
    absl::StrAppend(&digests, chunk.digest.bytes());
  }
  std::vector<ChunkToPut> missing;
  int64_t missing_bytes = 0;
  if (!asked.empty()) {
    v1::FindMissingRequest request;
    request.set_digests(std::move(digests));
    HAWSER_ASSIGN_OR_RETURN(const v1::FindMissingReply reply,
                            transport_->FindMissing(request, limits_.Rest()));
    for (uint32_t index : reply.missing()) {
      if (index >= asked.size()) {
        return Internal(transport_->address(), " misses chunk ", index, " of ",
                        asked.size());
      }
      missing.push_back(asked[index]);
      missing_bytes += asked[index].bytes.size();
    }
  }
  Report(bytes - missing_bytes);
  HAWSER_RETURN_IF_ERROR(SendOnStreams(missing));
  sent_bytes_ += missing_bytes;
  return absl::OkStatus();
}

absl::Status DatasetPut::SendOnStreams(
    const std::vector<ChunkToPut>& missing) {
  if (missing.empty()) return absl::OkStatus();
  const size_t streams = std::min<size_t>(std::max(options_.bulk_threads, 1),
                                          missing.size());
  const size_t share = (missing.size() + streams - 1) / streams;
  const absl::Span<const ChunkToPut> all(missing);
  std::vector<absl::Status> statuses(streams);
  std::vector<std::thread> others;
  for (size_t s = 1; s < streams; ++s) {
    others.emplace_back([&, s] {
      statuses[s] = SendOnOneStream(
          all.subspan(std::min(s * share, all.size()), share));
    });
  }
  statuses[0] = SendOnOneStream(all.subspan(0, share));
  for (std::thread& thread : others) thread.join();
  for (const absl::Status& status : statuses) HAWSER_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

absl::Status DatasetPut::SendOnOneStream(absl::Span<const ChunkToPut> chunks) {
  if (chunks.empty()) return absl::OkStatus();
  runtime::CallOptions call = limits_.Rest();
  int64_t reported = 0;
  call.progress = [&](int64_t done, int64_t) {
    Report(done - reported);
    reported = done;
  };
  return transport_->PutChunks(chunks, call);
}

void DatasetPut::Report(int64_t more) {
  const int64_t done = done_bytes_.fetch_add(more) + more;
  if (progress_ && more != 0) progress_(done, total_bytes_);
}

absl::StatusOr<DatasetInfo> DatasetPut::Commit() {
  auto chunk = chunks_.begin();
  for (ArrayManifest& array : manifest_.arrays) {
    array.chunks.clear();
    for (int64_t i = 0; i < array.num_chunks(); ++i) {
      array.chunks.push_back((chunk++)->digest);
    }
  }
  v1::CommitRequest request;
  *request.mutable_manifest() = ToProto(manifest_);
  request.set_wait_durable(options_.wait_durable);
  HAWSER_ASSIGN_OR_RETURN(const v1::DatasetInfoProto reply,
                          transport_->Commit(request, limits_.Rest()));
  HAWSER_ASSIGN_OR_RETURN(DatasetInfo info, FromProto(reply));
  if (const std::string token = TokenOf(manifest_); info.token != token) {
    return Internal(transport_->address(), " calls the dataset ", info.token,
                    ", its name is ", token);
  }
  info.sent_bytes = sent_bytes_;
  return info;
}

}  // namespace hawser
