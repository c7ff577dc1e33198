// ClientState: what all copies of one hawser::Client share.
#ifndef HAWSER_CLIENT_SDK_GRAPH_RUN_CLIENT_STATE_H_
#define HAWSER_CLIENT_SDK_GRAPH_RUN_CLIENT_STATE_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "client/sdk/client/client.h"
#include "client/sdk/graph/run/lru_map.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"

namespace hawser::sdk {

// The number of executables of recorded expressions that a client keeps. A
// program records few different expressions; each executable may hold megabytes
// on the other end.
inline constexpr size_t kRecordingsKept = 64;

struct ClientState {
  // Returns the state of `client`, which is not empty.
  static ClientState& Of(const Client& client) { return *client.state_; }

  std::shared_ptr<runtime::Client> client;

  Mutex mu;
  // Executables of recorded expressions by their structure.
  LruMap<Digest, std::shared_ptr<runtime::Executable>> recordings
      ABSL_GUARDED_BY(mu){kRecordingsKept};
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_RUN_CLIENT_STATE_H_
