// HeldServer: a server in a process of its own that says what it holds.
#ifndef HAWSER_TESTS_SERVER_SERVICE_HELD_HELD_SERVER_H_
#define HAWSER_TESTS_SERVER_SERVICE_HELD_HELD_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/runtime/dataset.h"
#include "proto/datasets.grpc.pb.h"
#include "tests/server/service/raw_session.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {

// Bytes: of the process, of its heap, and what clients are charged for.
struct Held {
  int64_t resident = 0;
  int64_t heap = 0;
  int64_t charged = 0;
};

class HeldServer {
 public:
  explicit HeldServer(std::vector<std::string> flags = {});

  // Once nothing changes any more.
  Held Measure();
  std::shared_ptr<grpc::Channel> NewChannel() const;
  v1::Datasets::Stub& datasets() { return *datasets_; }
  Process& process() { return *process_; }
  const std::string& address() const { return address_; }

  // ---- one call each, of raw messages
  // Asks what is missing of these under `upload`.
  void FindMissing(uint64_t upload, const std::vector<Digest>& digests);
  // Brings each of these as a chunk.
  void PutChunks(uint64_t upload, const std::vector<std::string>& chunks);
  // The status of a Commit.
  absl::Status TryCommit(uint64_t upload, const DatasetManifest& manifest);
  // Its token.
  std::string Commit(uint64_t upload, const DatasetManifest& manifest);
  absl::Status Tag(const std::string& name, const std::string& token);
  absl::Status Pin(const std::string& token);

 private:
  Held Once();

  std::string address_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<v1::Datasets::Stub> datasets_;
};

// Eight bytes that no other number has.
std::string EightBytes(uint64_t number);
// Of arrays of eight bytes each by their names.
DatasetManifest ManifestOfChunks(
    const std::vector<std::pair<std::string, std::string>>& arrays);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_SERVICE_HELD_HELD_SERVER_H_
