#include "client/cli/cases/case_runner.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/cases/case_codec.h"
#include "client/cli/cases/factor_check.h"
#include "client/sdk/client/options.h"
#include "client/sdk/functions/table/function_table.h"
#include "client/sdk/ops.h"
#include "client/sdk/tensor.h"
#include "core/base/values/compare.h"
#include "core/runtime/client.h"

namespace hawser::cli {
namespace {

namespace fs = std::filesystem;

using Literals = absl::StatusOr<std::vector<Literal>>;

// The results that a case expects are exact if the house says "bit-equal", and
// that holds for strict numerics only.
constexpr runtime::Numerics kNumerics = runtime::Numerics::kStrict;

Literals RunModule(const v1::Case& record, runtime::Client* client) {
  HAWSER_ASSIGN_OR_RETURN(Module module, ModuleOf(record));
  HAWSER_ASSIGN_OR_RETURN(auto inputs, ToLiterals(record.inputs()));
  HAWSER_ASSIGN_OR_RETURN(
      auto executable,
      client->Compile(std::make_shared<const Module>(std::move(module)),
                      {.numerics = kNumerics}, {}));
  const std::vector<runtime::Argument> arguments(inputs.begin(), inputs.end());
  HAWSER_ASSIGN_OR_RETURN(auto results, executable->Execute(arguments, {}));
  std::vector<Literal> values;
  for (const runtime::BufferPtr& result : results) {
    HAWSER_ASSIGN_OR_RETURN(Literal value, result->Fetch({}).Await());
    values.push_back(std::move(value));
  }
  return values;
}

// Arguments of an SDK function: weak inputs as numbers, the others as tensors.
absl::StatusOr<std::vector<FunctionArgument>> ToArguments(
    const google::protobuf::RepeatedPtrField<v1::CaseTensor>& tensors) {
  std::vector<FunctionArgument> arguments;
  for (const v1::CaseTensor& tensor : tensors) {
    HAWSER_ASSIGN_OR_RETURN(Literal literal, ToLiteral(tensor));
    if (!tensor.weak()) {
      arguments.push_back(Constant(std::move(literal)));
      continue;
    }
    arguments.push_back(VisitDType(literal.shape().dtype(), [&](auto tag) {
      return Number(literal.data<typename decltype(tag)::type>()[0]);
    }));
  }
  return arguments;
}

// Calls the function as a program does outside Jit: records it, then evaluates.
Literals RunFunction(const v1::Case& record, const Client& client) {
  const FunctionEntry* function = FindFunction(record.fn());
  if (function == nullptr) {
    return NotFound("there is no SDK function ", record.fn());
  }
  HAWSER_ASSIGN_OR_RETURN(auto arguments, ToArguments(record.inputs()));
  HAWSER_ASSIGN_OR_RETURN(auto attributes,
                          ToFunctionAttributes(record.attributes()));
  HAWSER_ASSIGN_OR_RETURN(auto results,
                          CallFunction(*function, arguments, attributes));
  const RunOptions options{.client = client, .numerics = kNumerics};
  HAWSER_RETURN_IF_ERROR(Eval(results, options));
  std::vector<Literal> values;
  for (const Tensor& result : results) {
    HAWSER_ASSIGN_OR_RETURN(Literal value, result.Fetch(options));
    values.push_back(std::move(value));
  }
  return values;
}

absl::Status CheckError(const v1::CaseError& want, const Literals& got) {
  if (got.ok()) {
    return Internal("no error, should be ", want.code(), " with \"",
                    want.contains(), "\"");
  }
  const std::string code = absl::StatusCodeToString(got.status().code());
  if (code == want.code() &&
      absl::StrContains(got.status().message(), want.contains())) {
    return absl::OkStatus();
  }
  return Internal("the error is ", got.status().ToString(), ", should be ",
                  want.code(), " with \"", want.contains(), "\"");
}

bool IsShapeAlone(const v1::CaseTensor& tensor) {
  return tensor.f().empty() && tensor.i().empty() && tensor.u().empty();
}

absl::Status CheckShape(const Literal& got, const v1::CaseTensor& want) {
  HAWSER_ASSIGN_OR_RETURN(const Shape shape, ParseShape(want.shape()));
  if (got.shape() == shape) return absl::OkStatus();
  return InvalidArgument("is ", got.shape().ToString(), ", should be ",
                         shape.ToString());
}

absl::Status CheckValues(const Literal& got, const v1::CaseTensor& want,
                         const Tolerance& tolerance) {
  HAWSER_ASSIGN_OR_RETURN(const Literal value, ToLiteral(want));
  return CompareLiterals(got, value, tolerance);
}

absl::Status CheckOutputs(const v1::Case& record,
                          const std::vector<Literal>& got) {
  if (static_cast<int>(got.size()) != record.outputs_size()) {
    return Internal(got.size(), " outputs, should be ", record.outputs_size());
  }
  const Tolerance tolerance{.atol = record.atol(),
                            .rtol = record.rtol(),
                            .ulp = record.ulp(),
                            .bits = record.comparison() == v1::Case::BITS};
  const bool any = record.property() == v1::Case::ANY;
  for (size_t i = 0; i < got.size(); ++i) {
    const v1::CaseTensor& output = record.outputs(static_cast<int>(i));
    const absl::Status near = !any && IsShapeAlone(output)
                                  ? CheckShape(got[i], output)
                                  : CheckValues(got[i], output, tolerance);
    if (!near.ok()) return Annotate(near, absl::StrCat("output ", i));
  }
  if (any) return absl::OkStatus();
  if (record.inputs_size() != 1) {
    return InvalidArgument("a property is that of one input");
  }
  HAWSER_ASSIGN_OR_RETURN(const Literal a, ToLiteral(record.inputs(0)));
  return CheckFactors(record.property(), a, got);
}

}  // namespace

absl::Status RunCase(const v1::Case& record, const Client& client) {
  const Literals got = record.fn().empty()
                           ? RunModule(record, client.runtime().get())
                           : RunFunction(record, client);
  if (record.has_error()) return CheckError(record.error(), got);
  HAWSER_RETURN_IF_ERROR(got);
  return CheckOutputs(record, *got);
}

absl::StatusOr<std::vector<std::string>> FindCaseFiles(
    const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return NotFound(path, ": there is no such file");
  if (!fs::is_directory(status)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  auto entry = fs::recursive_directory_iterator(path, error);
  for (; !error && entry != fs::end(entry); entry.increment(error)) {
    const fs::path ending = entry->path().extension();
    if (ending == ".txtpb" || ending == ".mlir" || ending == ".mlirbc") {
      files.push_back(entry->path().string());
    }
  }
  if (error) return NotFound(path, ": ", error.message());
  if (files.empty()) return NotFound(path, ": holds no *.txtpb or *.mlir file");
  std::sort(files.begin(), files.end());
  return files;
}

void RunCaseFile(const std::string& path, const Client& client,
                 CaseReport* report) {
  const auto file = ReadCaseFile(path);
  if (!file.ok()) {
    report->failures.push_back(
        {path, "", std::string(file.status().message())});
    return;
  }
  for (const v1::Case& record : file->cases()) {
    const absl::Status status = RunCase(record, client);
    if (status.ok()) {
      ++report->passed;
    } else {
      report->failures.push_back({path, record.name(), status.ToString()});
    }
  }
}

}  // namespace hawser::cli
