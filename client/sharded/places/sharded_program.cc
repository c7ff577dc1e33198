#include "client/sharded/places/sharded_program.h"

#include "core/base/status.h"

namespace hawser {

absl::Status CheckGiven(const ShardPlace& place, const Shape& given,
                        const Shape& wanted) {
  if (given == wanted) return absl::OkStatus();
  return Internal(place.name(), " gave ", given.ToString(), " where ",
                  wanted.ToString(), " was asked for");
}

absl::StatusOr<std::shared_ptr<runtime::Executable>> ShardedProgram::At(
    const ShardPlace& place, const std::shared_ptr<const Module>& module,
    const runtime::CallOptions& call) {
  const Key key(&place, module.get());
  const uint64_t life = place.life();
  {
    MutexLock lock(&mu_);
    const auto at = compiled_.find(key);
    if (at != compiled_.end() && at->second.life == life) {
      return at->second.executable;
    }
  }
  HAWSER_ASSIGN_OR_RETURN(auto executable,
                          place.client().Compile(module, options_, call));
  MutexLock lock(&mu_);
  compiled_[key] = {module, life, executable};
  return executable;
}

bool ShardedProgram::IsAt(const ShardPlace& place, const Module& module) {
  MutexLock lock(&mu_);
  const auto at = compiled_.find(Key(&place, &module));
  return at != compiled_.end() && at->second.life == place.life();
}

absl::StatusOr<std::vector<runtime::BufferPtr>> ShardedProgram::Run(
    const ShardPlace& place, const std::shared_ptr<const Module>& module,
    absl::Span<const runtime::Argument> arguments,
    const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const auto executable, At(place, module, call));
  HAWSER_ASSIGN_OR_RETURN(
      auto results,
      executable->Execute(arguments, {.call = call, .donated = {}}));
  const std::vector<Shape>& wanted = module->signature().results;
  if (results.size() != wanted.size()) {
    return Internal(place.name(), " gave ", results.size(), " results where ",
                    wanted.size(), " were asked for");
  }
  for (size_t k = 0; k < results.size(); ++k) {
    HAWSER_RETURN_IF_ERROR(
        CheckGiven(place, results[k] == nullptr ? Shape() : results[k]->shape(),
                   wanted[k]));
  }
  return results;
}

}  // namespace hawser
