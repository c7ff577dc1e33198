// Runs `hawser` inside the test and keeps its output.
#ifndef HAWSER_TESTS_CLIENT_CLI_COMMAND_RUN_H_
#define HAWSER_TESTS_CLIENT_CLI_COMMAND_RUN_H_

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/hawser.h"
#include "core/base/status.h"
#include "kernels/cpu/client/cpu_client.h"

namespace hawser::cli {

// The address "near" is one client that lives as long as this object, a
// CpuClient if no other is given; every other address does not answer. No
// digests are remembered.
class CommandRun {
 public:
  explicit CommandRun(
      std::shared_ptr<runtime::Client> near = cpu::MakeCpuClient())
      : near_(std::move(near)) {
    environment_.out = &out_;
    environment_.err = &err_;
    environment_.servers = "near";
    environment_.connect = [this](const std::string& address)
        -> absl::StatusOr<std::shared_ptr<runtime::Client>> {
      if (address == "near") return near_;
      return Unavailable(address, ": nobody answers");
    };
    environment_.cpu = [] { return cpu::MakeCpuClient(); };
  }

  // Returns the exit code. out() and err() are those of the last run.
  int Run(const std::vector<std::string>& words) {
    out_.str("");
    err_.str("");
    return RunHawser(words, environment_);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }
  Environment& environment() { return environment_; }

 private:
  std::shared_ptr<runtime::Client> near_;
  std::ostringstream out_, err_;
  Environment environment_;
};

}  // namespace hawser::cli
#endif  // HAWSER_TESTS_CLIENT_CLI_COMMAND_RUN_H_
