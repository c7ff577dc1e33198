// OwnFolder: a folder whose files no other user can have written.
#ifndef HAWSER_CORE_BASE_PROCESS_OWN_FOLDER_H_
#define HAWSER_CORE_BASE_PROCESS_OWN_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace hawser {

// The contents of a cache are believed, so a cache is used only if its folder
// is this user's and neither its group nor others may write to it, as ssh uses
// its keys. Errors: kFailedPrecondition naming the folder, its owner or mode,
// and what to do; kNotFound, it is not there.
absl::Status CheckOwnFolder(const std::string& folder);
// Makes the folder, for this user alone, where it is not there; then as
// CheckOwnFolder. Errors: those of the file system, too.
absl::Status MakeOwnFolder(const std::string& folder);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_PROCESS_OWN_FOLDER_H_
