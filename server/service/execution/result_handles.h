// ResultHandles: the handles of one execution's results.
#ifndef HAWSER_SERVER_SERVICE_EXECUTION_RESULT_HANDLES_H_
#define HAWSER_SERVER_SERVICE_EXECUTION_RESULT_HANDLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/base/threads/future.h"
#include "core/base/values/shape.h"
#include "core/runtime/client.h"
#include "server/session/handle_table.h"

namespace hawser::server {

// `count` handles in a row. Declare, if at all, comes before there are
// buffers; then Give, at most once; and one of Succeed and Fail is the end,
// once, which every handle then stands for. Until the end a value tells those
// who ask for it that its outcome is open. Calls come one at a time.
class ResultHandles {
 public:
  // `table` outlives it. `wanted` is held by the handles that get values
  // before the end.
  ResultHandles(HandleTable* table, uint64_t first)
      : table_(table), first_(first) {}

  void set_count(size_t count) { count_ = count; }
  void set_wanted(WantedPtr wanted) { wanted_ = std::move(wanted); }
  uint64_t first() const { return first_; }
  size_t count() const { return count_; }

  // The handles are made, for values of these shapes that are still to come.
  void Declare(absl::Span<const Shape> shapes);
  // They stand for `buffers`. ended: all that computes them is over, and well.
  void Give(std::vector<runtime::BufferPtr> buffers, bool ended);
  void Succeed();
  // They stand for `cause`, also where there are buffers.
  void Fail(const absl::Status& cause);

 private:
  HandleTable* const table_;
  const uint64_t first_;
  size_t count_ = 0;
  bool made_ = false;                     // the handles are in the table
  std::optional<Promise<bool>> outcome_;  // none: nothing can ask for it
  WantedPtr wanted_;                      // until Give
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_EXECUTION_RESULT_HANDLES_H_
