#include "client/cli/cases/case_codec.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/formats/files/file_bytes.h"
#include "core/base/values/rounding.h"
#include "core/ir/leaves.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"

namespace hawser::cli {
namespace {

// Keeps the first error only: the parser's later ones follow from it.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ =
        absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::Status CheckCase(const v1::Case& record) {
  const int subjects =
      !record.op().empty() + !record.fn().empty() + !record.module().empty();
  if (subjects != 1) return InvalidArgument("needs one of op, fn and module");
  if (record.outputs().empty() != record.has_error()) {
    return InvalidArgument("needs either outputs or an error");
  }
  if (record.has_error()) {
    HAWSER_RETURN_IF_ERROR(ParseStatusCode(record.error().code()));
    if (record.error().contains().empty()) {
      return InvalidArgument("its error needs a part of the message");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFile(const v1::CaseFile& file) {
  std::set<std::string> names;
  for (const v1::Case& record : file.cases()) {
    absl::Status status = CheckCase(record);
    if (record.name().empty()) {
      status = InvalidArgument("needs a name");
    } else if (!names.insert(record.name()).second) {
      status = InvalidArgument("is there twice");
    } else if (record.source().empty() && file.source().empty()) {
      status = InvalidArgument("needs a source");
    }
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("case \"", record.name(), "\""));
    }
  }
  return absl::OkStatus();
}

// ---- values ---------------------------------------------------------------

// Element `at` of a tensor's list of integers as a T. Errors: kInvalidArgument
// for a value that does not fit.
template <typename T>
absl::StatusOr<T> ToInteger(const v1::CaseTensor& tensor, int at) {
  if constexpr (std::is_unsigned_v<T>) {
    const uint64_t value = tensor.u(at);
    if (value <= std::numeric_limits<T>::max()) return static_cast<T>(value);
    return InvalidArgument(value, " does not fit ", tensor.shape());
  } else {
    const int64_t value = tensor.i(at);
    if (value >= std::numeric_limits<T>::min() &&
        value <= std::numeric_limits<T>::max()) {
      return static_cast<T>(value);
    }
    return InvalidArgument(value, " does not fit ", tensor.shape());
  }
}

template <typename T>
absl::StatusOr<T> ToElement(const v1::CaseTensor& tensor, int at) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(tensor.f(2 * at)),
             static_cast<Part>(tensor.f(2 * at + 1)));
  } else if constexpr (kIsHalf<T>) {
    return RoundedTo<T>(tensor.f(at));
  } else if constexpr (kIsFloat<T>) {
    return static_cast<T>(tensor.f(at));
  } else {
    return ToInteger<T>(tensor, at);
  }
}

// Returns how many elements the list of this dtype holds, -1 for half a complex
// number. Errors: kInvalidArgument when another list holds any.
absl::StatusOr<int> CountValues(const v1::CaseTensor& tensor, DType dtype) {
  const bool floating = IsFloat(dtype) || IsComplex(dtype);
  const bool is_signed = IsSigned(dtype);
  const int count = floating    ? tensor.f_size()
                    : is_signed ? tensor.i_size()
                                : tensor.u_size();
  if (count == tensor.f_size() + tensor.i_size() + tensor.u_size()) {
    return IsComplex(dtype) && count % 2 == 0 ? count / 2
           : IsComplex(dtype)                 ? -1
                                              : count;
  }
  return InvalidArgument("the values of ", tensor.shape(), " stand in ",
                         floating    ? "f"
                         : is_signed ? "i"
                                     : "u");
}

absl::StatusOr<AttributeValue> ToInts(const v1::CaseInts& ints) {
  return Dims(ints.v().begin(), ints.v().end());
}

// ---- modules --------------------------------------------------------------

using Attributed = google::protobuf::RepeatedPtrField<v1::CaseAttribute>;

// Names of the attributes point into the op's row. An unknown name points into
// the record, which outlives the shape rule that refuses it.
absl::StatusOr<Attributes> ToAttributes(const Attributed& from,
                                        const OpDef& op) {
  Attributes attributes;
  for (const v1::CaseAttribute& attribute : from) {
    const AttributeSpec* spec = op.FindAttribute(attribute.name());
    HAWSER_ASSIGN_OR_RETURN(AttributeValue value, ToAttributeValue(attribute));
    attributes.Set(spec != nullptr ? spec->name : attribute.name(),
                   std::move(value));
  }
  return attributes;
}

absl::StatusOr<const OpDef*> OpCalled(absl::string_view name) {
  const OpDef* op = FindOp(name);
  if (op == nullptr) return InvalidArgument("there is no op \"", name, "\"");
  return op;
}

absl::StatusOr<ValueId> AppendParameter(const Module& module,
                                        absl::string_view shape_text,
                                        Computation* to) {
  HAWSER_ASSIGN_OR_RETURN(Shape shape, ParseShape(shape_text));
  return to->Append(module, kParameter, {},
                    {{"dtype", shape.dtype()}, {"dims", shape.dims()}});
}

// Adds a computation of one op on two scalars of `dtype`.
absl::Status AddScalarComputation(absl::string_view name, DType dtype,
                                  Module* module) {
  HAWSER_ASSIGN_OR_RETURN(const OpDef* op, OpCalled(name));
  Computation computation{std::string(name)};
  const std::string shape = Shape::Scalar(dtype).ToString();
  HAWSER_ASSIGN_OR_RETURN(ValueId a,
                          AppendParameter(*module, shape, &computation));
  HAWSER_ASSIGN_OR_RETURN(ValueId b,
                          AppendParameter(*module, shape, &computation));
  HAWSER_ASSIGN_OR_RETURN(ValueId result,
                          computation.Append(*module, *op, {a, b}));
  HAWSER_RETURN_IF_ERROR(computation.SetResults({result}));
  module->Add(std::move(computation));
  return absl::OkStatus();
}

