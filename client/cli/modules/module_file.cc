#include "client/cli/modules/module_file.h"

#include "absl/strings/str_cat.h"
#include "client/formats/files/file_bytes.h"
#include "core/base/status.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"

namespace hawser::cli {

absl::StatusOr<Module> ReadModuleFile(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  const absl::string_view text(file.data.get(),
                               static_cast<size_t>(file.size));
  absl::StatusOr<Module> module = ParseModule(text, FindOp);
  if (module.ok()) return module;
  return absl::Status(module.status().code(),
                      absl::StrCat(path, ":", module.status().message()));
}

}  // namespace hawser::cli
