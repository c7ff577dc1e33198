// Suspects: addresses from which connections were closed for what they sent.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_SUSPECTS_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_SUSPECTS_H_

#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hawser::server {

// An address is a suspect for half a minute after the last such connection. New
// connections from there get slots one by one, no slot beyond that half minute,
// the further apart the more often connections were closed. At most 1,024
// addresses; beyond, the one that has behaved for longest goes. Not
// thread-safe.
class Suspects {
 public:
  // A connection from `host` was closed at `now`.
  void Add(absl::string_view host, absl::Time now);
  // The slot of a new connection from `host`, `now` where it is no suspect;
  // nothing where all slots are taken.
  std::optional<absl::Time> NextSlot(absl::string_view host, absl::Time now);

 private:
  struct Suspect {
    absl::Duration gap;  // between two slots
    absl::Time next;     // slot
    absl::Time closed;   // the last connection
  };
  void MakeRoom(absl::Time now);

  absl::flat_hash_map<std::string, Suspect> suspects_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_SUSPECTS_H_
