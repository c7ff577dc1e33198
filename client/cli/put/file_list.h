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
  std::vector<std::string> skipped;  // in folders and not wanted
  // There is one word and it names a file. False for a folder or a pattern,
  // however many files it stands for.
  bool one_file = false;
};

// The files of all words. A word is a file; a folder, which stands for all
// files in it at any depth, in order of their paths, but for those that begin
// with a dot and those not `wanted`; or, where nothing has that name, a pattern
// of the shell: *, ?, [a-z].
// Errors: kNotFound naming a word that is none of these, or a folder without
// wanted files; those of the file system, naming the path.
absl::StatusOr<FileList> ListFiles(
    absl::Span<const std::string> words,
    absl::FunctionRef<absl::StatusOr<bool>(const std::string& path)> wanted);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_PUT_FILE_LIST_H_
