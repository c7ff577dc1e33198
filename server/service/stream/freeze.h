// Freeze: values of a session become a dataset, here where they are.
#ifndef HAWSER_SERVER_SERVICE_STREAM_FREEZE_H_
#define HAWSER_SERVER_SERVICE_STREAM_FREEZE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/random.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"
#include "proto/executor.pb.h"
#include "server/datasets/dataset_store.h"
#include "server/datasets/uploads.h"
#include "server/service/execution/arguments.h"
#include "server/service/execution/executor.h"
#include "server/session/session.h"

namespace hawser::server {

// No thread waits: values come by callbacks, and what takes long (hashing,
// copying a chunk) is done on workers, a chunk at a time.
class Freeze : public std::enable_shared_from_this<Freeze> {
 public:
  // Answers `ticket` exactly once. Takes the literals out of `request`.
  static void Start(Executor& executor, std::shared_ptr<Session> session,
                    const Ticket& ticket, v1::FreezeRequest& request);

  Freeze(Executor& executor, std::shared_ptr<Session> session,
         const Ticket& ticket)
      : executor_(executor), session_(std::move(session)), ticket_(ticket) {}

 private:
  absl::Status Prepare(v1::FreezeRequest& request);
  // ---- the values
  void FetchAll();
  void Fetched(size_t array, const absl::StatusOr<Literal>& value);
  // ---- the chunks, on workers
  void Soon(void (Freeze::*step)());
  void Hash();
  void PutNext();
  void Fill();
  void Commit();
  // ---- the end
  // Ends with the first cause: that of a value whose maker failed (looked for
  // from `from` on), else `own`.
  void Fail(const absl::Status& own, size_t from = 0);

  Executor& executor_;
  const std::shared_ptr<Session> session_;
  const Ticket ticket_;
  const uint64_t upload_ = RandomNumber();
  bool wait_durable_ = false;
  DatasetSource source_;  // values as they come
  DatasetManifest manifest_;
  Arguments arguments_;
  // Values still to come, and one for the loop that counts.
  std::atomic<size_t> left_{0};
  std::vector<absl::Status> fetched_;  // per array

  // These describe the chunk that is next, or being put.
  size_t array_ = 0;
  int64_t chunk_ = 0;
  std::unique_ptr<ChunkReceiver> receiver_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_STREAM_FREEZE_H_
