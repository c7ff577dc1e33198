// The settings of a RemoteClient.
#ifndef HAWSER_CLIENT_REMOTE_LINK_OPTIONS_H_
#define HAWSER_CLIENT_REMOTE_LINK_OPTIONS_H_

#include <string>

#include "absl/time/time.h"
#include "client/remote/link/credentials.h"

namespace hawser {

struct RemoteOptions {
  Credentials credentials;
  // For the server's log and `hawser status`; empty: "<host>:<process id>".
  std::string client_name;
  // A server that has not answered the first message by then is unreachable.
  absl::Duration connect_timeout = absl::Seconds(5);
  // The time in which a broken stream is reattached before the session counts
  // as lost; never longer than its lease. A server whose address refuses
  // connections is given up at once.
  absl::Duration reattach_for = absl::InfiniteDuration();
  // A server that has been asked and says nothing for so long, not even to a
  // ping in between, is said in the log, and calls that wait for it end with
  // kUnavailable; so do transfers of which it takes or sends nothing for so
  // long.
  absl::Duration silence = absl::Seconds(5);
  // And its session is lost then, with what it holds: for clients that others
  // can stand in for. If false, the session goes on when the server speaks
  // again within its lease.
  bool give_up_silent = false;
  // PutDataset returns only when the dataset survives a server restart.
  bool wait_durable = true;
  // Threads that stream large values; also streams of one PutDataset.
  int bulk_threads = 4;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_LINK_OPTIONS_H_
