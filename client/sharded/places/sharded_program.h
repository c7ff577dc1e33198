// ShardedProgram: modules, compiled at the places where they are needed.
#ifndef HAWSER_CLIENT_SHARDED_PLACES_SHARDED_PROGRAM_H_
#define HAWSER_CLIENT_SHARDED_PLACES_SHARDED_PROGRAM_H_

#include <map>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"

namespace hawser {

// Each once for each client, which must outlive it or be used no more.
// Thread-safe.
class ShardedProgram {
 public:
  explicit ShardedProgram(runtime::CompileOptions options)
      : options_(std::move(options)) {}

  // May block. Errors: the client's.
  absl::StatusOr<std::shared_ptr<runtime::Executable>> At(
      runtime::Client& client, const std::shared_ptr<const Module>& module,
      const runtime::CallOptions& call);
  // Whether At returns at once.
  bool IsAt(const runtime::Client& client, const Module& module) const;

 private:
  using Key = std::pair<const runtime::Client*, const Module*>;
  struct Compiled {
    std::shared_ptr<const Module> module;  // keeps its address its own
    std::shared_ptr<runtime::Executable> executable;
  };
  const runtime::CompileOptions options_;
  mutable Mutex mu_;
  std::map<Key, Compiled> compiled_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_PLACES_SHARDED_PROGRAM_H_
