#include "client/stablehlo/bytecode/attribute_table.h"

#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/stablehlo/bytecode/dialects/sdy.h"
#include "client/stablehlo/bytecode/dialects/vhlo.h"
#include "client/stablehlo/literals/elements.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

constexpr int kDeepest = 200;
// Locations name others so deep at most; a deeper one is not known.
constexpr int kDeepestLocation = 32;
constexpr uint64_t kIndexWidth = 64;

// Codes of MLIR's own attributes that stand in artifacts.
enum BuiltinAttribute : uint64_t {
  kArray = 0,
  kDictionary = 1,
  kString = 2,
  kStringWithType = 3,
  kSymbol = 4,
  kTypeAttribute = 6,
  kUnit = 7,
  kInteger = 8,
  kFloat = 9,
  kCallSite = 10,
  kFileLine = 11,
  kFused = 12,
  kFusedWithMetadata = 13,
  kName = 14,
  kFileRange = 22,
};

std::shared_ptr<Attribute> Make(Attribute::Kind kind,
                                absl::string_view text = "") {
  auto made = std::make_shared<Attribute>();
  made->kind = kind;
  made->text = text;
  return made;
}

// The bits of an element of that type; 0: not a number of at most 64.
uint64_t WidthOf(absl::string_view type) {
  if (type == "index") return kIndexWidth;
  if (type == "bf16" || type == "f16") return 16;
  if (type == "f32" || type == "f64") return type == "f32" ? 32 : 64;
  while (!type.empty() && !absl::ascii_isdigit(type[0])) type.remove_prefix(1);
  uint64_t width = 0;
  return absl::SimpleAtoi(type, &width) && width <= 64 ? width : 0;
}

// The bits of a number as MLIR writes them: in a byte, or as a signed number.
absl::StatusOr<uint64_t> ReadBits(Cursor* cursor, uint64_t width) {
  if (width <= 8) return cursor->Byte();
  HAWSER_ASSIGN_OR_RETURN(const int64_t bits, cursor->Signed());
  return static_cast<uint64_t>(bits);
}

std::string FloatText(absl::string_view type, uint64_t bits) {
  double value = 0;
  if (type == "f64") {
    value = std::bit_cast<double>(bits);
  } else if (type == "f32") {
    value = std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    return absl::StrFormat("0x%X", bits);
  }
  return std::isfinite(value) ? absl::StrFormat("%.17g", value)
                              : absl::StrFormat("0x%X", bits);
}

}  // namespace

absl::string_view AttributeTable::Keep(std::string text) {
  strings_.push_back(std::move(text));
  return strings_.back();
}

absl::StatusOr<AttributePtr> AttributeTable::Read(Cursor* cursor) {
  HAWSER_ASSIGN_OR_RETURN(const size_t index,
                          cursor->Index(known_.size(), "attributes"));
  return At(index);
}

absl::Status AttributeTable::ReadFields(Cursor* cursor, AttributeDict* fields) {
  HAWSER_ASSIGN_OR_RETURN(const AttributePtr dict, Read(cursor));
  if (dict == nullptr || dict->kind != Attribute::kDict) {
    return cursor->Invalid("attributes that are no dictionary");
  }
  fields->insert(fields->end(), dict->fields.begin(), dict->fields.end());
  return absl::OkStatus();
}

absl::StatusOr<AttributePtr> AttributeTable::At(size_t index) {
  Known& known = known_[index];
  if (known.state == Known::kDecoded) return known.value;
  const CodedEntry& entry = container_.attributes[index];
  if (known.state == Known::kBusy || depth_ == kDeepest) {
    return source_.Invalid(entry.bytes.data(),
                           "an attribute is made of itself, or ", kDeepest,
                           " attributes deep");
  }
  known.state = Known::kBusy;
  ++depth_;
  HAWSER_ASSIGN_OR_RETURN(known.value, Decode(entry));
  --depth_;
  known.state = Known::kDecoded;
  return known.value;
}

absl::StatusOr<AttributePtr> AttributeTable::Decode(const CodedEntry& entry) {
  const Cursor cursor(&source_, entry.bytes);
  if (!entry.is_text && entry.dialect == "vhlo") return DecodeVhlo(cursor);
  if (!entry.is_text && entry.dialect == "builtin") {
    return DecodeBuiltin(cursor);
  }
  if (!entry.is_text && entry.dialect == "sdy") {
    HAWSER_ASSIGN_OR_RETURN(
        std::string text,
        sdy::TextOf(cursor, container_.strings, known_.size(),
                    [this](size_t index) { return At(index); }));
    return Make(Attribute::kOpaque, Keep(std::move(text)));
  }
  return Make(Attribute::kOpaque,
              entry.is_text
                  ? absl::StripSuffix(entry.bytes, absl::string_view("\0", 1))
                  : "");
}

