// Exposure: what others on the machine could do to this server, to be logged.
#ifndef HAWSER_SERVER_ACCESS_EXPOSURE_H_
#define HAWSER_SERVER_ACCESS_EXPOSURE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hawser::server {

// A file or folder that a flag names.
struct NamedPath {
  std::string flag;  // "--data_dir"
  std::string path;  // empty, or not there: nothing is said
  // True if others must not read what it holds.
  bool secret = true;
};

// A sentence for each way in which a user who is neither root nor this
// process's may change what lies there, or read it: flag, path, mode, what to
// do.
std::vector<std::string> Exposures(const std::vector<NamedPath>& paths);

// Returns what is to be said of a process that runs as `user` and whose
// /proc/self/status is this; "": nothing. Root with capabilities is not needed
// for anything that hawserd does.
std::string PrivilegeOf(unsigned user, absl::string_view status);
// The same for this process.
std::string OwnPrivilege();

// From now on this process and what it starts gain no privileges by running
// programs that would give them.
void RenouncePrivileges();

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_EXPOSURE_H_
