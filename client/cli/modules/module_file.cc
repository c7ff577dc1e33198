#include "client/cli/modules/module_file.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/formats/files/file_bytes.h"
#include "client/stablehlo/bytecode/reader.h"
#include "client/stablehlo/stablehlo.h"
#include "core/base/status.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"

namespace hawser::cli {

namespace {

absl::StatusOr<ModuleFile> ReadAs(const std::string& path,
                                  absl::string_view text) {
  if (!absl::EndsWith(path, ".mlir") && !stablehlo::IsArtifact(text)) {
    HAWSER_ASSIGN_OR_RETURN(Module module, ParseModule(text, FindOp));
    return ModuleFile{std::move(module), {}};
  }
  HAWSER_ASSIGN_OR_RETURN(stablehlo::Lowered program,
                          stablehlo::ReadProgram(text));
  return ModuleFile{std::move(program.module), std::move(program.bound)};
}

}  // namespace

absl::StatusOr<ModuleFile> ReadModuleFile(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(const FileBytes file, MapFile(path));
  const absl::string_view text(file.data.get(), static_cast<size_t>(file.size));
  auto module = ReadAs(path, text);
  if (module.ok()) return module;
  return absl::Status(module.status().code(),
                      absl::StrCat(path, ":", module.status().message()));
}

}  // namespace hawser::cli
