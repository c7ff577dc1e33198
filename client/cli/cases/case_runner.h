// Runs case records on any client and compares what comes out.
#ifndef HAWSER_CLIENT_CLI_CASES_CASE_RUNNER_H_
#define HAWSER_CLIENT_CLI_CASES_CASE_RUNNER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sdk/client/client.h"
#include "proto/case.pb.h"

namespace hawser::cli {

// Returns OK when the case holds on `client`, compiled with strict numerics.
// Errors: the first element that differs, the error that came instead of a
// value, or kInternal for a value that came instead of an error.
absl::Status RunCase(const v1::Case& record, const Client& client);

struct CaseFailure {
  std::string file;
  std::string name;  // of the case; "" when the file itself is bad
  std::string what;
};

// A file that needs what hawser lacks.
struct CaseLeftOut {
  std::string file;
  std::vector<std::string> missing;
};

struct CaseReport {
  int passed = 0;
  std::vector<CaseFailure> failures;
  std::vector<CaseLeftOut> left_out;
};

// The case files of a path: the file itself, or all *.txtpb and *.mlir of a
// folder and the folders below it, sorted. Errors: kNotFound for a path that
// does not exist and for a folder without case files.
absl::StatusOr<std::vector<std::string>> FindCaseFiles(const std::string& path);

// Runs every case of a file and adds to `report`. A file that cannot be read
// counts as one failure.
void RunCaseFile(const std::string& path, const Client& client,
                 CaseReport* report);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_CASES_CASE_RUNNER_H_
