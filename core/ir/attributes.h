// Attributes: the compile-time settings of an instruction, name -> value.
#ifndef HAWSER_CORE_IR_ATTRIBUTES_H_
#define HAWSER_CORE_IR_ATTRIBUTES_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/dtype.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"

namespace hawser {

// The numbers are the wire's and the order of AttributeValue's alternatives.
enum class AttributeKind : uint8_t {
  kBool = 0,
  kInt = 1,
  kFloat = 2,
  kString = 3,
  kInts = 4,
  kDType = 5,
  kLiteral = 6,
};
inline constexpr int kNumAttributeKinds = 7;
absl::string_view AttributeKindName(AttributeKind kind);

using AttributeValue = std::variant<bool, int64_t, double, std::string, Dims,
                                    DType, Literal>;
AttributeKind KindOf(const AttributeValue& value);
// Writes it as the text form does: the kind and every bit can be read back.
std::string AttributeToString(const AttributeValue& value);
// Same kind and same bits (NaN equals the same NaN).
bool SameAttribute(const AttributeValue& a, const AttributeValue& b);

// A small map kept sorted by name, so that equal attributes have one form on
// the wire. Names point into op tables and are never owned: every key must be
// the name of an AttributeSpec (`Set` is for builders that have the row).
class Attributes {
 public:
  using Entry = std::pair<absl::string_view, AttributeValue>;

  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) Set(e.first, e.second);
  }

  // `name` must outlive this object: a string literal or an AttributeSpec's.
  Attributes& Set(absl::string_view name, AttributeValue value);
  const AttributeValue* Find(absl::string_view name) const;
  bool Has(absl::string_view name) const { return Find(name) != nullptr; }

  // For shape rules and kernels, after InferShapes has checked presence and
  // kind. An absent optional attribute gives the fallback.
  bool GetBool(absl::string_view name, bool fallback = false) const;
  int64_t GetInt(absl::string_view name, int64_t fallback = 0) const;
  double GetFloat(absl::string_view name, double fallback = 0) const;
  absl::string_view GetString(absl::string_view name,
                              absl::string_view fallback = "") const;
  absl::Span<const int64_t> GetInts(absl::string_view name) const;
  DType GetDType(absl::string_view name) const;
  const Literal& GetLiteral(absl::string_view name) const;

  void Reserve(size_t size) { entries_.reserve(size); }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  absl::InlinedVector<Entry, 1> entries_;
};

bool SameAttributes(const Attributes& a, const Attributes& b);

}  // namespace hawser
#endif  // HAWSER_CORE_IR_ATTRIBUTES_H_
