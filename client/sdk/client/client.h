// Client: where tensors are computed, as a value.
#ifndef HAWSER_CLIENT_SDK_CLIENT_CLIENT_H_
#define HAWSER_CLIENT_SDK_CLIENT_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/sdk/client/call_options.h"
#include "core/base/values/literal.h"
#include "core/runtime/dataset.h"
#include "core/runtime/options.h"

namespace hawser {

class Dataset;
struct NamedTensor;

namespace runtime {
class Client;
}

namespace sdk {
struct ClientState;
}

// A copyable handle; copies are the same client. Thread-safe. Tensors and
// datasets keep alive what they came from. Connect (client/connect.h) makes
// one over servers; after a disconnect it is the runtime client beneath that
// reattaches, falls back, or poisons results.
class Client {
 public:
  Client() = default;  // none; where a client is wanted: the default client
  // Any implementation of the runtime interface, also a third party's.
  explicit Client(std::shared_ptr<runtime::Client> client);

  // This process's CPU; one per process.
  static Client Cpu();
  // The innermost ScopedClient of this thread; without one, the process's
  // default: the client HAWSER_CLIENT names, HAWSER_SERVERS with
  // //client:hawser, else the CPU. The first use may block to connect. When
  // HAWSER_CLIENT cannot be had, one log line says so and the next of these
  // is used.
  static Client Default();
  // The client registered under this name, made at the first call and the same
  // one from then on; "cpu" is Cpu(). May block to make it.
  // Errors: kNotFound naming those there are; what making it said, which is
  // tried again at the next call.
  static absl::StatusOr<Client> Named(absl::string_view name);

  bool valid() const { return state_ != nullptr; }
  std::string name() const;  // "none" when not valid
  // Errors: kUnavailable when the other end was never reached.
  absl::StatusOr<runtime::Capabilities> capabilities() const;

  // Puts named arrays once and returns their dataset, which any later process
  // finds by its token. Blocks; bytes the other end has are not sent.
  // Errors: kInvalidArgument for names that are empty, repeated or not ASCII;
  // kResourceExhausted; those of the link.
  absl::StatusOr<hawser::Dataset> Put(std::vector<DatasetSource::Array> arrays,
                                      const CallOptions& call = {}) const;
  // The dataset of a token, or of a tag: "@mnist". Blocks. Errors:
  // kInvalidArgument for text that is neither, kNotFound for one that is
  // unknown there or not yours.
  absl::StatusOr<hawser::Dataset> Dataset(
      absl::string_view token, const DatasetOptions& options = {}) const;

  // Makes results a dataset where they are: nothing of them crosses the wire,
  // the token is the one that Put of the same bytes gives, and they live on
  // after this program, as if put.
  //   absl::StatusOr<hawser::Dataset> model = client.Freeze({{"w", w}});
  // arrays: names, as Put takes them, and tensors of any shape and dtype that
  // are on this client, recorded or host values. Runs what was recorded; blocks
  // until the values are there and, on a server with a disk, safe on it.
  // Result: the dataset, an argument like any other. If the client has a
  // fallback, recovery of what is made of it begins at this dataset: values up
  // to the policy's checkpoint_bytes are fetched for that in the background;
  // beyond, they are kDataLoss while the server is away.
  // Errors: as Put; the first error of the chain that was to make a value;
  // kFailedPrecondition for a tensor that is traced, donated or on another
  // client; kUnavailable when the session that had a value is lost.
  absl::StatusOr<hawser::Dataset> Freeze(std::vector<NamedTensor> arrays,
                                         const CallOptions& call = {}) const;
  // The caller's datasets there whose tokens begin with `prefix`, in order of
  // their tokens. Blocks. Errors: those of the link.
  absl::StatusOr<std::vector<DatasetInfo>> List(
      absl::string_view prefix = "", const CallOptions& call = {}) const;
  // Deletes a dataset for good: its bytes go from memory and disk, but for
  // those another dataset holds. Work under way, and sessions that have used
  // it, keep what they use. Blocks until that survives a restart.
  // Errors: kInvalidArgument for text that is no token, kNotFound for one that
  // is unknown there or not yours; those of the link.
  absl::Status Delete(absl::string_view token,
                      const CallOptions& call = {}) const;

  // A server that needs room evicts datasets that were not used for a while,
  // the least recently used first. A pinned one stays until `ttl` from now is
  // over; infinite: until Unpin. Blocks until that survives a restart. Returns
  // what Dataset(token).info() says then. Errors: as Dataset; with a fallback,
  // kUnavailable while the server is away.
  absl::StatusOr<DatasetInfo> Pin(absl::string_view token,
                                  absl::Duration ttl = absl::InfiniteDuration(),
                                  const CallOptions& call = {}) const;
  absl::StatusOr<DatasetInfo> Unpin(absl::string_view token,
                                    const CallOptions& call = {}) const {
    return Pin(token, absl::ZeroDuration(), call);
  }
  // Lets a name stand for a dataset, or for none; it does not keep it there.
  //   client.Tag({.name = "@mnist", .token = t, .expected = old.token()});
  // Errors: as DatasetTag says (core/runtime/dataset.h): kAborted when the name
  // stands for another dataset than expected; kNotFound for the token.
  absl::Status Tag(const DatasetTag& tag, const CallOptions& call = {}) const;
  // Returns what the caller keeps there, and how much it may keep. Errors:
  // those of the link.
  absl::StatusOr<DatasetUsage> Usage(const CallOptions& call = {}) const;

  // The runtime client that it stands for, for code that works below tensors;
  // null: none.
  const std::shared_ptr<runtime::Client>& runtime() const;

  // The same runtime client.
  friend bool operator==(const Client& a, const Client& b) {
    return a.runtime() == b.runtime();
  }

 private:
  friend struct sdk::ClientState;
  std::shared_ptr<sdk::ClientState> state_;
};

// Makes `client` this thread's default while it lives. Scopes nest.
class ScopedClient {
 public:
  explicit ScopedClient(Client client);
  ~ScopedClient();
  ScopedClient(const ScopedClient&) = delete;
  ScopedClient& operator=(const ScopedClient&) = delete;

 private:
  Client previous_;
};

// Makes a runtime client of your own known by name, to Client::Named and to
// HAWSER_CLIENT. `name`: letters, digits, '_' and '-'. `make` is called at the
// first use, by one thread at a time, and must not use Named or Default.
//   const absl::Status known = hawser::RegisterClient(
//       "npu", [] { return hawser::Client(std::make_shared<NpuClient>()); });
// Errors: kAlreadyExists for a name that is taken, kInvalidArgument for one
// that is none or for no function.
absl::Status RegisterClient(
    absl::string_view name, std::function<absl::StatusOr<Client>()> make);
// Every name Client::Named knows, sorted.
std::vector<std::string> ClientNames();

// Sets what makes the process's default client, in place of the CPU; it is
// called once, at the first use. //client:hawser registers one that reads
// HAWSER_SERVERS.
void SetDefaultClientFactory(std::function<Client()> factory);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_CLIENT_CLIENT_H_
