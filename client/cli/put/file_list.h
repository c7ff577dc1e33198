// The files that words of a command line stand for.
#ifndef HAWSER_CLIENT_CLI_PUT_FILE_LIST_H_
#define HAWSER_CLIENT_CLI_PUT_FILE_LIST_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hawser::cli {

struct FileList {
  std::vector<std::string> paths;
  std::vector<std::string> skipped;  // in folders, not wanted
  // One word, and it names a file: not a folder or a pattern, which may hold
  // one file today and two tomorrow.
  bool one_file = false;
};

// A word is a file, a folder (all files in it, at any depth, in order of their
// paths, but for those that begin with a dot and those not `wanted`) or, where
// nothing has that name, a pattern as the shell has it: *, ?, [a-z].
// Errors: kNotFound naming a word that is nothing of this, and a folder that
// holds nothing wanted; what the file system says, naming the path.
absl::StatusOr<FileList> ListFiles(
    absl::Span<const std::string> words,
    absl::FunctionRef<absl::StatusOr<bool>(const std::string& path)> wanted);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_PUT_FILE_LIST_H_
