// StableHLO programs that check themselves, as case files.
#ifndef HAWSER_CLIENT_CLI_CASES_PROGRAM_FILE_H_
#define HAWSER_CLIENT_CLI_CASES_PROGRAM_FILE_H_

#include <string>

#include "client/cli/cases/case_runner.h"
#include "core/runtime/client.h"

namespace hawser::cli {

// Runs the checks of a program and adds the file to `report` once: passed,
// failed or left out. A file that cannot be read has failed.
void RunProgramFile(const std::string& path, runtime::Client& client,
                    CaseReport* report);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_CASES_PROGRAM_FILE_H_