std::vector<ValueId> Numbers(int count) {
  std::vector<ValueId> numbers(count);
  for (int i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

absl::StatusOr<Module> ModuleOfOp(const v1::Case& record) {
  HAWSER_ASSIGN_OR_RETURN(const OpDef* op, OpCalled(record.op()));
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes,
                          ToAttributes(record.attributes(), *op));
  Module module(record.name());
  std::vector<int> called;
  for (const std::string& name : record.called()) {
    if (record.inputs().empty()) {
      return InvalidArgument("a called computation needs an input's dtype");
    }
    HAWSER_ASSIGN_OR_RETURN(Shape first, ParseShape(record.inputs(0).shape()));
    HAWSER_RETURN_IF_ERROR(AddScalarComputation(name, first.dtype(), &module));
    called.push_back(static_cast<int>(called.size()));
  }
  Computation main("main");
  for (const v1::CaseTensor& input : record.inputs()) {
    HAWSER_RETURN_IF_ERROR(AppendParameter(module, input.shape(), &main));
  }
  const auto operands = Numbers(record.inputs_size());
  HAWSER_ASSIGN_OR_RETURN(
      ValueId first,
      main.Append(module, *op, operands, std::move(attributes), called));
  const auto results = Numbers(main.num_values());
  HAWSER_RETURN_IF_ERROR(
      main.SetResults(absl::MakeConstSpan(results).subspan(first)));
  module.Add(std::move(main));
  return module;
}

}  // namespace

absl::StatusOr<v1::CaseFile> ParseCaseFile(const std::string& text) {
  v1::CaseFile file;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &file)) {
    return InvalidArgument(error.text());
  }
  HAWSER_RETURN_IF_ERROR(CheckFile(file));
  return file;
}

absl::StatusOr<v1::CaseFile> ReadCaseFile(const std::string& path) {
  HAWSER_ASSIGN_OR_RETURN(FileBytes bytes, MapFile(path));
  auto file = ParseCaseFile(std::string(bytes.data.get(), bytes.size));
  if (!file.ok()) return Annotate(file.status(), path);
  return file;
}

absl::StatusOr<Literal> ToLiteral(const v1::CaseTensor& tensor) {
  HAWSER_ASSIGN_OR_RETURN(Shape shape, ParseShape(tensor.shape()));
  if (tensor.weak() && !shape.is_scalar()) {
    return InvalidArgument(tensor.shape(),
                           " cannot be weak, it is no scalar");
  }
  HAWSER_ASSIGN_OR_RETURN(int count, CountValues(tensor, shape.dtype()));
  const int64_t elements = shape.num_elements();
  if (count != elements && (count != 1 || elements == 0)) {
    return InvalidArgument(
        tensor.shape(), " takes ", elements, " values or one for all, got ",
        count < 0 ? "half a complex number" : absl::StrCat(count));
  }
  HAWSER_ASSIGN_OR_RETURN(Literal literal, Literal::Allocate(shape));
  absl::Status status = VisitDType(shape.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto to = literal.mutable_data<T>();
    for (int64_t n = 0; n < elements; ++n) {
      HAWSER_ASSIGN_OR_RETURN(
          to[n], ToElement<T>(tensor, count == 1 ? 0 : static_cast<int>(n)));
    }
    return absl::OkStatus();
  });
  HAWSER_RETURN_IF_ERROR(status);
  return literal;
}

absl::StatusOr<std::vector<Literal>> ToLiterals(
    const google::protobuf::RepeatedPtrField<v1::CaseTensor>& tensors) {
  std::vector<Literal> literals;
  for (const v1::CaseTensor& tensor : tensors) {
    HAWSER_ASSIGN_OR_RETURN(Literal literal, ToLiteral(tensor));
    literals.push_back(std::move(literal));
  }
  return literals;
}

absl::StatusOr<AttributeValue> ToAttributeValue(
    const v1::CaseAttribute& attribute) {
  switch (attribute.value_case()) {
    case v1::CaseAttribute::kB:
      return attribute.b();
    case v1::CaseAttribute::kI:
      return int64_t{attribute.i()};
    case v1::CaseAttribute::kF:
      return attribute.f();
    case v1::CaseAttribute::kS:
      return attribute.s();
    case v1::CaseAttribute::kInts:
      return ToInts(attribute.ints());
    case v1::CaseAttribute::kDtype:
      return ParseDType(attribute.dtype());
    case v1::CaseAttribute::kTensor:
      return ToLiteral(attribute.tensor());
    default:
      return InvalidArgument("attribute ", attribute.name(), " has no value");
  }
}

absl::StatusOr<Attributes> ToFunctionAttributes(const Attributed& from) {
  Attributes attributes;
  for (const v1::CaseAttribute& attribute : from) {
    HAWSER_ASSIGN_OR_RETURN(AttributeValue value, ToAttributeValue(attribute));
    attributes.Set(attribute.name(), std::move(value));
  }
  return attributes;
}

absl::StatusOr<Module> ModuleOf(const v1::Case& record) {
  if (record.module().empty()) return ModuleOfOp(record);
  return ParseModule(absl::StrJoin(record.module(), "\n"), FindOp);
}

absl::StatusOr<absl::StatusCode> ParseStatusCode(absl::string_view name) {
  for (int code = 1; code <= 16; ++code) {
    const auto status = static_cast<absl::StatusCode>(code);
    if (absl::StatusCodeToString(status) == name) return status;
  }
  return InvalidArgument("there is no status code \"", name, "\"");
}

}  // namespace hawser::cli
