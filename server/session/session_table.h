// SessionTable: the sessions of this server process and their leases.
#ifndef HAWSER_SERVER_SESSION_SESSION_TABLE_H_
#define HAWSER_SERVER_SESSION_SESSION_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "server/session/session.h"

namespace hawser::server {

struct SessionTableOptions {
  // The time that a session outlives its stream.
  absl::Duration lease = absl::Seconds(60);
  int64_t sessions = 4096;
  // The most of these of one tenant.
  int64_t tenant_sessions = 4096;
  SessionLimits limits;
  // The memory that they hold is charged here; null: to nothing.
  std::shared_ptr<MemoryAccount> memory;
  std::function<absl::Time()> now = SteadyNow;
};

// 256 bits of the system's randomness are a session's secret. Thread-safe.
class SessionTable {
 public:
  explicit SessionTable(SessionTableOptions options)
      : options_(std::move(options)) {}
  ~SessionTable();

  // A session without a stream: attach one within the lease. If the table or
  // the tenant's part of it is full, the session of it that has been detached
  // for the longest goes. Errors: kResourceExhausted saying whose limit it is.
  absl::StatusOr<std::shared_ptr<Session>> Open(absl::string_view tenant,
                                                absl::string_view client_name);
  // Errors: kUnavailable (the session is lost), the same for an unknown id, a
  // wrong secret and another tenant's session, which is not looked at. The time
  // does not depend on how much of the secret is right.
  absl::StatusOr<std::shared_ptr<Session>> Find(absl::string_view tenant,
                                                uint64_t id,
                                                absl::string_view secret);
  // The client has said goodbye.
  void End(uint64_t id, const absl::Status& why);
  void EndAll(const absl::Status& why);
  // Ends sessions whose lease is over; to be called every second or so.
  void Sweep();

  const SessionTableOptions& options() const { return options_; }
  absl::Time now() const { return options_.now(); }
  int64_t size() const;
  size_t tenants() const;

 private:
  const SessionTableOptions options_;
  using Sessions = absl::flat_hash_map<uint64_t, std::shared_ptr<Session>>;
  // Takes out the session that has been detached for the longest, of `only`
  // where that is given; null: all are attached.
  std::shared_ptr<Session> TakeDetached(const Sessions* only)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Full(absl::string_view tenant, int64_t of_tenant) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Erase(uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<std::shared_ptr<Session>> All() const;

  mutable Mutex mu_;
  // Keyed by tenant, so that an id is looked for among the caller's own alone.
  absl::flat_hash_map<std::string, Sessions> tenants_ ABSL_GUARDED_BY(mu_);
  int64_t size_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_SESSION_TABLE_H_
