#include "client/stablehlo/check/self_check.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/stablehlo/check/compare.h"
#include "client/stablehlo/lower/bind.h"
#include "client/stablehlo/lower/lower.h"
#include "client/stablehlo/tree_reader.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

absl::StatusOr<std::vector<Literal>> Run(
    Module module, const std::vector<BoundArgument>& bound,
    runtime::Client& client) {
  HAWSER_ASSIGN_OR_RETURN(
      const auto executable,
      client.Compile(std::make_shared<const Module>(std::move(module)),
                     {.numerics = runtime::Numerics::kStrict}, {}));
  HAWSER_ASSIGN_OR_RETURN(const auto arguments, Bind(bound, client));
  HAWSER_ASSIGN_OR_RETURN(const auto buffers,
                          executable->Execute(arguments, {}));
  std::vector<Future<Literal>> fetched;
  for (const auto& buffer : buffers) fetched.push_back(buffer->Fetch({}));
  std::vector<Literal> values;
  for (const auto& future : fetched) {
    HAWSER_ASSIGN_OR_RETURN(Literal value, future.Await());
    values.push_back(std::move(value));
  }
  return values;
}

// The first check that does not hold, or "".
std::string FirstFailure(const Source& source, const std::vector<Check>& checks,
                         const std::vector<Literal>& values) {
  for (const Check& check : checks) {
    const std::string difference =
        Difference(check, values[static_cast<size_t>(check.actual)],
                   values[static_cast<size_t>(check.expected)]);
    if (!difference.empty()) {
      return absl::StrCat(source.PlaceOf(check.where).ToString(), ": ",
                          difference);
    }
  }
  return "";
}

absl::Status CheckFunction(const Tree& tree, absl::string_view function,
                           runtime::Client& client, SelfCheck* result) {
  HAWSER_ASSIGN_OR_RETURN(CheckedModule checked, LowerChecks(tree, function));
  HAWSER_ASSIGN_OR_RETURN(
      const std::vector<Literal> values,
      Run(std::move(checked.module), checked.bound, client));
  const std::string failure = FirstFailure(tree.source, checked.checks, values);
  result->checks += static_cast<int>(checked.checks.size());
  return failure.empty() ? absl::OkStatus() : absl::AbortedError(failure);
}

void Settle(const Tree& tree, absl::string_view function,
            const absl::Status& status, SelfCheck* result) {
  const Functions functions(tree);
  const bool missing = absl::IsUnimplemented(status);
  result->outcome = missing ? SelfCheck::kLeftOut : SelfCheck::kFailed;
  result->what = absl::StrCat(function, ": ", status.message());
  if (!missing) return;
  for (Missing& lack : FindMissing(functions, *functions.Find(function))) {
    result->missing.push_back(std::move(lack.what));
  }
  if (result->missing.empty()) {
    result->missing.emplace_back(status.message());
  }
}

}  // namespace

SelfCheck RunSelfCheck(absl::string_view program, runtime::Client& client) {
  SelfCheck result;
  const auto tree = ReadTree(program);
  if (!tree.ok()) {
    result.outcome = SelfCheck::kFailed;
    result.what = std::string(tree.status().message());
    return result;
  }
  const auto functions = SelfCheckingFunctions(*tree);
  if (functions.empty()) {
    result.outcome = SelfCheck::kFailed;
    result.what = "1:1: no function without arguments has a check";
    return result;
  }
  for (const absl::string_view function : functions) {
    const absl::Status status = CheckFunction(*tree, function, client, &result);
    if (status.ok()) continue;
    Settle(*tree, function, status, &result);
    if (result.outcome == SelfCheck::kFailed) return result;
  }
  return result;
}

}  // namespace hawser::stablehlo
