// ShardedProgram: modules, compiled at the places where they are needed.
#ifndef HAWSER_CLIENT_SHARDED_PLACES_SHARDED_PROGRAM_H_
#define HAWSER_CLIENT_SHARDED_PLACES_SHARDED_PROGRAM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sharded/places/shard_place.h"
#include "core/base/mutex.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"

namespace hawser {

// A module is compiled once for each life of a place, which must outlive it or
// be used no more. Thread-safe.
class ShardedProgram {
 public:
  explicit ShardedProgram(runtime::CompileOptions options)
      : options_(std::move(options)) {}

  // Called on the place's thread: may block. Its results are those of the
  // module, in number and shape. Errors: the client's; kInternal where they are
  // not.
  absl::StatusOr<std::vector<runtime::BufferPtr>> Run(
      const ShardPlace& place, const std::shared_ptr<const Module>& module,
      absl::Span<const runtime::Argument> arguments,
      const runtime::CallOptions& call);

  // True if Run need not compile.
  bool IsAt(const ShardPlace& place, const Module& module);

 private:
  absl::StatusOr<std::shared_ptr<runtime::Executable>> At(
      const ShardPlace& place, const std::shared_ptr<const Module>& module,
      const runtime::CallOptions& call);

  using Key = std::pair<const ShardPlace*, const Module*>;
  struct Compiled {
    std::shared_ptr<const Module> module;  // keeps its address its own
    uint64_t life = 0;                     // of the place
    std::shared_ptr<runtime::Executable> executable;
  };
  const runtime::CompileOptions options_;
  Mutex mu_;
  std::map<Key, Compiled> compiled_ ABSL_GUARDED_BY(mu_);
};

// kInternal, with the place and both, where a place gave another shape than it
// was to give.
absl::Status CheckGiven(const ShardPlace& place, const Shape& given,
                        const Shape& wanted);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_PLACES_SHARDED_PROGRAM_H_
