#include "client/stablehlo/tree/tree.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace hawser::stablehlo {
namespace {

constexpr std::pair<absl::string_view, DType> kElements[] = {
    {"f32", DType::kF32},
    {"i32", DType::kS32},
    {"i1", DType::kBool},
    {"i64", DType::kS64},
    {"f64", DType::kF64},
    {"bf16", DType::kBF16},
    {"f16", DType::kF16},
    {"ui32", DType::kU32},
    {"ui8", DType::kU8},
    {"i8", DType::kS8},
    {"i16", DType::kS16},
    {"ui16", DType::kU16},
    {"ui64", DType::kU64},
    {"complex<f32>", DType::kC64},
    {"complex<f64>", DType::kC128},
};

// Aliases of locations may name each other; a circle of them ends here.
constexpr int kMostHops = 16;

}  // namespace

std::string TypeText(const Shape& shape) {
  for (const auto& [name, dtype] : kElements) {
    if (dtype != shape.dtype()) continue;
    std::string text = "tensor<";
    for (const int64_t size : shape.dims()) absl::StrAppend(&text, size, "x");
    return absl::StrCat(text, name, ">");
  }
  return "none";
}

Type TokenType() {
  Type type;
  type.text = kTokenText;
  type.tensor = true;
  type.dtype = DType::kBool;
  type.element = "i1";
  type.dims = {0};
  return type;
}

DType DTypeOfElement(absl::string_view element) {
  for (const auto& [name, dtype] : kElements) {
    if (name == element) return dtype;
  }
  return DType::kInvalid;
}

std::string ToString(const Type& type) {
  if (!type.tensor) return std::string(type.text);
  std::string sizes;
  for (const int64_t size : type.dims) {
    absl::StrAppend(&sizes, size < 0 ? "?" : absl::StrCat(size), "x");
  }
  return absl::StrCat("tensor<", sizes, type.element, ">");
}

const Attribute* FindAttribute(const Op& op, absl::string_view name) {
  for (const NamedAttribute& attribute : op.attributes) {
    if (attribute.name == name) return attribute.value.get();
  }
  for (const NamedAttribute& attribute : op.attributes) {
    for (const NamedAttribute& field : attribute.value->fields) {
      if (field.name == name) return field.value.get();
    }
  }
  return nullptr;
}

std::string TracedPlace(const Tree& tree, const Op& op) {
  absl::string_view location = op.location;
  for (int hop = 0; hop < kMostHops; ++hop) {
    // The first file in it, `"model.py":12:3`, whatever stands around it.
    const size_t end = location.find("\":");
    const size_t begin = location.substr(0, end).rfind('"');
    if (begin != absl::string_view::npos && end != absl::string_view::npos) {
      const absl::string_view numbers = location.substr(end + 1);
      const auto last = std::find_if(
          numbers.begin(), numbers.end(),
          [](char c) { return c != ':' && !absl::ascii_isdigit(c); });
      return absl::StrCat(
          location.substr(begin + 1, end - begin - 1),
          numbers.substr(0, static_cast<size_t>(last - numbers.begin())));
    }
    const size_t alias = location.find('#');
    if (alias == absl::string_view::npos) return "";
    absl::string_view name = location.substr(alias);
    name = name.substr(0, name.find_first_of(" ,()[]<>"));
    const auto known = tree.locations.find(name);
    if (known == tree.locations.end()) return "";
    location = known->second;
  }
  return "";
}

}  // namespace hawser::stablehlo
