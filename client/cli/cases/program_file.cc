#include "client/cli/cases/program_file.h"

#include <utility>

#include "client/formats/files/file_bytes.h"
#include "client/stablehlo/check/self_check.h"

namespace hawser::cli {

void RunProgramFile(const std::string& path, runtime::Client& client,
                    CaseReport* report) {
  const auto file = MapFile(path);
  if (!file.ok()) {
    report->failures.push_back(
        {path, "", std::string(file.status().message())});
    return;
  }
  const absl::string_view text(file->data.get(),
                               static_cast<size_t>(file->size));
  stablehlo::SelfCheck check = stablehlo::RunSelfCheck(text, client);
  switch (check.outcome) {
    case stablehlo::SelfCheck::kPassed:
      ++report->passed;
      return;
    case stablehlo::SelfCheck::kLeftOut:
      report->left_out.push_back({path, std::move(check.missing)});
      return;
    case stablehlo::SelfCheck::kFailed:
      report->failures.push_back({path, "", std::move(check.what)});
  }
}

}  // namespace hawser::cli
