// Case records as text and as values: what stands in proto/case.proto becomes
// literals, attributes and modules.
#ifndef HAWSER_CLIENT_CLI_CASES_CASE_CODEC_H_
#define HAWSER_CLIENT_CLI_CASES_CASE_CODEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/base/values/literal.h"
#include "core/ir/attributes.h"
#include "core/ir/module.h"
#include "core/ir/op_def.h"
#include "proto/case.pb.h"

namespace hawser::cli {

// Parses the text form and checks that every case has a name of its own, a
// source, one subject and one expectation.
// Errors: kInvalidArgument with line and column, or naming the case.
absl::StatusOr<v1::CaseFile> ParseCaseFile(const std::string& text);
absl::StatusOr<v1::CaseFile> ReadCaseFile(const std::string& path);

// The values of a record's tensor. Errors: kInvalidArgument for a bad shape,
// values of another kind than the dtype's, too few or too many of them, one
// that does not fit, and a weak tensor that is no scalar.
absl::StatusOr<Literal> ToLiteral(const v1::CaseTensor& tensor);
absl::StatusOr<std::vector<Literal>> ToLiterals(
    const google::protobuf::RepeatedPtrField<v1::CaseTensor>& tensors);

absl::StatusOr<AttributeValue> ToAttributeValue(
    const v1::CaseAttribute& attribute);

// Attributes of an SDK function. Their names point into `attributes`.
absl::StatusOr<Attributes> ToFunctionAttributes(
    const google::protobuf::RepeatedPtrField<v1::CaseAttribute>& attributes);

// The module of an `op` or `module` case; its entry takes the case's inputs.
// Errors: those of the op, which a case may expect; those of ParseModule;
// kInvalidArgument for a malformed record.
absl::StatusOr<Module> ModuleOf(const v1::Case& record);

// The code of a name like "INVALID_ARGUMENT". Errors: kInvalidArgument for
// another name.
absl::StatusOr<absl::StatusCode> ParseStatusCode(absl::string_view name);

}  // namespace hawser::cli
#endif  // HAWSER_CLIENT_CLI_CASES_CASE_CODEC_H_
