#include "client/remote/datasets/dataset_get.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"
#include "core/runtime/attempt.h"
#include "core/wire/codec.h"
#include "core/wire/dataset_verbs.h"

namespace hawser {
namespace {

// Chunks that are worth a stream of their own.
constexpr int64_t kPartChunks = 2;

// Checks chunks [first, first + count) of an array as their bytes come.
class ChunkChecker {
 public:
  ChunkChecker(const ArrayManifest& array, int64_t first, int64_t count,
               absl::Span<const char> bytes)
      : array_(array), bytes_(bytes), next_(first), end_(first + count) {}

  // The first `done` bytes are there.
  void Advance(int64_t done) {
    while (next_ < end_ && checked_ < done) {
      const int64_t size = array_.chunk_size(next_);
      const int64_t n = std::min(done - checked_, size - in_chunk_);
      hasher_->Bytes(bytes_.subspan(static_cast<size_t>(checked_),
                                    static_cast<size_t>(n)));
      checked_ += n;
      in_chunk_ += n;
      if (in_chunk_ < size) continue;
      if (hasher_->Finish() != array_.chunks[static_cast<size_t>(next_)]) {
        wrong_.push_back(next_);
      }
      hasher_.emplace();
      in_chunk_ = 0;
      ++next_;
    }
  }
  // Chunks that are not what their digests say.
  const std::vector<int64_t>& wrong() const { return wrong_; }

 private:
  const ArrayManifest& array_;
  const absl::Span<const char> bytes_;
  int64_t next_;
  const int64_t end_;
  int64_t checked_ = 0;
  int64_t in_chunk_ = 0;
  std::optional<Hasher> hasher_{std::in_place};
  std::vector<int64_t> wrong_;
};

class DatasetGet {
 public:
  DatasetGet(Transport* transport, const CheckedPart& part,
             const RowBytes& bytes, absl::Span<char> into,
             const runtime::CallOptions& call)
      : transport_(transport),
        array_(*part.array),
        token_(TokenOf(*part.manifest)),
        bytes_(bytes),
        into_(into),
        progress_(call.progress),
        cancel_(runtime::AttemptToken(call).Until(absl::InfiniteFuture())) {}

  absl::Status Run(int streams) {
    const int64_t first = bytes_.begin / kChunkBytes;
    const int64_t chunks = (bytes_.end - 1) / kChunkBytes + 1 - first;
    const int64_t parts = std::clamp<int64_t>(chunks / kPartChunks, 1,
                                              std::max<int64_t>(streams, 1));
    HAWSER_RETURN_IF_ERROR(OnThreads(static_cast<int>(parts), [&](int i) {
      GetChunks(first + chunks * i / parts, first + chunks * (i + 1) / parts);
      return absl::OkStatus();
    }));
    MutexLock lock(&mu_);
    return first_error_;
  }

  // The rows alone, believed as they come.
  absl::Status RunUnchecked(const RowRange& rows) {
    v1::GetRequest all = Request();
    all.set_row_begin(rows.begin);
    all.set_row_count(rows.count);
    return Receive(all, bytes_.shape, into_, [&](int64_t n) { Report(n); });
  }

 private:
  v1::GetRequest Request() const {
    v1::GetRequest request;
    request.set_token(token_);
    request.set_array(array_.name);
    return request;
  }
  int64_t EndOf(int64_t chunk) const {
    return chunk * kChunkBytes + array_.chunk_size(chunk);
  }

  void GetChunks(int64_t begin, int64_t end) {
    const absl::Status status = GetEdgesAndRest(begin, end);
    if (status.ok()) return;
    MutexLock lock(&mu_);
    if (!first_error_.ok()) return;
    first_error_ = status;
    cancel_.Cancel();
  }

  // Chunks [begin, end), of which the first and the last of all may reach
  // beyond what is wanted.
  absl::Status GetEdgesAndRest(int64_t begin, int64_t end) {
    if (begin * kChunkBytes < bytes_.begin) {
      HAWSER_RETURN_IF_ERROR(GetEdge(begin++));
    }
    const bool cut = begin < end && EndOf(end - 1) > bytes_.end;
    if (cut) HAWSER_RETURN_IF_ERROR(GetEdge(--end));
    if (begin == end) return absl::OkStatus();
    const int64_t from = begin * kChunkBytes - bytes_.begin;
    const int64_t to = EndOf(end - 1) - bytes_.begin;
    return Read(begin, end - begin,
                into_.subspan(static_cast<size_t>(from),
                              static_cast<size_t>(to - from)),
                /*counts=*/true);
  }

  absl::Status GetEdge(int64_t chunk) {
    std::vector<char> whole(static_cast<size_t>(array_.chunk_size(chunk)));
    HAWSER_RETURN_IF_ERROR(
        Read(chunk, 1, absl::MakeSpan(whole), /*counts=*/false));
    const int64_t start = chunk * kChunkBytes;
    const int64_t from = std::max(start, bytes_.begin);
    const int64_t to = std::min(EndOf(chunk), bytes_.end);
    std::memcpy(into_.data() + (from - bytes_.begin),
                whole.data() + (from - start), static_cast<size_t>(to - from));
    Report(to - from);
    return absl::OkStatus();
  }

