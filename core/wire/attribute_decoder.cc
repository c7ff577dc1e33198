#include "core/wire/attribute_decoder.h"

#include <bit>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/wire/wire_dtype.h"

namespace hawser {
namespace {

// A constant besides its bytes: two allocations and their bookkeeping.
constexpr int64_t kLiteralOverhead = 192;

}  // namespace

absl::StatusOr<Literal> AttributeDecoder::DecodeLiteral(
    absl::Span<const int64_t> values) {
  const uint64_t shape = values[0];
  const uint64_t blob = values[1];
  if (shape >= shapes_.size()) {
    return InvalidArgument("is of shape ", shape, " of ", shapes_.size());
  }
  if (blob >= c_.blobs.size()) {
    return InvalidArgument("is blob ", blob, " of ", c_.blobs.size());
  }
  // A blob may be used again, so what counts is each use.
  const int64_t size = c_.blobs[blob].size();
  constant_bytes_ += size;
  if (constant_bytes_ > limits_.constant_bytes) {
    return ResourceExhausted("module has more than ", limits_.constant_bytes,
                             " bytes of constants");
  }
  HAWSER_RETURN_IF_ERROR(budget_.Take(size + kLiteralOverhead));
  return Literal::FromBytes(shapes_[shape], c_.blobs[blob]);
}

absl::StatusOr<AttributeValue> AttributeDecoder::DecodeValue(
    AttributeKind kind, absl::Span<const int64_t> values) {
  if (kind == AttributeKind::kInts) {
    HAWSER_RETURN_IF_ERROR(
        budget_.Take(values.size() <= 6 ? 0 : values.size() * 8));
    return Dims(values.begin(), values.end());
  }
  const size_t wanted = kind == AttributeKind::kLiteral ? 2 : 1;
  if (values.size() != wanted) {
    return InvalidArgument("has ", values.size(), " values, ",
                           AttributeKindName(kind), " takes ", wanted);
  }
  const int64_t value = values[0];
  switch (kind) {
    case AttributeKind::kBool:
      if (value != 0 && value != 1) {
        return InvalidArgument("is ", value, ", a bool is 0 or 1");
      }
      return value == 1;
    case AttributeKind::kFloat:
      return std::bit_cast<double>(value);
    case AttributeKind::kString: {
      if (static_cast<uint64_t>(value) >= c_.strings.size()) {
        return InvalidArgument("is string ", value, " of ", c_.strings.size());
      }
      const absl::string_view text = c_.strings[value];
      HAWSER_RETURN_IF_ERROR(budget_.Take(text.size()));
      return std::string(text);
    }
    case AttributeKind::kDType:
      return DTypeFromWire(value);
    case AttributeKind::kLiteral:
      return DecodeLiteral(values);
    default:
      return value;
  }
}

absl::StatusOr<Attributes> AttributeDecoder::Decode(const OpDef& op,
                                                    uint32_t count) {
  Attributes attributes;
  if (count > op.attributes.size()) {
    return InvalidArgument("has ", count, " attributes, there are ",
                           op.attributes.size());
  }
  if (count > 1) {  // the first lies in the instruction
    HAWSER_RETURN_IF_ERROR(budget_.Take(count * sizeof(Attributes::Entry)));
    attributes.Reserve(count);
  }
  absl::string_view previous;
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t name = name_.Take();
    const uint32_t kind = kind_.Take();
    const auto values = values_.Take(size_.Take());
    if (name >= c_.strings.size()) {
      return InvalidArgument("attribute ", k, " is string ", name, " of ",
                             c_.strings.size());
    }
    // The op's own spelling of the name outlives the bytes.
    const AttributeSpec* spec = op.FindAttribute(c_.strings[name]);
    if (spec == nullptr) {
      return InvalidArgument("has no attribute ",
                             QuotedWireText(c_.strings[name]));
    }
    if (k > 0 && spec->name <= previous) {
      return InvalidArgument("attribute ", spec->name,
                             " stands twice or out of order");
    }
    previous = spec->name;
    if (kind >= kNumAttributeKinds) {
      return InvalidArgument("attribute ", spec->name, " has unknown kind ",
                             kind);
    }
    auto value = DecodeValue(static_cast<AttributeKind>(kind), values);
    if (!value.ok()) {
      return Annotate(value.status(), absl::StrCat("attribute ", spec->name));
    }
    attributes.Set(spec->name, *std::move(value));
  }
  return attributes;
}

}  // namespace hawser
