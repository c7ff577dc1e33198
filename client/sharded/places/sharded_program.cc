#include "client/sharded/places/sharded_program.h"

#include "core/base/status.h"

namespace hawser {

absl::StatusOr<std::shared_ptr<runtime::Executable>> ShardedProgram::At(
    runtime::Client& client, const std::shared_ptr<const Module>& module,
    const runtime::CallOptions& call) {
  const Key key(&client, module.get());
  {
    MutexLock lock(&mu_);
    if (const auto at = compiled_.find(key); at != compiled_.end()) {
      return at->second.executable;
    }
  }
  HAWSER_ASSIGN_OR_RETURN(auto executable,
                          client.Compile(module, options_, call));
  MutexLock lock(&mu_);
  return compiled_.try_emplace(key, Compiled{module, std::move(executable)})
      .first->second.executable;
}

bool ShardedProgram::IsAt(const runtime::Client& client,
                          const Module& module) const {
  MutexLock lock(&mu_);
  return compiled_.contains(Key(&client, &module));
}

}  // namespace hawser
