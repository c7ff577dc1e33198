// RemoteProgram: a module as a server knows it, and which of them are kept.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_PROGRAM_H_
#define HAWSER_CLIENT_REMOTE_SESSION_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/remote/session/session.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"

namespace hawser {

// Thread-safe. Keeps the module's bytes, so that it can be compiled again in
// another session.
class RemoteProgram {
 public:
  RemoteProgram(const Module& module, const runtime::CompileOptions& options);

  const Signature& signature() const { return signature_; }
  const runtime::CompileOptions& options() const { return options_; }
  absl::string_view bytes() const { return bytes_; }
  const Digest& fingerprint() const { return fingerprint_; }

  // Blocks until `session` has compiled it. The body goes along only when it
  // is small or the server asks for it. Errors: the server's; those of
  // RemoteSession::Submit for these tokens.
  absl::Status CompileIn(const std::shared_ptr<RemoteSession>& session,
                         const CancelToken& cancel, const CancelToken& caller,
                         absl::string_view who);
  // Returns the number that `session` calls it by. In a session that does not
  // know it yet, sends the whole module first; an error there comes back from
  // every Execute.
  uint64_t NameIn(const std::shared_ptr<RemoteSession>& session);
  bool KnownIn(const RemoteSession* session) const;

 private:
  void Bind(const std::shared_ptr<RemoteSession>& session, uint64_t name);

  const Signature signature_;
  const runtime::CompileOptions options_;
  const std::string bytes_;
  const Digest fingerprint_;

  mutable Mutex mu_;
  std::shared_ptr<RemoteSession> session_ ABSL_GUARDED_BY(mu_);
  uint64_t name_ ABSL_GUARDED_BY(mu_) = 0;
};

// The programs used last, by the module's address and by fingerprint.
// Thread-safe.
class ProgramCache {
 public:
  // Encodes the module only when it sees that object for the first time.
  std::shared_ptr<RemoteProgram> Get(
      const std::shared_ptr<const Module>& module,
      const runtime::CompileOptions& options);

 private:
  struct BySource {
    std::weak_ptr<const Module> module;  // expired: the address means nothing
    std::shared_ptr<RemoteProgram> program;
  };
  struct ByContent {
    std::shared_ptr<RemoteProgram> program;
    uint64_t last_used;
  };
  using SourceKey = std::pair<const Module*, runtime::Numerics>;
  void Shrink() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Mutex mu_;
  uint64_t clock_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<SourceKey, BySource> by_source_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Digest, ByContent> by_content_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_PROGRAM_H_
