// DatasetsHandler: the Datasets service without a transport.
#ifndef HAWSER_SERVER_SERVICE_DATASETS_HANDLER_H_
#define HAWSER_SERVER_SERVICE_DATASETS_HANDLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/threads/thread_pool.h"
#include "core/base/values/shape.h"
#include "core/runtime/dataset.h"
#include "core/wire/dataset_verbs.h"
#include "proto/datasets.pb.h"
#include "server/datasets/dataset_store.h"
#include "server/datasets/uploads.h"
#include "server/service/execution/running_calls.h"
#include "server/service/messages/piece.h"

namespace hawser::server {

// One Put stream: frames in, chunks out. Its transport copies the bytes of
// each frame straight to where they stay:
//   Frame(header, size, ready)   once per frame; when ready says OK,
//   while (room() > 0) ...       read up to room() bytes to at(), Filled(n).
// Not thread-safe: `ready` may come on another thread, but one at a time.
class PutStream {
 public:
  using Ready = std::function<void(const absl::Status&)>;
  PutStream(DatasetStore* store, std::string tenant)
      : store_(store), tenant_(std::move(tenant)) {}

  // A frame with `size` data bytes. `ready`: at once, or when there is memory.
  // Errors: kInvalidArgument for a frame out of place, the store's.
  void Frame(const v1::PutChunk& header, uint64_t size, Ready ready);
  int64_t room() const { return chunk_ == nullptr ? 0 : chunk_->missing(); }
  char* at() { return chunk_->at(); }
  // Errors: kDataLoss, the chunk is not what it claimed to be.
  absl::Status Filled(int64_t n);
  // The chunks so far.
  const v1::PutReply& so_far() const { return reply_; }
  // The client has sent everything. Errors: kDataLoss, a chunk is not whole.
  absl::StatusOr<v1::PutReply> Finish() const;

 private:
  DatasetStore* const store_;
  const std::string tenant_;
  std::unique_ptr<ChunkReceiver> chunk_;
  v1::PutReply reply_;
};

// Bytes of one array's rows, chunk after chunk.
class RowReader : public std::enable_shared_from_this<RowReader> {
 public:
  // `what`: the array, in errors.
  RowReader(DatasetStore* store, ThreadPool* workers, std::string what,
            std::shared_ptr<const StoredArray> array, RowBytes rows);

  const Shape& shape() const { return shape_; }
  // Reads on a worker's thread; one at a time.
  void Next(PieceDone done);

 private:
  absl::StatusOr<Piece> ReadNext();

  DatasetStore* const store_;
  ThreadPool* const workers_;
  const std::string what_;
  const std::shared_ptr<const StoredArray> array_;
  const Shape shape_;
  int64_t at_;
  const int64_t end_;
};

// Thread-safe; nothing in it blocks.
class DatasetsHandler {
 public:
  // Called once, on any thread.
  template <typename Method>
  using Done =
      std::function<void(const absl::StatusOr<typename Method::Reply>&)>;

  // All outlive it. Requests that have a number are in `calls` meanwhile.
  DatasetsHandler(DatasetStore* store, ThreadPool* workers, RunningCalls* calls)
      : store_(store), workers_(workers), calls_(calls) {}

  // The methods of one request and one answer (core/wire/dataset_verbs.h).
  template <typename Method>
  void Serve(Method method, absl::string_view tenant,
             const typename Method::Request& request, Done<Method> done) {
    if constexpr (kHasNumber<typename Method::Request>) {
      calls_->Begin(tenant, request.number());
      done = [calls = calls_, tenant = std::string(tenant),
              number = request.number(), done = std::move(done)](
                 const absl::StatusOr<typename Method::Reply>& reply) {
        calls->End(tenant, number);
        done(reply);
      };
    }
    Answer(method, tenant, request, std::move(done));
  }

  std::unique_ptr<PutStream> Put(absl::string_view tenant);
  absl::StatusOr<std::shared_ptr<RowReader>> Get(absl::string_view tenant,
                                                 const v1::GetRequest& request);

 private:
  template <typename Verb>
  void Answer(OnWire<Verb>, absl::string_view tenant,
              const typename OnWire<Verb>::Request& request,
              Done<OnWire<Verb>> done) {
    ServeVerb<Verb>(tenant, request, std::move(done));
  }
  // Answers also with the digests of all chunks, which no verb asks for.
  void Answer(OnWire<StatDataset>, absl::string_view tenant,
              const v1::StatRequest& request, Done<OnWire<StatDataset>> done);
  void Answer(FindMissingMethod, absl::string_view tenant,
              const v1::FindMissingRequest& request,
              const Done<FindMissingMethod>& done);
  void Answer(CommitMethod, absl::string_view tenant,
              const v1::CommitRequest& request, Done<CommitMethod> done);
  // Makes the verb of its request, and the reply of what the store answers.
  template <typename Verb>
  void ServeVerb(absl::string_view tenant,
                 const typename OnWire<Verb>::Request& request,
                 Done<OnWire<Verb>> done) {
    const absl::StatusOr<Verb> verb = OnWire<Verb>::Receive(request);
    if (!verb.ok()) return done(verb.status());
    store_->Answer(
        tenant, *verb,
        [done = std::move(done)](const absl::StatusOr<DatasetAnswer>& answer) {
          if (!answer.ok()) return done(answer.status());
          done(ReplyOf<typename OnWire<Verb>::Reply>(
              std::get<typename Verb::Answer>(*answer)));
        });
  }
  absl::StatusOr<v1::FindMissingReply> FindMissing(
      absl::string_view tenant, const v1::FindMissingRequest& request);
  absl::StatusOr<v1::DatasetInfoProto> StatWithDigests(absl::string_view tenant,
                                                       absl::string_view token);

  DatasetStore* const store_;
  ThreadPool* const workers_;
  RunningCalls* const calls_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_DATASETS_HANDLER_H_
