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
// answered only for fingerprints whose module it has shown itself. A session
// that holds an executable pins it. Beyond `capacity` the tenant that knows the
// most forgets the one that it used least recently and that is not pinned; an
// executable that no tenant knows any more is dropped. A tenant with at most
// its equal share of the capacity forgets nothing, whatever others compile.
// Thread-safe.
class ExecutableCache {
 public:
  using Pointer = std::shared_ptr<runtime::Executable>;
  explicit ExecutableCache(size_t capacity) : capacity_(capacity) {}

  // nullptr when unknown, or unknown to this tenant.
  Pointer Find(absl::string_view tenant, const Digest& fingerprint);
  // Called for a tenant that has just shown the module: from now on it may Find
  // it. nullptr when it was not compiled.
  Pointer Join(absl::string_view tenant, const Digest& fingerprint);
  // Keeps a compiled module and returns it, or returns the one that another
  // thread has kept for the same fingerprint before.
  Pointer Add(absl::string_view tenant, const Digest& fingerprint,
              Pointer executable);

  // Lets go of all that is not pinned, however few there are.
  void LetGo();

  size_t size() const;
  // Returns how often the index that tenants share was looked into, which takes
  // a fingerprint of the tenant's own.
  int64_t shared_lookups() const;

 private:
  struct Entry {
    Pointer executable;
    absl::flat_hash_set<std::string> tenants;
  };
  // The entries of entries_ that a tenant has shown it knows.
  struct Known {
    std::list<Digest> order;  // last used first
    absl::flat_hash_map<Digest, std::list<Digest>::iterator> places;
  };
  // Null when it was not compiled.
  Entry* Shared(const Digest& fingerprint) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Makes it the one that the tenant used last.
  void Know(absl::string_view tenant, const Digest& fingerprint, Entry& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes out what is beyond `capacity` and is not pinned.
  std::vector<Pointer> Evict(size_t capacity)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The tenant's least recently used that is not pinned, into `evicted` when
  // no other tenant knows it. False: there is none.
  bool ForgetOne(const std::string& tenant, std::vector<Pointer>* evicted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t capacity_;
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, Known> known_ ABSL_GUARDED_BY(mu_);
  int64_t shared_lookups_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<Digest, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_EXECUTABLE_CACHE_H_