absl::StatusOr<AttributePtr> AttributeTable::DecodeVhlo(Cursor cursor) {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t code, cursor.Number());
  switch (code) {
    case vhlo::kArray:
      return DecodeList(cursor);
    case vhlo::kBoolean: {
      HAWSER_ASSIGN_OR_RETURN(const uint64_t value, cursor.Number());
      return Make(Attribute::kWord, value != 0 ? "true" : "false");
    }
    case vhlo::kDictionary:
      return DecodeDict(cursor);
    case vhlo::kFloat:
      return DecodeFloat(cursor);
    case vhlo::kInteger:
      return DecodeInteger(cursor);
    case vhlo::kString:
      return DecodeString(cursor, Attribute::kString);
    case vhlo::kElements:
      return DecodeElements(cursor);
    case vhlo::kType:
      return DecodeType(cursor);
    default:
      break;
  }
  if (vhlo::EnumWord(code, 0).empty()) return Make(Attribute::kOpaque);
  HAWSER_ASSIGN_OR_RETURN(const uint64_t value, cursor.Number());
  const absl::string_view word = vhlo::EnumWord(code, value);
  if (word.empty()) {
    return cursor.Invalid("attribute ", code, " has no value ", value);
  }
  return Make(Attribute::kWord, word);
}

absl::StatusOr<AttributePtr> AttributeTable::DecodeBuiltin(Cursor cursor) {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t code, cursor.Number());
  switch (code) {
    case kArray:
      return DecodeList(cursor);
    case kDictionary:
      return DecodeDict(cursor);
    case kString:
    case kStringWithType:
      return DecodeString(cursor, Attribute::kString);
    case kSymbol: {
      HAWSER_ASSIGN_OR_RETURN(const AttributePtr name, Read(&cursor));
      return Make(Attribute::kSymbol, name == nullptr ? "" : name->text);
    }
    case kTypeAttribute:
      return DecodeType(cursor);
    case kUnit:
      return Make(Attribute::kUnit);
    case kInteger:
      return DecodeInteger(cursor);
    case kFloat:
      return DecodeFloat(cursor);
    default:
      return Make(Attribute::kOpaque);
  }
}

absl::StatusOr<AttributePtr> AttributeTable::DecodeList(Cursor cursor) {
  HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor.Count());
  auto made = Make(Attribute::kList);
  for (size_t i = 0; i < count; ++i) {
    HAWSER_ASSIGN_OR_RETURN(AttributePtr item, Read(&cursor));
    if (item == nullptr) item = Make(Attribute::kOpaque, "none");
    made->items.push_back(std::move(item));
  }
  return made;
}

absl::StatusOr<AttributePtr> AttributeTable::DecodeDict(Cursor cursor) {
  HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor.Count());
  auto made = Make(Attribute::kDict);
  for (size_t i = 0; i < count; ++i) {
    HAWSER_ASSIGN_OR_RETURN(const AttributePtr name, Read(&cursor));
    HAWSER_ASSIGN_OR_RETURN(AttributePtr value, Read(&cursor));
    if (name == nullptr || name->kind != Attribute::kString) {
      return cursor.Invalid("the name of an attribute is no string");
    }
    if (value != nullptr)
      made->fields.push_back({name->text, std::move(value)});
  }
  return made;
}

// Texts stand in trees as they are written there: escaped.
absl::StatusOr<AttributePtr> AttributeTable::DecodeString(
    Cursor cursor, Attribute::Kind kind) {
  HAWSER_ASSIGN_OR_RETURN(const size_t index,
                          cursor.Index(container_.strings.size(), "strings"));
  const absl::string_view text = container_.strings[index];
  std::string escaped = absl::CHexEscape(text);
  return Make(kind, escaped == text ? text : Keep(std::move(escaped)));
}

absl::StatusOr<AttributePtr> AttributeTable::DecodeInteger(Cursor cursor) {
  HAWSER_ASSIGN_OR_RETURN(const CodedType* type, types_.Read(&cursor));
  const absl::string_view name = type->type.text;
  const uint64_t width = WidthOf(name);
  if (width == 0) return Make(Attribute::kOpaque);
  HAWSER_ASSIGN_OR_RETURN(const uint64_t bits, ReadBits(&cursor, width));
  if (absl::StartsWith(name, "ui")) {
    return Make(Attribute::kNumber, Keep(absl::StrCat(bits)));
  }
  const auto shift = static_cast<int>(64 - width);
  const int64_t value = static_cast<int64_t>(bits << shift) >> shift;
  return Make(Attribute::kNumber, Keep(absl::StrCat(value)));
}

