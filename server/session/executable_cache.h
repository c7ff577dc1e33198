// ExecutableCache: compiled modules by fingerprint, shared by all sessions.
#ifndef HAWSER_SERVER_SESSION_EXECUTABLE_CACHE_H_
#define HAWSER_SERVER_SESSION_EXECUTABLE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"

namespace hawser::server {

// The compiled artefact is shared, the knowledge of it is not: a tenant is
// answered only for fingerprints whose module it has shown itself. Whoever
// holds an executable pins it; beyond `capacity` the least recently used that
// nobody holds goes. Thread-safe.
class ExecutableCache {
 public:
  using Pointer = std::shared_ptr<runtime::Executable>;
  explicit ExecutableCache(size_t capacity) : capacity_(capacity) {}

  // nullptr when unknown, or unknown to this tenant.
  Pointer Find(absl::string_view tenant, const Digest& fingerprint);
  // For a tenant that has just shown the module: from now on it may Find it.
  // nullptr when nobody has compiled it.
  Pointer Join(absl::string_view tenant, const Digest& fingerprint);
  // Keeps what was compiled and returns it, or what another thread was first
  // to compile of the same fingerprint.
  Pointer Add(absl::string_view tenant, const Digest& fingerprint,
              Pointer executable);

  // Lets go of all that nobody holds, however few there are.
  void LetGo();

  size_t size() const;
  // How often what tenants share was looked into, which takes a fingerprint
  // of one's own: a tenant that asks for others' leaves it as it is.
  int64_t shared_lookups() const;

 private:
  struct Entry {
    Pointer executable;
    absl::flat_hash_set<std::string> tenants;
    std::list<Digest>::iterator used;  // in order_
  };
  void Touch(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Null when nobody has compiled it.
  Entry* Shared(const Digest& fingerprint) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Know(absl::string_view tenant, const Digest& fingerprint, Entry& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes out what is beyond `capacity` and nobody holds.
  std::vector<Pointer> Evict(size_t capacity)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t capacity_;
  mutable Mutex mu_;
  // What each tenant has shown, of what is still in entries_.
  absl::flat_hash_map<std::string, absl::flat_hash_set<Digest>> known_
      ABSL_GUARDED_BY(mu_);
  int64_t shared_lookups_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<Digest, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::list<Digest> order_ ABSL_GUARDED_BY(mu_);  // last used first
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_EXECUTABLE_CACHE_H_
