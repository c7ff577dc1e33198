#include "server/session/request_ledger.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::server {

RequestLedger::RequestLedger(int64_t most, MemoryHolderPtr memory)
    : most_(most),
      memory_(std::move(memory)),
      charge_(memory_, MemoryUse::kAnswer) {}

absl::StatusOr<std::optional<Ticket>> RequestLedger::Claim(uint64_t sequence,
                                                           int64_t bytes) {
  if (sequence == 0) {
    return InvalidArgument("sequence 0 belongs to OpenRequest alone");
  }
  if (sequence <= applied_) return std::optional<Ticket>();
  if (sequence != applied_ + 1) {
    return InvalidArgument("sequence ", sequence, " came after ", applied_,
                           "; numbers leave no gap");
  }
  applied_ = sequence;
  return std::optional<Ticket>(Ticket{sequence, bytes});
}

absl::StatusOr<std::vector<Reply>> RequestLedger::Acknowledge(
    uint64_t sequence) {
  std::vector<Reply> done;
  if (sequence > applied_) {
    return InvalidArgument("the answer to sequence ", sequence,
                           " is acknowledged, but only ", applied_,
                           " requests have come");
  }
  if (sequence <= acknowledged_) return done;
  acknowledged_ = sequence;
  while (!kept_.empty() && kept_.begin()->first <= sequence) {
    kept_bytes_ -= kept_.begin()->second.bytes;
    done.push_back(std::move(kept_.begin()->second));
    kept_.erase(kept_.begin());
  }
  charge_.Set(kept_bytes_);
  return done;
}

std::vector<uint64_t> RequestLedger::Unfinished() const {
  std::vector<uint64_t> unfinished;
  auto kept = kept_.begin();
  for (uint64_t sequence = acknowledged_ + 1; sequence <= applied_;
       ++sequence) {
    if (kept != kept_.end() && kept->first == sequence) {
      ++kept;
    } else {
      unfinished.push_back(sequence);
    }
  }
  return unfinished;
}

absl::Status RequestLedger::Keep(const Ticket& ticket, const Reply& reply) {
  if (ticket.sequence <= acknowledged_) return absl::OkStatus();
  kept_bytes_ += reply.bytes;
  kept_.emplace(ticket.sequence, reply);
  const bool charged = charge_.Set(kept_bytes_);
  if (kept_bytes_ > most_) {
    return ResourceExhausted("the client left ", kept_bytes_,
                             " bytes of answers unacknowledged, the limit is ",
                             most_);
  }
  if (charged) return absl::OkStatus();
  return ResourceExhausted("the client left ", kept_bytes_,
                           " bytes of answers unacknowledged, and there is no "
                           "memory to keep more: ",
                           memory_->name(), " holds ", memory_->held(),
                           " bytes");
}

RequestLedger::Replies RequestLedger::Clear() {
  kept_bytes_ = 0;
  charge_.Set(0);
  return std::exchange(kept_, {});
}

}  // namespace hawser::server
