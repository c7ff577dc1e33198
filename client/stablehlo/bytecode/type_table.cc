#include "client/stablehlo/bytecode/type_table.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/stablehlo/bytecode/dialects/vhlo.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

// Types are made of others so deep at most.
constexpr int kDeepestType = 200;
// Of a tuple's text, which names its parts: tuples of tuples double it.
constexpr size_t kLongestText = 1024;

// Codes of MLIR's own types that stand in artifacts, around ops of other
// dialects.
enum BuiltinType : uint64_t {
  kIntegerType = 0,
  kFunctionType = 2,
  kComplex = 9,
  kTensor = 13,
  kTensorWithEncoding = 14,
};
constexpr std::pair<uint64_t, absl::string_view> kBuiltinNames[] = {
    {1, "index"}, {3, "bf16"}, {4, "f16"},
    {5, "f32"},   {6, "f64"},  {12, "none"}};

Type Named(absl::string_view text) {
  Type type;
  type.text = text;
  return type;
}

}  // namespace

TypeTable::TypeTable(const Source* source, const Container* container,
                     TreeStrings* strings)
    : source_(*source),
      container_(*container),
      strings_(*strings),
      known_(container->types.size()) {}

absl::string_view TypeTable::Keep(std::string text) {
  strings_.push_back(std::move(text));
  return strings_.back();
}

absl::StatusOr<const CodedType*> TypeTable::Read(Cursor* cursor) {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t number, cursor->Number());
  return Numbered(*cursor, number);
}

absl::StatusOr<const CodedType*> TypeTable::Numbered(const Cursor& cursor,
                                                     uint64_t number) {
  if (number < known_.size()) return At(static_cast<size_t>(number));
  return cursor.Invalid("type ", number, " of ", known_.size());
}

absl::StatusOr<const CodedType*> TypeTable::At(size_t index) {
  Known& known = known_[index];
  if (known.state == Known::kDecoded) return &known.value;
  const CodedEntry& entry = container_.types[index];
  if (known.state == Known::kBusy || depth_ == kDeepestType) {
    return source_.Invalid(entry.bytes.data(), "a type is made of itself, or ",
                           kDeepestType, " types deep");
  }
  known.state = Known::kBusy;
  ++depth_;
  HAWSER_RETURN_IF_ERROR(Decode(entry, &known.value));
  --depth_;
  known.state = Known::kDecoded;
  return &known.value;
}

absl::Status TypeTable::Decode(const CodedEntry& entry, CodedType* to) {
  if (entry.is_text) {
    to->type =
        Named(absl::StripSuffix(entry.bytes, absl::string_view("\0", 1)));
    return absl::OkStatus();
  }
  const Cursor cursor(&source_, entry.bytes);
  if (entry.dialect == "vhlo") return DecodeVhlo(cursor, to);
  if (entry.dialect == "builtin") return DecodeBuiltin(cursor, to);
  to->type = Named(Keep(absl::StrCat("!", entry.dialect)));
  return absl::OkStatus();
}

absl::Status TypeTable::DecodeVhlo(Cursor cursor, CodedType* to) {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t code, cursor.Number());
  switch (code) {
    case vhlo::kComplex:
      return DecodeComplex(cursor, to);
    case vhlo::kFunction:
      return DecodeFunction(cursor, to);
    case vhlo::kTensor:
    case vhlo::kTensorWithEncoding:
      return DecodeTensor(cursor, code == vhlo::kTensorWithEncoding, &to->type);
    case vhlo::kUnrankedTensor: {
      HAWSER_ASSIGN_OR_RETURN(const CodedType* element, Read(&cursor));
      to->type =
          Named(Keep(absl::StrCat("tensor<*x", element->type.text, ">")));
      return absl::OkStatus();
    }
    case vhlo::kTuple: {
      std::vector<Type> parts;
      HAWSER_RETURN_IF_ERROR(ReadList(&cursor, &parts));
      std::string text = "tuple<";
      for (size_t i = 0; i < parts.size() && text.size() < kLongestText; ++i) {
        absl::StrAppend(&text, i == 0 ? "" : ", ", parts[i].text);
      }
      to->type = Named(Keep(text.substr(0, kLongestText) + ">"));
      return absl::OkStatus();
    }
    default: {
      const absl::string_view name = vhlo::TypeName(code);
      if (name.empty()) return cursor.Invalid("there is no type ", code);
      to->type = name == kTokenText ? TokenType() : Named(name);
      to->is_none = code == vhlo::kNone;
      return absl::OkStatus();
    }
  }
}

