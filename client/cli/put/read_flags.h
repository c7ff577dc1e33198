// Flags that say how files are read.
#ifndef HAWSER_CLIENT_CLI_PUT_READ_FLAGS_H_
#define HAWSER_CLIENT_CLI_PUT_READ_FLAGS_H_

#include "absl/status/statusor.h"
#include "client/cli/command/command_line.h"
#include "client/formats/array_file.h"

namespace hawser::cli {

inline constexpr Flag kDTypeFlag = {
    "--dtype", "", "DTYPE[,...]", "of CSV columns, one or each; of raw files"};
inline constexpr Flag kShapeFlag = {"--shape", "", "N[,N...]",
                                    "files are raw elements of this shape"};
inline constexpr Flag kCsvFlag = {"--csv", "", "",
                                  "files are CSV, whatever they are called"};
inline constexpr Flag kNoHeaderFlag = {"--no-header", "", "",
                                       "CSV: the first row is numbers"};
inline constexpr Flag kMatrixFlag = {"--matrix", "", "",
                                     "CSV: one array [rows, columns]"};
inline constexpr Flag kEmptyFlag = {"--empty-as-nan", "", "",
                                    "CSV: empty fields of floats are NaN"};
inline constexpr Flag kSeparatorFlag = {"--separator", "", "CHARACTER",
                                        "CSV: between fields, \\t for a tab"};

// Returns the options that the flags above stand for. Errors: UsageError naming
// a flag that is malformed, needs another or must not stand beside it.
absl::StatusOr<ReadOptions> ReadOptionsOf(const CommandLine& line);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_PUT_READ_FLAGS_H_
