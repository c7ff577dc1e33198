// AttributeDecoder: the attributes of a module's instructions, off its columns.
#ifndef HAWSER_CORE_WIRE_ATTRIBUTE_DECODER_H_
#define HAWSER_CORE_WIRE_ATTRIBUTE_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"
#include "core/ir/attributes.h"
#include "core/ir/op_def.h"
#include "core/ir/verifier.h"
#include "core/wire/columns.h"

namespace hawser {

// The next `n` entries of a column.
template <typename T>
class Cursor {
 public:
  explicit Cursor(const std::vector<T>& column) : rest_(column) {}
  absl::Span<const T> Take(size_t n) {
    const auto taken = rest_.first(n);
    rest_.remove_prefix(n);
    return taken;
  }
  T Take() { return Take(1)[0]; }

 private:
  absl::Span<const T> rest_;
};

// Takes the attributes of one instruction after another, and counts what their
// constants hold.
class AttributeDecoder {
 public:
  // All outlive it; `shapes` is complete at the first Decode.
  AttributeDecoder(const ModuleColumns& columns,
                   const std::vector<Shape>& shapes, const ModuleLimits& limits,
                   MemoryBudget* budget)
      : c_(columns), shapes_(shapes), limits_(limits), budget_(*budget) {}

  // The next `count`, of an instruction of `op`. Errors: kInvalidArgument
  // naming the attribute; kResourceExhausted.
  absl::StatusOr<Attributes> Decode(const OpDef& op, uint32_t count);

 private:
  absl::StatusOr<AttributeValue> DecodeValue(AttributeKind kind,
                                             absl::Span<const int64_t> values);
  absl::StatusOr<Literal> DecodeLiteral(absl::Span<const int64_t> values);

  const ModuleColumns& c_;
  const std::vector<Shape>& shapes_;
  const ModuleLimits& limits_;
  MemoryBudget& budget_;
  int64_t constant_bytes_ = 0;
  Cursor<uint32_t> name_{c_.attribute_name}, kind_{c_.attribute_kind},
      size_{c_.attribute_size};
  Cursor<int64_t> values_{c_.attribute_values};
};

}  // namespace hawser
#endif  // HAWSER_CORE_WIRE_ATTRIBUTE_DECODER_H_
