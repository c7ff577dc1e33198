// Connect: a Client over servers, with this machine behind them.
#ifndef HAWSER_CLIENT_CONNECT_H_
#define HAWSER_CLIENT_CONNECT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/fallback/policy.h"
#include "client/remote/link/credentials.h"
#include "client/sdk/client/client.h"

namespace hawser {

struct ConnectOptions {
  // "host:port" or "unix:/path"; the first one that answers is used, and when
  // that is gone the others in this order.
  std::vector<std::string> servers;
  // The certificates that servers are trusted by and the token they are told;
  // unless said otherwise here, those of HAWSER_TLS_CA, HAWSER_TLS_CERT,
  // HAWSER_TLS_KEY and HAWSER_TOKEN_FILE.
  Credentials credentials = Credentials::FromEnvironment();
  // Computes when the server does not; Client() for none.
  Client fallback = Client::Cpu();
  FallbackPolicy policy = {};
  // The time that each server is given to answer.
  absl::Duration timeout = absl::Seconds(5);
  // If there is a fallback, Connect waits no longer than this for each: the
  // fallback computes from then on, and the server is asked on behind it.
  absl::Duration patience = absl::InfiniteDuration();
  // In the server's log; empty: "<host>:<process id>".
  std::string client_name = {};
  // For Sharded: whether one function may run on servers of several engines.
  // Their results then agree within the ulp of its ops, not by bits.
  bool mix_engines = false;
};

// Blocks until a server has answered. When none does and there is a fallback,
// says so in the log and computes there; the first server is asked again in
// the background. Errors: kInvalidArgument without a server;
// kFailedPrecondition when a token would go to another machine in plaintext;
// kInvalidArgument and kNotFound for credentials that cannot be used;
// kUnauthenticated when a server has refused them and no other answers; without
// a fallback, what the last server said.
absl::StatusOr<Client> Connect(ConnectOptions options);

// One client of all of those servers: a function is cut into tasks that run on
// them, by what that costs or where its arguments are marked (Cut, Whole), and
// results stay where they were made. A server that is gone costs what only it
// had, which is made again on the others; with none left the fallback computes.
//   absl::StatusOr<Client> client = Sharded({.servers = {"gpu-1:7070",
//                                                        "gpu-2:7070"}});
// HAWSER_SPREAD=1 makes one of HAWSER_SERVERS. If the servers have several
// engines, those with the engine of the first that answers are used, unless
// they may mix; the others are named in the log. Blocks until each has answered
// or had its timeout. Errors: as Connect; kInvalidArgument for a server listed
// twice.
absl::StatusOr<Client> Sharded(ConnectOptions options);

// Work goes to `primary`; when that is gone, per policy, to `secondary`. The
// same modules run on both, and values the primary took along are made again.
Client WithFallback(const Client& primary, const Client& secondary,
                    FallbackPolicy policy = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_CONNECT_H_
