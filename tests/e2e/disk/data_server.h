// DataServer: a real server and the files it keeps, for tests that harm them.
#ifndef HAWSER_TESTS_E2E_DISK_DATA_SERVER_H_
#define HAWSER_TESTS_E2E_DISK_DATA_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/hawser.h"
#include "core/runtime/dataset.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {

// A number from the environment.
uint64_t FromEnvironment(const char* name, uint64_t otherwise);

// `bytes` bytes, in 4 MiB no two chunks of which are alike, nor those of two
// seeds.
Literal SeededBytes(int64_t bytes, uint64_t seed);

// Fetches all arrays of a dataset: OK when they are those of its token, which
// is made of their bytes. kInternal: they are not. Else what the server says.
absl::Status FetchWhole(const Client& client, const DatasetInfo& info);

// Not thread-safe. Killed when it goes.
class DataServer {
 public:
  // Over the files of `data_dir`. `launcher`: as StartHawserd takes it.
  explicit DataServer(std::string data_dir,
                      std::vector<std::string> launcher = {})
      : data_dir_(std::move(data_dir)), launcher_(std::move(launcher)) {}

  // Starts, for the first time or after an end, and connects a client.
  absl::Status Start(std::vector<std::string> flags = {});
  // By kill -9, or (kInternal: it does not end well) by SIGTERM.
  void Kill() { process_.reset(); }
  absl::Status Stop();

  // Of this server alone, without a fallback.
  const Client& client() const { return client_; }
  const std::string& address() const { return address_; }
  const std::string& output() const { return process_->output(); }
  // Files it has found damaged or missing since its start; -1: it does not say.
  int64_t BadFiles();

 private:
  const std::string data_dir_;
  const std::vector<std::string> launcher_;
  std::string address_;
  std::unique_ptr<Process> process_;
  Client client_;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_E2E_DISK_DATA_SERVER_H_