absl::Status TypeTable::DecodeBuiltin(Cursor cursor, CodedType* to) {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t code, cursor.Number());
  switch (code) {
    case kIntegerType: {
      HAWSER_ASSIGN_OR_RETURN(const uint64_t width, cursor.Number());
      constexpr absl::string_view kSigns[] = {"i", "si", "ui", "i"};
      to->type = Named(Keep(absl::StrCat(kSigns[width & 3], width >> 2)));
      return absl::OkStatus();
    }
    case kFunctionType:
      return DecodeFunction(cursor, to);
    case kComplex:
      return DecodeComplex(cursor, to);
    case kTensor:
    case kTensorWithEncoding:
      return DecodeTensor(cursor, code == kTensorWithEncoding, &to->type);
    default:
      for (const auto& [number, name] : kBuiltinNames) {
        if (number == code) to->type = Named(name);
      }
      if (to->type.text.empty()) {
        to->type = Named(Keep(absl::StrCat("!builtin.", code)));
      }
      return absl::OkStatus();
  }
}

absl::Status TypeTable::DecodeComplex(Cursor cursor, CodedType* to) {
  HAWSER_ASSIGN_OR_RETURN(const CodedType* part, Read(&cursor));
  to->type = Named(Keep(absl::StrCat("complex<", part->type.text, ">")));
  return absl::OkStatus();
}

absl::Status TypeTable::DecodeTensor(Cursor cursor, bool has_encoding,
                                     Type* to) {
  if (has_encoding) HAWSER_RETURN_IF_ERROR(cursor.Number().status());
  HAWSER_ASSIGN_OR_RETURN(const size_t rank, cursor.Count());
  if (rank > static_cast<size_t>(kMaxRank)) {
    return cursor.Invalid("more than ", kMaxRank, " axes");
  }
  to->tensor = true;
  std::string text = "tensor<";
  for (size_t i = 0; i < rank; ++i) {
    HAWSER_ASSIGN_OR_RETURN(const int64_t size, cursor.Signed());
    to->dynamic = to->dynamic || size < 0;
    to->dims.push_back(size < 0 ? -1 : size);
    absl::StrAppend(&text, size < 0 ? "?" : absl::StrCat(size), "x");
  }
  HAWSER_ASSIGN_OR_RETURN(const CodedType* element, Read(&cursor));
  to->element = element->type.text;
  to->dtype = DTypeOfElement(to->element);
  to->text = Keep(absl::StrCat(text, to->element, ">"));
  return absl::OkStatus();
}

absl::Status TypeTable::ReadList(Cursor* cursor, std::vector<Type>* to) {
  HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor->Count());
  for (size_t i = 0; i < count; ++i) {
    HAWSER_ASSIGN_OR_RETURN(const CodedType* part, Read(cursor));
    to->push_back(part->type);
  }
  return absl::OkStatus();
}

absl::Status TypeTable::DecodeFunction(Cursor cursor, CodedType* to) {
  to->function = std::make_shared<FunctionType>();
  HAWSER_RETURN_IF_ERROR(ReadList(&cursor, &to->function->operands));
  HAWSER_RETURN_IF_ERROR(ReadList(&cursor, &to->function->results));
  to->type = Named("function");
  return absl::OkStatus();
}

}  // namespace hawser::stablehlo
