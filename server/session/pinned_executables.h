// PinnedExecutables: the executables that a session has compiled, by the
// client's own numbers.
#ifndef HAWSER_SERVER_SESSION_PINNED_EXECUTABLES_H_
#define HAWSER_SERVER_SESSION_PINNED_EXECUTABLES_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"

namespace hawser::server {

// A number stands for one module until it is released; nothing stands for any
// once `closed_` is an error. Thread-safe.
class PinnedExecutables {
 public:
  using Result = absl::StatusOr<std::shared_ptr<runtime::Executable>>;

  explicit PinnedExecutables(int64_t most) : most_(most) {}

  // Errors: kInvalidArgument, the number stands for another module;
  // kResourceExhausted; that of Close.
  absl::Status Set(uint64_t name, const Digest& fingerprint, Result executable);
  // The executable or why its Compile failed; nothing for an unknown number.
  std::optional<Result> Find(uint64_t name) const;
  // Unknown numbers are ignored.
  void Release(absl::Span<const uint64_t> numbers);
  // Lets go of all; Set fails with `why` from now on.
  void Close(const absl::Status& why);

 private:
  struct Pinned {
    Digest fingerprint;
    Result executable;
  };

  const int64_t most_;
  mutable Mutex mu_;
  absl::Status closed_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, Pinned> executables_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_PINNED_EXECUTABLES_H_
