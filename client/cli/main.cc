// The `hawser` command.

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <utility>

#include "client/cli/hawser.h"
#include "client/digests/digest_cache.h"
#include "client/remote/bare/grpc_bare_calls.h"
#include "client/remote/grpc/grpc_transport.h"
#include "core/environment/environment.h"
#include "kernels/cpu/client/cpu_client.h"
#include "kernels/cpu/planned/planned_program.h"
#include "kernels/gpu/program/library_target.h"
#include "kernels/plan/plan.h"

namespace {

// Unused memory that malloc keeps. Giving back the memory of each frame of a
// download makes 512 MiB take 0.5 s of a core, not 0.3 s.
constexpr int kKeptBytes = 64 << 20;

using hawser::cli::Environment;

absl::StatusOr<Environment::Planned> PlanFor(const hawser::Module& optimized,
                                             Environment::Engine engine) {
  if (engine == Environment::Engine::kCpu) {
    const auto program = hawser::cpu::PlannedProgram::Make(
        optimized, hawser::runtime::Numerics::kFast);
    if (!program.ok()) return program.status();
    return Environment::Planned{program->module(), program->Explain()};
  }
  const hawser::plan::Target target = hawser::gpu::TargetWithLibraries();
  auto plan = hawser::plan::MakePlan(optimized, target);
  if (!plan.ok()) return plan.status();
  std::string steps = hawser::plan::Explain(*plan, target);
  return Environment::Planned{std::move(plan->module), std::move(steps)};
}

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const char* servers = std::getenv("HAWSER_SERVERS");
  hawser::WarnOfEnvironment();
  Environment environment;
  environment.out = &std::cout;
  environment.err = &std::cerr;
  environment.err_is_terminal = ::isatty(STDERR_FILENO) != 0;
  environment.servers = servers == nullptr ? "" : servers;
  environment.connect = [](const std::string& address) {
    return hawser::ConnectRemote(
        address, {.credentials = hawser::Credentials::FromEnvironment(),
                  .client_name = "hawser"});
  };
  environment.bare = [](const std::string& address,
                        const hawser::CancelToken& cancel) {
    return hawser::MakeBareCalls(
        address, hawser::Credentials::FromEnvironment(), cancel);
  };
  environment.cpu = [] { return hawser::cpu::MakeCpuClient(); };
  environment.plan = PlanFor;
  environment.cache_folder = hawser::CacheFolder(std::getenv);
  return hawser::cli::RunHawser(words, environment);
}
