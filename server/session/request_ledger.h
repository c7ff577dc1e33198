// RequestLedger: counts the requests of a session that have come, and keeps the
// answers that its client may not have yet.
#ifndef HAWSER_SERVER_SESSION_REQUEST_LEDGER_H_
#define HAWSER_SERVER_SESSION_REQUEST_LEDGER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/memory_account.h"

namespace hawser::server {

// An answer. This folder keeps and resends it without knowing what it says.
struct Reply {
  uint64_t sequence = 0;
  int64_t bytes = 0;
  std::shared_ptr<const void> message;  // null: OK and nothing else
};

// A request that has its turn; given back with the answer.
struct Ticket {
  uint64_t sequence = 0;
  int64_t bytes = 0;
};

// Requests have come up to `applied`, without a gap. The answers of those that
// were not acknowledged are kept, and charged to `memory`. Guarded by the
// session's lock.
class RequestLedger {
 public:
  using Replies = absl::btree_map<uint64_t, Reply>;

  // `most` bytes of answers may be kept.
  RequestLedger(int64_t most, MemoryHolderPtr memory);

  uint64_t applied() const { return applied_; }
  // Requests that have come and have no answer yet, in order.
  std::vector<uint64_t> Unfinished() const;
  const Replies& kept() const { return kept_; }
  int64_t kept_bytes() const { return kept_bytes_; }

  // The turn of the request; nothing for one that was taken before. Errors:
  // kInvalidArgument for a gap.
  absl::StatusOr<std::optional<Ticket>> Claim(uint64_t sequence, int64_t bytes);
  // The client has every answer up to `sequence`; returns those that were kept.
  // Errors: kInvalidArgument for one that was never asked for.
  absl::StatusOr<std::vector<Reply>> Acknowledge(uint64_t sequence);
  // Keeps the answer of a request unless it was acknowledged before. Errors:
  // kResourceExhausted, though it is kept: the client left too many.
  absl::Status Keep(const Ticket& ticket, const Reply& reply);
  // Returns what was kept; nothing is from now on.
  Replies Clear();

 private:
  const int64_t most_;
  const MemoryHolderPtr memory_;
  MemoryTally charge_;
  uint64_t applied_ = 0;
  uint64_t acknowledged_ = 0;
  Replies kept_;
  int64_t kept_bytes_ = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_REQUEST_LEDGER_H_
