// Attacker: sends what no client would, and measures what that costs the
// server.
#ifndef HAWSER_TESTS_SERVER_SERVICE_HOSTILE_ATTACKER_H_
#define HAWSER_TESTS_SERVER_SERVICE_HOSTILE_ATTACKER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/datasets.pb.h"
#include "proto/executor.pb.h"
#include "proto/graph.pb.h"
#include "tests/server/service/raw_session.h"

namespace hawser::testing {

// What others on the server have.
struct Victim {
  std::string address;
  uint64_t session_id = 0;   // of a session that holds handle `handle`
  uint64_t handle = 0;
  std::string token;         // a dataset s32[2500,1000] in one array
  std::string scalar_token;  // a dataset s32[]
};

// One attack at a time; every answer is a Status, the one of the request or,
// where the server ended the stream or call, of that.
class Attacker {
 public:
  explicit Attacker(const Victim& victim);

  const Victim& victim() const { return victim_; }
  // What the last attack took, from its first byte on the wire to the answer,
  // and the most that this process had allocated more meanwhile (0 under a
  // sanitizer). Preparing and encoding it does not count.
  absl::Duration time() const { return time_; }
  int64_t memory() const { return memory_; }

  // ---- on a session's stream. The session has AddModule as 1, PairModule as
  // 2, HugeModule as 3, and f32[2] as handles 10 and 11.
  RawSession& session();
  // The request's own answer; the session must go on as before, else kInternal.
  absl::Status Ask(v1::ClientMessage request);
  // How the stream ends, which it must.
  absl::Status Ends(const v1::ClientMessage& request);
  absl::Status EndsBytes(absl::string_view bytes);
  // The same on a stream where nothing was sent before.
  absl::Status EndsFirst(const v1::ClientMessage& request);
  absl::Status EndsFirstBytes(absl::string_view bytes);
  // The answer to an OpenRequest, with whether the session counts as lost.
  absl::Status Opens(const v1::ClientMessage& open, bool* lost);
  // The answer to a Compile of these bytes under their own fingerprint.
  absl::Status Compile(const std::string& module_bytes);
  // Of SmallModule's columns (see tests/core/wire/hostile_module_test.cc), with
  // `damage` done.
  absl::Status CompileDamaged(void (*damage)(v1::ModuleProto& columns));

  // ---- on a call of its own
  absl::Status Call(const std::string& method,
                    const std::vector<std::string>& messages);
  template <typename Message>
  absl::Status Call(const std::string& method,
                    const std::vector<Message>& messages) {
    std::vector<std::string> bytes;
    for (const Message& m : messages) bytes.push_back(m.SerializeAsString());
    return Call(method, bytes);
  }

 private:
  template <typename Attack>
  auto Measured(const Attack& attack);

  const Victim victim_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<RawSession> session_;
  absl::Duration time_;
  int64_t memory_ = 0;
};

// One row: what is done, and the answer that it must get.
struct HostileRow {
  const char* name;
  absl::Status (*attack)(Attacker& a);
  absl::StatusCode code;
  const char* part;  // of the message
};

// By what is attacked.
std::vector<HostileRow> HostileStreams();
std::vector<HostileRow> HostileModules();
std::vector<HostileRow> HostileRequests();
std::vector<HostileRow> HostileBulk();
std::vector<HostileRow> HostileDatasets();

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_SERVICE_HOSTILE_ATTACKER_H_