  // Chunks [first, first + count), checked.
  absl::Status Read(int64_t first, int64_t count, absl::Span<char> into,
                    bool counts) {
    std::vector<int64_t> wrong;
    HAWSER_RETURN_IF_ERROR(Receive(first, count, into, counts, &wrong));
    for (const int64_t chunk : wrong) {
      const auto at = static_cast<size_t>((chunk - first) * kChunkBytes);
      const auto size = static_cast<size_t>(array_.chunk_size(chunk));
      std::vector<int64_t> again;
      HAWSER_RETURN_IF_ERROR(
          Receive(chunk, 1, into.subspan(at, size), false, &again));
      if (again.empty()) continue;
      return DataLoss(DescribeArray(token_, array_.name), ": chunk ", chunk,
                      " comes from ", transport_->address(),
                      " with other bytes than its digest says, twice");
    }
    return absl::OkStatus();
  }

  absl::Status Receive(int64_t first, int64_t count, absl::Span<char> into,
                       bool counts, std::vector<int64_t>* wrong) {
    v1::GetRequest request = Request();
    request.set_first_chunk(first);
    request.set_chunk_count(count);
    ChunkChecker checker(array_, first, count, into);
    const auto size = static_cast<int64_t>(into.size());
    int64_t reported = 0;
    HAWSER_RETURN_IF_ERROR(Receive(
        request, Shape::Of(DType::kU8, {size}), into, [&](int64_t done) {
          checker.Advance(done);
          if (counts) Report(done - std::exchange(reported, done));
        }));
    checker.Advance(size);
    *wrong = checker.wrong();
    return absl::OkStatus();
  }

  absl::Status Receive(const v1::GetRequest& request, const Shape& expected,
                       absl::Span<char> into,
                       const std::function<void(int64_t)>& arrived) {
    runtime::CallOptions call{.cancel = cancel_};
    call.progress = [&](int64_t done, int64_t) { arrived(done); };
    return transport_->Get(
        request,
        [&](const v1::ShapeProto& proto) -> absl::StatusOr<absl::Span<char>> {
          HAWSER_ASSIGN_OR_RETURN(const Shape shape, FromProto(proto));
          if (shape == expected) return into;
          return BrokenProtocol(transport_->address(), "it sends ",
                                shape.ToString(), " for ", expected.ToString(),
                                " of dataset ", token_);
        },
        call);
  }

  void Report(int64_t more) {
    if (!progress_ || more == 0) return;
    progress_(done_bytes_.fetch_add(more) + more,
              static_cast<int64_t>(into_.size()));
  }

  Transport* const transport_;
  const ArrayManifest& array_;
  const std::string token_;
  const RowBytes& bytes_;
  const absl::Span<char> into_;
  const std::function<void(int64_t, int64_t)> progress_;
  const CancelToken cancel_;  // of the streams: not the caller's own
  std::atomic<int64_t> done_bytes_{0};
  Mutex mu_;
  absl::Status first_error_ ABSL_GUARDED_BY(mu_);
};

// Returns the manifest in the answer. Errors: kDataLoss when it is not of its
// own token.
absl::StatusOr<std::shared_ptr<const DatasetManifest>> ManifestIn(
    const v1::DatasetInfoProto& reply, absl::string_view name) {
  v1::DatasetManifestProto proto;
  for (const v1::DatasetInfoProto::Array& array : reply.arrays()) {
    v1::ArrayManifestProto* to = proto.add_arrays();
    to->set_name(array.name());
    *to->mutable_shape() = array.shape();
    to->set_chunks(array.chunks());
  }
  const absl::StatusOr<DatasetManifest> manifest = FromProto(proto);
  const std::string token = IsTag(name) ? reply.token() : std::string(name);
  if (manifest.ok() && TokenOf(*manifest) == token) {
    return std::make_shared<const DatasetManifest>(*manifest);
  }
  return DataLoss("dataset ", name,
                  ": the digests that came for it are not of ", token);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const DatasetManifest>> FetchManifest(
    Transport* transport, absl::string_view name,
    const runtime::CallOptions& call) {
  v1::StatRequest request;
  request.set_token(name.data(), name.size());
  request.set_digests(true);
  absl::StatusOr<std::shared_ptr<const DatasetManifest>> manifest;
  for (int attempt = 0; attempt < 2; ++attempt) {
    HAWSER_ASSIGN_OR_RETURN(
        const v1::DatasetInfoProto reply,
        transport->Ask<OnWire<StatDataset>>(
            request, {.cancel = runtime::AttemptToken(call)}));
    manifest = ManifestIn(reply, name);
    if (manifest.ok()) return manifest;
  }
  return manifest;
}

absl::Status GetDataset(Transport* transport, int streams,
                        const CheckedPart& part, absl::Span<char> into,
                        const runtime::CallOptions& call) {
  const Shape& shape = part.array->shape;
  RowBytes bytes{shape, 0, shape.byte_size()};
  if (part.rows.has_value()) {
    HAWSER_ASSIGN_OR_RETURN(bytes, FindRows(shape, *part.rows));
  }
  if (bytes.begin == bytes.end) return absl::OkStatus();
  DatasetGet get(transport, part, bytes, into, call);
  const bool small = bytes.end - bytes.begin < kChunkBytes;
  if (small && part.rows.has_value() && transport->protects_bytes()) {
    return get.RunUnchecked(*part.rows);
  }
  return get.Run(streams);
}

}  // namespace hawser
