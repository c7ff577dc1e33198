// A printed module out of a file.
#ifndef HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_
#define HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/ir/module.h"

namespace hawser::cli {

// Reads and verifies a module's text form. Errors: those of the file system;
// those of ParseModule as "path:line:column: ...".
absl::StatusOr<Module> ReadModuleFile(const std::string& path);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_
