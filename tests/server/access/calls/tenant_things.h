// What a tenant has on a server, and what an outsider can try with its names.
#ifndef HAWSER_TESTS_SERVER_ACCESS_CALLS_TENANT_THINGS_H_
#define HAWSER_TESTS_SERVER_ACCESS_CALLS_TENANT_THINGS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/base/values/literal.h"
#include "core/runtime/dataset.h"
#include "tests/server/access/access_server.h"

namespace hawser::testing {

// Names of everything a request can name. That they exist depends on whose
// they are.
struct Things {
  uint64_t session_id = 0;
  std::string secret;
  uint64_t handle = 0;
  uint64_t executable = 0;
  Digest fingerprint;
  DatasetManifest manifest;  // of one array with one chunk
  Literal value;             // of that array

  const Digest& chunk() const { return manifest.arrays[0].chunks[0]; }
  std::string token() const { return TokenOf(manifest); }
};

// A module of one parameter and its bytes; another one for each name.
struct EncodedModule {
  std::string bytes;
  Digest fingerprint;
};
EncodedModule NegateModule(absl::string_view name);

// Makes all of them exist for `client`: puts a dataset of `value`, opens a
// session, compiles there and computes a result. The session lives as long as
// `session`.
Things MakeThings(RawClient& client, RawSession& session, float value);
// The same kinds of names, which no tenant has.
Things UnknownThings();

// One way to name something in a request.
struct Attempt {
  absl::string_view method;  // "Executor.Session"
  absl::string_view what;
  // The whole answer as text, with the names in `things` made alike.
  std::string (*run)(RawClient& caller, const Things& things);
};
const std::vector<Attempt>& Attempts();

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_ACCESS_CALLS_TENANT_THINGS_H_