absl::StatusOr<AttributePtr> AttributeTable::DecodeFloat(Cursor cursor) {
  HAWSER_ASSIGN_OR_RETURN(const CodedType* type, types_.Read(&cursor));
  const absl::string_view name = type->type.text;
  const uint64_t width = WidthOf(name);
  if (width == 0) return Make(Attribute::kOpaque);
  HAWSER_ASSIGN_OR_RETURN(const uint64_t bits, ReadBits(&cursor, width));
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  return Make(Attribute::kNumber, Keep(FloatText(name, bits & mask)));
}

absl::StatusOr<AttributePtr> AttributeTable::DecodeElements(Cursor cursor) {
  HAWSER_ASSIGN_OR_RETURN(const CodedType* type, types_.Read(&cursor));
  HAWSER_ASSIGN_OR_RETURN(const uint64_t size, cursor.Number());
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view bytes, cursor.Take(size));
  auto made = Make(Attribute::kElements);
  made->elements = std::make_shared<Elements>();
  made->elements->type = type->type;
  HAWSER_RETURN_IF_ERROR(ReadRawBytes(source_, bytes, made->elements.get()));
  return made;
}

absl::StatusOr<AttributePtr> AttributeTable::DecodeType(Cursor cursor) {
  HAWSER_ASSIGN_OR_RETURN(const CodedType* type, types_.Read(&cursor));
  if (type->is_none) return AttributePtr();
  auto made = Make(Attribute::kType, type->type.text);
  if (type->function != nullptr) {
    made->kind = Attribute::kFunctionType;
    made->function = type->function;
  }
  return made;
}

// ---- locations --------------------------------------------------------------

absl::StatusOr<absl::string_view> AttributeTable::ReadLocation(Cursor* cursor) {
  HAWSER_ASSIGN_OR_RETURN(const size_t index,
                          cursor->Index(locations_.size(), "attributes"));
  return LocationAt(index, 0);
}

absl::StatusOr<absl::string_view> AttributeTable::LocationAt(size_t index,
                                                             int depth) {
  KnownLocation& known = locations_[index];
  const CodedEntry& entry = container_.attributes[index];
  if (known.known || entry.is_text || entry.dialect != "builtin" ||
      depth == kDeepestLocation) {
    return known.text;
  }
  known.known = true;  // within itself it says nothing
  HAWSER_ASSIGN_OR_RETURN(
      const absl::string_view text,
      DecodeLocation(Cursor(&source_, entry.bytes), depth + 1));
  return locations_[index].text = text;
}

absl::StatusOr<absl::string_view> AttributeTable::DecodeLocation(Cursor cursor,
                                                                 int depth) {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t code, cursor.Number());
  const auto next = [&]() -> absl::StatusOr<absl::string_view> {
    HAWSER_ASSIGN_OR_RETURN(const size_t index,
                            cursor.Index(locations_.size(), "attributes"));
    return LocationAt(index, depth);
  };
  switch (code) {
    case kFileLine:
    case kFileRange: {
      HAWSER_ASSIGN_OR_RETURN(const AttributePtr file, Read(&cursor));
      if (code == kFileRange) HAWSER_RETURN_IF_ERROR(cursor.Count().status());
      HAWSER_ASSIGN_OR_RETURN(const uint64_t line, cursor.Number());
      uint64_t column = 0;
      if (!cursor.done()) {
        HAWSER_ASSIGN_OR_RETURN(column, cursor.Number());
      }
      return Keep(absl::StrCat("\"", file == nullptr ? "" : file->text,
                               "\":", line, ":", column));
    }
    case kName:
      HAWSER_RETURN_IF_ERROR(cursor.Number().status());
      return cursor.done() ? absl::string_view() : next();
    case kCallSite: {
      HAWSER_ASSIGN_OR_RETURN(const absl::string_view callee, next());
      return callee.empty() ? next() : callee;
    }
    case kFused:
    case kFusedWithMetadata: {
      HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor.Count());
      for (size_t i = 0; i < count; ++i) {
        HAWSER_ASSIGN_OR_RETURN(const absl::string_view one, next());
        if (!one.empty()) return one;
      }
      return absl::string_view();
    }
    default:
      return absl::string_view();
  }
}

}  // namespace hawser::stablehlo
