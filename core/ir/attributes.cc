#include "core/ir/attributes.h"

#include <algorithm>
#include <bit>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/element_text.h"

namespace hawser {
namespace {

template <typename T>
const T* FindAs(const Attributes& attributes, absl::string_view name) {
  const AttributeValue* value = attributes.Find(name);
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

}  // namespace

absl::string_view AttributeKindName(AttributeKind kind) {
  constexpr absl::string_view kNames[] = {"bool", "int",   "float",  "string",
                                          "ints", "dtype", "literal"};
  const int i = static_cast<int>(kind);
  return i < kNumAttributeKinds ? kNames[i] : "unknown";
}

AttributeKind KindOf(const AttributeValue& value) {
  return static_cast<AttributeKind>(value.index());
}

std::string AttributeToString(const AttributeValue& value) {
  struct Print {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return absl::StrCat(v); }
    std::string operator()(double v) const {
      // A float prints as an element does: the shortest text that reads back
      // the same; ".0" keeps a whole number apart from an int.
      std::string text;
      AppendElement(Literal::Scalar(v), 0, &text);
      if (text.find_first_of(".eni") == std::string::npos) text += ".0";
      return text;
    }
    std::string operator()(const std::string& v) const {
      return absl::StrCat("\"", absl::CEscape(v), "\"");
    }
    std::string operator()(const Dims& v) const { return DimsToString(v); }
    std::string operator()(DType v) const { return std::string(DTypeName(v)); }
    std::string operator()(const Literal& v) const {
      std::string text;
      AppendLiteral(v, &text);
      return text;
    }
  };
  return std::visit(Print{}, value);
}

bool SameAttribute(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Literal>) {
          return v.BitEquals(std::get<T>(b));
        } else if constexpr (std::is_same_v<T, double>) {
          return std::bit_cast<uint64_t>(v) ==
                 std::bit_cast<uint64_t>(std::get<T>(b));
        } else {
          return v == std::get<T>(b);
        }
      },
      a);
}

bool SameAttributes(const Attributes& a, const Attributes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first &&
                             SameAttribute(x.second, y.second);
                    });
}

Attributes& Attributes::Set(absl::string_view name, AttributeValue value) {
  auto at = std::lower_bound(
      entries_.begin(), entries_.end(), name,
      [](const Entry& e, absl::string_view n) { return e.first < n; });
  if (at != entries_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    entries_.insert(at, Entry(name, std::move(value)));
  }
  return *this;
}

const AttributeValue* Attributes::Find(absl::string_view name) const {
  for (const Entry& e : entries_) {
    if (e.first == name) return &e.second;
  }
  return nullptr;
}

bool Attributes::GetBool(absl::string_view name, bool fallback) const {
  const auto* v = FindAs<bool>(*this, name);
  return v == nullptr ? fallback : *v;
}
int64_t Attributes::GetInt(absl::string_view name, int64_t fallback) const {
  const auto* v = FindAs<int64_t>(*this, name);
  return v == nullptr ? fallback : *v;
}
double Attributes::GetFloat(absl::string_view name, double fallback) const {
  const auto* v = FindAs<double>(*this, name);
  return v == nullptr ? fallback : *v;
}
absl::string_view Attributes::GetString(absl::string_view name,
                                        absl::string_view fallback) const {
  const auto* v = FindAs<std::string>(*this, name);
  return v == nullptr ? fallback : absl::string_view(*v);
}
absl::Span<const int64_t> Attributes::GetInts(absl::string_view name) const {
  const auto* v = FindAs<Dims>(*this, name);
  return v == nullptr ? absl::Span<const int64_t>() : absl::MakeConstSpan(*v);
}
DType Attributes::GetDType(absl::string_view name) const {
  const auto* v = FindAs<DType>(*this, name);
  return v == nullptr ? DType::kInvalid : *v;
}
const Literal& Attributes::GetLiteral(absl::string_view name) const {
  const auto* v = FindAs<Literal>(*this, name);
  HAWSER_CHECK(v != nullptr);
  return *v;
}

}  // namespace hawser
