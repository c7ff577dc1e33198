// A module out of a file: printed, or a StableHLO program.
#ifndef HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_
#define HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/stablehlo/body/program.h"
#include "core/ir/module.h"

namespace hawser::cli {

// A module and its last arguments, which stood in the file: large constants of
// a StableHLO program, and names of arrays.
struct ModuleFile {
  Module module;
  std::vector<stablehlo::BoundArgument> bound;
};

// Reads and verifies a module's text form, or a StableHLO program: from a file
// that ends in ".mlir" its text, from any other a portable artifact, which its
// bytes tell. Errors: those of the file system; those of ParseModule and
// stablehlo::ReadProgram as "path:line:column: ..." or "path:byte N: ...".
absl::StatusOr<ModuleFile> ReadModuleFile(const std::string& path);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_
