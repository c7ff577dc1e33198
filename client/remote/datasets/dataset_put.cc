#include "client/remote/datasets/dataset_put.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/remote/datasets/numbered_ask.h"
#include "core/base/clock.h"
#include "core/base/process/mapped_file.h"
#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"
#include "core/runtime/attempt.h"
#include "core/wire/codec.h"
#include "core/wire/dataset_verbs.h"

namespace hawser {
namespace {

// Digests in one question, of 64 GiB: half a MiB.
constexpr size_t kMostDigests = 1 << 14;
// A server may evict what FindMissing found before Commit.
constexpr int kCommitAttempts = 3;
// Lazy values are made when they are sent, so many bytes of them at once.
constexpr int64_t kMostLazyBytes = int64_t{256} << 20;

}  // namespace

DatasetPut::DatasetPut(RemoteLink* link, const DatasetSource& source,
                       const runtime::CallOptions& call)
    : link_(link),
      cancel_(runtime::AttemptToken(call)),
      groups_(link->bulk_streams()),
      progress_(call.progress) {
  int64_t lazy_bytes = 0;  // of the last stage
  for (const DatasetSource::Array& array : source.arrays) {
    ArrayManifest m{array.name, array.shape(), {}};
    const bool known =
        static_cast<int64_t>(array.chunks.size()) == m.num_chunks();
    if (array.lazy.has_value()) {
      const int64_t bytes = m.shape.byte_size();
      if (lazy_bytes > 0 && lazy_bytes + bytes > kMostLazyBytes) {
        stage_ends_.push_back(chunks_.size());
        lazy_bytes = 0;
      }
      lazy_bytes += bytes;
      lazy_.push_back({&array, chunks_.size()});
    }
    for (int64_t i = 0; i < m.num_chunks(); ++i) {
      chunks_.push_back(
          {{.digest = known ? array.chunks[i] : Digest()}, m.chunk_size(i)});
      if (!array.lazy.has_value()) Place(array.value, i, &chunks_.back());
    }
    progress_.AddToTotal(m.shape.byte_size());
    manifest_.arrays.push_back(std::move(m));
  }
  stage_ends_.push_back(chunks_.size());
}

void DatasetPut::Place(const Literal& value, int64_t index, Chunk* chunk) {
  chunk->put.bytes = value.bytes().subspan(index * kChunkBytes, chunk->size);
  chunk->put.owner = value;
}

absl::StatusOr<DatasetInfo> DatasetPut::Run() {
  for (int attempt = 1;; ++attempt) {
    HAWSER_RETURN_IF_ERROR(AskForKnown());
    size_t begin = 0;
    for (const size_t end : stage_ends_) {
      HAWSER_RETURN_IF_ERROR(SendStage(begin, end));
      begin = end;
    }
    auto info = Commit();
    if (!absl::IsFailedPrecondition(info.status())) return info;
    if (attempt == kCommitAttempts) {
      return Unavailable(link_->transport()->address(), ": ", attempt,
                         " times it had all chunks and then lacked one: ",
                         info.status().message());
    }
    MutexLock lock(&mu_);
    asked_.clear();
    progress_.Restart();
  }
}

absl::Status DatasetPut::SendStage(size_t begin, size_t end) {
  const auto is_in = [&](const LazyArray& lazy) {
    return lazy.first >= begin && lazy.first < end;
  };
  absl::Status sent;
  for (const LazyArray& lazy : lazy_) {
    if (sent.ok() && is_in(lazy)) sent = MakeValue(lazy);
  }
  if (sent.ok()) sent = SendAll(begin, end);
  // Bytes that changed on the way explain whatever the server made of them.
  HAWSER_RETURN_IF_ERROR(
      CheckSources(absl::MakeSpan(chunks_).subspan(begin, end - begin)));
  HAWSER_RETURN_IF_ERROR(sent);
  for (const LazyArray& lazy : lazy_) {
    if (!is_in(lazy)) continue;
    for (Chunk& chunk : ChunksOf(lazy)) {
      chunk.put.bytes = {};
      chunk.put.owner = Literal();
    }
  }
  return absl::OkStatus();
}

DatasetPut::Chunks DatasetPut::ChunksOf(const LazyArray& lazy) {
  return absl::MakeSpan(chunks_).subspan(lazy.first, lazy.array->chunks.size());
}

absl::Status DatasetPut::CheckSources(Chunks chunks) const {
  const char* checked = nullptr;
  for (const Chunk& chunk : chunks) {
    const ChunkToPut& put = chunk.put;
    if (!put.owner.valid() || put.owner.bytes().data() == checked) continue;
    checked = put.owner.bytes().data();
    HAWSER_RETURN_IF_ERROR(CheckUnchanged(put.owner.bytes()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint32_t>> DatasetPut::Missing(
    absl::Span<const Digest> digests) {
  v1::FindMissingRequest request;
  request.set_upload(upload_);
  for (const Digest& digest : digests) {
    absl::StrAppend(request.mutable_digests(), digest.bytes());
  }
  HAWSER_ASSIGN_OR_RETURN(
      const v1::FindMissingReply reply,
      link_->transport()->Ask<FindMissingMethod>(request, {.cancel = cancel_}));
  for (uint32_t index : reply.missing()) {
    if (index < digests.size()) continue;
    return BrokenProtocol(link_->transport()->address(), "it misses chunk ",
                          index, " of ", digests.size());
  }
  return std::vector<uint32_t>(reply.missing().begin(), reply.missing().end());
}

absl::Status DatasetPut::AskForKnown() {
  std::vector<Digest> known;
  for (const Chunk& chunk : chunks_) {
    if (chunk.put.digest != Digest()) known.push_back(chunk.put.digest);
  }
  const auto all = absl::MakeConstSpan(known);
  for (size_t at = 0; at < all.size(); at += kMostDigests) {
    const auto part = all.subspan(at, kMostDigests);
    HAWSER_ASSIGN_OR_RETURN(const std::vector<uint32_t> missing, Missing(part));
    absl::flat_hash_set<Digest> lacks;
    for (uint32_t index : missing) lacks.insert(part[index]);
    MutexLock lock(&mu_);
    for (const Digest& digest : part) {
      if (!lacks.contains(digest)) asked_.insert(digest);
    }
  }
  return absl::OkStatus();
}

bool DatasetPut::AllAreThere(Chunks chunks) {
  MutexLock lock(&mu_);
  for (const Chunk& chunk : chunks) {
    if (!asked_.contains(chunk.put.digest)) return false;
  }
  return true;
}

absl::Status DatasetPut::MakeValue(const LazyArray& lazy) {
  const Chunks own = ChunksOf(lazy);
  if (AllAreThere(own)) return absl::OkStatus();
  HAWSER_RETURN_IF_ERROR(
      Annotate(cancel_.Check(), link_->transport()->address()));
  HAWSER_ASSIGN_OR_RETURN(const Literal value, lazy.array->Value());
  for (size_t i = 0; i < own.size(); ++i) Place(value, i, &own[i]);
  return absl::OkStatus();
}

absl::Status DatasetPut::SendAll(size_t begin, size_t end) {
  groups_.Begin(begin, end);
  const size_t workers = std::min(groups_.workers(), end - begin);
  return OnThreads(static_cast<int>(workers),
                   [this](int) { return SendGroups(); });
}

absl::Status DatasetPut::SendGroups() {
  while (true) {
    const ChunkGroups::Group group = groups_.Take();
    if (group.size == 0) return absl::OkStatus();
    const absl::Status sent =
        SendGroup(absl::MakeSpan(chunks_).subspan(group.first, group.size));
    if (sent.ok()) continue;
    groups_.Fail();
    return sent;
  }
}

absl::Status DatasetPut::SendGroup(Chunks group) {
  HAWSER_RETURN_IF_ERROR(
      Annotate(cancel_.Check(), link_->transport()->address()));
  std::vector<Digest> asked;
  std::vector<const ChunkToPut*> puts;  // as many
  int64_t bytes = 0;
  for (Chunk& chunk : group) {
    ChunkToPut& put = chunk.put;
    if (put.digest == Digest()) put.digest = Sha256(put.bytes);
    bytes += chunk.size;
    MutexLock lock(&mu_);
    if (!asked_.insert(put.digest).second) continue;
    asked.push_back(put.digest);
    puts.push_back(&put);
  }
  std::vector<ChunkToPut> missing;
  int64_t missing_bytes = 0;
  if (!asked.empty()) {
    HAWSER_ASSIGN_OR_RETURN(const std::vector<uint32_t> indices,
                            Missing(asked));
    for (uint32_t index : indices) {
      missing.push_back(*puts[index]);
      missing_bytes += puts[index]->bytes.size();
    }
  }
  progress_.Add(bytes - missing_bytes);
  HAWSER_RETURN_IF_ERROR(SendOnOneStream(missing));
  sent_bytes_ += missing_bytes;
  return absl::OkStatus();
}

absl::Status DatasetPut::SendOnOneStream(absl::Span<const ChunkToPut> chunks) {
  if (chunks.empty()) return absl::OkStatus();
  runtime::CallOptions call = {.cancel = cancel_};
  int64_t reported = 0;
  call.progress = [&](int64_t done, int64_t) {
    progress_.Add(done - reported);
    reported = done;
  };
  return link_->transport()->PutChunks(upload_, chunks, call);
}

bool DatasetPut::IsBeingWritten(const std::string& token) {
  if (!link_->options().wait_durable) return false;
  v1::StatRequest request;
  request.set_token(token);
  const auto info = link_->transport()->Ask<OnWire<StatDataset>>(
      request,
      {.cancel = cancel_.Until(SteadyNow() + link_->options().silence / 4)});
  return info.ok() && info->token() == token && info->being_written();
}

absl::StatusOr<DatasetInfo> DatasetPut::Commit() {
  auto chunk = chunks_.begin();
  for (ArrayManifest& array : manifest_.arrays) {
    array.chunks.clear();
    for (int64_t i = 0; i < array.num_chunks(); ++i) {
      array.chunks.push_back((chunk++)->put.digest);
    }
  }
  v1::CommitRequest request;
  request.set_upload(upload_);
  *request.mutable_manifest() = ToProto(manifest_);
  request.set_wait_durable(link_->options().wait_durable);
  const std::string token = TokenOf(manifest_);
  absl::StatusOr<v1::DatasetInfoProto> answer;
  do {
    answer = AskNumbered<CommitMethod>(link_, request, cancel_);
    // An older server does not say so of a number, and may still write what
    // is there already, for as long as its disk takes.
  } while (absl::IsUnavailable(answer.status()) && IsBeingWritten(token));
  HAWSER_RETURN_IF_ERROR(answer);
  const v1::DatasetInfoProto& reply = *answer;
  if (reply.token() != token) {
    return BrokenProtocol(link_->transport()->address(),
                          "it calls the dataset \"", reply.token(),
                          "\", its name is ", token);
  }
  absl::StatusOr<DatasetInfo> info = FromProto(reply);
  if (!info.ok()) {
    return BrokenProtocol(link_->transport()->address(),
                          "the answer to Commit: ", info.status().message());
  }
  info->sent_bytes = sent_bytes_;
  return info;
}

}  // namespace hawser
