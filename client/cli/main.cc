// The `hawser` command.

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/cli/command.h"
#include "client/digests/digest_cache.h"
#include "client/remote/grpc_transport.h"
#include "kernels/cpu/cpu_client.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const char* servers = std::getenv("HAWSER_SERVERS");
  hawser::cli::Environment environment;
  environment.out = &std::cout;
  environment.err = &std::cerr;
  environment.err_is_terminal = ::isatty(STDERR_FILENO) != 0;
  environment.servers = servers == nullptr ? "" : servers;
  environment.connect = [](const std::string& address) {
    return hawser::ConnectRemote(
        address, {.credentials = hawser::Credentials::FromEnvironment(),
                  .client_name = "hawser"});
  };
  environment.cpu = [] { return hawser::cpu::MakeCpuClient(); };
  environment.cache_folder = hawser::CacheFolder(std::getenv);
  return hawser::cli::RunHawser(words, environment);
}
