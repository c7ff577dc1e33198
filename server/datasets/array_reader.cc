#include "server/datasets/array_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/status.h"

namespace hawser::server {

void ArrayReader::MakeRoom(int64_t bytes) {
  MutexLock lock(&state_.mu);
  retention_->MakeRoom(bytes);
}

absl::StatusOr<ChunkBytes> ArrayReader::BytesOf(
    const std::shared_ptr<Chunk>& chunk) {
  {
    MutexLock lock(&state_.mu);
    if (chunk->data != nullptr) {
      state_.catalog.table.Touch(*chunk);
      return ChunkBytes{chunk->data, chunk->size};
    }
    if (!chunk->on_disk) {
      return DataLoss("chunk ", chunk->digest.ToHex(),
                      " was damaged; put the dataset again");
    }
  }
  MakeRoom(chunk->size);
  absl::StatusOr<std::shared_ptr<char>> read =
      state_.disk.files->ReadChunk(chunk->digest, chunk->size, &state_.memory);
  MutexLock lock(&state_.mu);
  if (absl::IsDataLoss(read.status())) durability_->FileIsBad(*chunk);
  HAWSER_RETURN_IF_ERROR(read);
  chunk->verified = true;
  if (chunk->data == nullptr) chunk->data = *std::move(read);
  state_.catalog.table.Touch(*chunk);
  return ChunkBytes{chunk->data, chunk->size};
}

absl::StatusOr<ChunkBytes> ArrayReader::LoadChunk(const StoredArray& array,
                                                  size_t index) {
  return BytesOf(array.chunks[index]);
}

absl::StatusOr<Literal> ArrayReader::CopyRows(const StoredArray& array,
                                              const RowBytes& part) {
  const int64_t bytes = part.end - part.begin;
  MakeRoom(bytes);
  if (state_.memory.resident() > state_.options.memory_bytes - bytes) {
    return ResourceExhausted(
        "the datasets' memory limit of ", state_.options.memory_bytes,
        " bytes: rows of ", bytes, " bytes do not fit beside ",
        state_.memory.resident(), " bytes in use or not on disk yet");
  }
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<char> rows,
                          state_.memory.Allocate(bytes));
  for (int64_t at = part.begin; at < part.end;) {
    const int64_t index = at / kChunkBytes;
    const int64_t from = at - index * kChunkBytes;
    HAWSER_ASSIGN_OR_RETURN(const ChunkBytes chunk,
                            LoadChunk(array, static_cast<size_t>(index)));
    const int64_t n = std::min(chunk.size - from, part.end - at);
    std::memcpy(rows.get() + (at - part.begin), chunk.data.get() + from,
                static_cast<size_t>(n));
    at += n;
  }
  return Literal::Adopt(part.shape, std::move(rows));
}

absl::StatusOr<Literal> ArrayReader::LoadRows(const StoredArray& array,
                                              const RowRange& rows) {
  HAWSER_ASSIGN_OR_RETURN(const RowBytes part, FindRows(array.shape, rows));
  if (part.begin == part.end) return Literal::Allocate(part.shape);
  {
    MutexLock lock(&array.assembling);
    if (auto whole = array.whole.lock()) {
      const char* at = whole.get() + part.begin;
      return Literal::Adopt(part.shape, {std::move(whole), at});
    }
  }
  // A few rows would keep all of their chunk in memory.
  const int64_t first = part.begin / kChunkBytes;
  if (first != (part.end - 1) / kChunkBytes ||
      part.end - part.begin < kChunkBytes / 2) {
    return CopyRows(array, part);
  }
  HAWSER_ASSIGN_OR_RETURN(ChunkBytes chunk,
                          LoadChunk(array, static_cast<size_t>(first)));
  const char* at = chunk.data.get() + (part.begin - first * kChunkBytes);
  return Literal::Adopt(part.shape, {std::move(chunk.data), at});
}

absl::Status ArrayReader::MakeRoomToAssemble(const StoredArray& array) {
  const int64_t bytes = array.shape.byte_size();
  MakeRoom(bytes);
  MutexLock lock(&state_.mu);
  int64_t own = 0;  // goes as its place in the array is filled
  for (const auto& chunk : array.chunks) {
    if (chunk->data != nullptr) own += chunk->size;
  }
  const int64_t others = std::max<int64_t>(state_.memory.resident() - own, 0);
  if (others <= state_.options.memory_bytes - bytes) return absl::OkStatus();
  return ResourceExhausted("the datasets' memory limit of ",
                           state_.options.memory_bytes, " bytes: an array of ",
                           bytes, " bytes does not fit beside ", others,
                           " bytes in use or not on disk yet");
}

absl::StatusOr<Literal> ArrayReader::Load(const StoredArray& array) {
  MutexLock assembling(&array.assembling);
  if (auto whole = array.whole.lock()) {
    return Literal::Adopt(array.shape, std::move(whole));
  }
  if (array.chunks.empty()) return Literal::Allocate(array.shape);
  if (array.chunks.size() == 1) {
    HAWSER_ASSIGN_OR_RETURN(ChunkBytes only, BytesOf(array.chunks[0]));
    return Literal::Adopt(array.shape, std::move(only.data));
  }
  HAWSER_RETURN_IF_ERROR(MakeRoomToAssemble(array));
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<char> whole,
                          state_.memory.Allocate(array.shape.byte_size()));
  char* at = whole.get();
  for (const std::shared_ptr<Chunk>& chunk : array.chunks) {
    HAWSER_ASSIGN_OR_RETURN(ChunkBytes bytes, BytesOf(chunk));
    std::memcpy(at, bytes.data.get(), static_cast<size_t>(bytes.size));
    bytes.data = nullptr;
    {
      // From now on the chunk is a part of the array, so that assembling takes
      // no second copy's worth of memory.
      MutexLock lock(&state_.mu);
      if (chunk->data != nullptr) {
        chunk->data = std::shared_ptr<const char>(whole, at);
      }
    }
    at += chunk->size;
  }
  array.whole = whole;
  return Literal::Adopt(array.shape, std::move(whole));
}

}  // namespace hawser::server
