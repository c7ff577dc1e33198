// A printed module out of a file.
#ifndef HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_
#define HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/ir/module.h"

namespace hawser::cli {

// Reads and verifies the text form. Errors: what the file system says; those
// of ParseModule as "path:line:column: ...".
absl::StatusOr<Module> ReadModuleFile(const std::string& path);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_MODULES_MODULE_FILE_H_
