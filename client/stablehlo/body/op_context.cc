#include "client/stablehlo/body/op_context.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

absl::Status WrongKind(absl::string_view name, absl::string_view kind) {
  return InvalidArgument("attribute ", Quoted(name), " is no ", kind);
}

// Older programs write lists of numbers as tensors. False: it holds no numbers.
bool IntsOfElements(const Elements& elements, Dims* ints) {
  const Literal& value = elements.value;
  if (!value.valid() || value.shape().dtype() != DType::kS64 ||
      elements.type.dims.size() > 1) {
    return false;
  }
  const auto numbers = value.data<int64_t>();
  if (!elements.splat) {
    ints->assign(numbers.begin(), numbers.end());
    return true;
  }
  const int64_t count = elements.type.dims[0];
  if (count > 2 * kMaxRank) return false;
  ints->assign(static_cast<size_t>(count), numbers[0]);
  return true;
}

}  // namespace

Values OpContext::Add(const OpDef& def, absl::Span<const ValueId> on,
                      Attributes attributes, absl::Span<const int> called) {
  Values values;
  const ValueId first =
      builder().Add(def, on, std::move(attributes), called, {});
  if (first == kNoValue) return values;
  for (ValueId v = first; v < builder().computation().num_values(); ++v) {
    values.push_back(v);
  }
  return values;
}

absl::Status OpContext::ExpectOperands(size_t least, size_t most) const {
  if (operands.size() >= least && operands.size() <= most) {
    return absl::OkStatus();
  }
  return InvalidArgument("takes ", least,
                         most == least ? "" : absl::StrCat(" to ", most),
                         " operands, has ", operands.size());
}

absl::Status OpContext::ExpectRegions(size_t count) const {
  if (op.regions.size() == count) return absl::OkStatus();
  return InvalidArgument("takes ", count, " regions, has ", op.regions.size());
}

absl::StatusOr<Dims> OpContext::Ints(absl::string_view name) const {
  const Attribute* attribute = FindAttribute(op, name);
  if (attribute == nullptr) return Dims();
  Dims ints;
  if (attribute->kind == Attribute::kInts) {
    ints.assign(attribute->ints.begin(), attribute->ints.end());
    return ints;
  }
  if (attribute->kind != Attribute::kElements ||
      !IntsOfElements(*attribute->elements, &ints)) {
    return WrongKind(name, "list of integers");
  }
  return ints;
}

absl::StatusOr<int64_t> OpContext::Int(absl::string_view name,
                                       int64_t fallback) const {
  const Attribute* attribute = FindAttribute(op, name);
  if (attribute == nullptr) return fallback;
  int64_t value = 0;
  if (attribute->kind != Attribute::kNumber ||
      !absl::SimpleAtoi(attribute->text, &value)) {
    return WrongKind(name, "integer");
  }
  return value;
}

absl::string_view OpContext::Text(absl::string_view name) const {
  const Attribute* attribute = FindAttribute(op, name);
  return attribute == nullptr ? "" : attribute->text;
}

absl::StatusOr<Attributes> OpContext::AttributesOf(const OpDef& def) const {
  Attributes attributes;
  for (const AttributeSpec& spec : def.attributes) {
    if (spec.name == "dims" || spec.name == "dtype") {
      if (results.empty()) return InvalidArgument("has no result");
      if (spec.kind == AttributeKind::kDType) {
        attributes.Set(spec.name, results[0].dtype());
      } else {
        attributes.Set(spec.name, results[0].dims());
      }
    } else if (spec.kind == AttributeKind::kInts) {
      HAWSER_ASSIGN_OR_RETURN(Dims ints, Ints(spec.name));
      attributes.Set(spec.name, std::move(ints));
    } else if (spec.kind == AttributeKind::kInt) {
      HAWSER_ASSIGN_OR_RETURN(const int64_t value, Int(spec.name, 0));
      attributes.Set(spec.name, value);
    }
  }
  return attributes;
}

absl::StatusOr<std::vector<int>> OpContext::ClosedRegions() {
  HAWSER_ASSIGN_OR_RETURN(const Captures captures,
                          CapturesOf(program, body, op.regions));
  if (!captures.lifted.empty()) {
    return Unimplemented("the region takes ", Quoted(captures.lifted[0].name),
                         " from around it");
  }
  if (!captures.arrays.empty()) {
    return Unimplemented("the region takes an array of a dataset");
  }
  std::vector<int> computations;
  for (const Region& region : op.regions) {
    HAWSER_ASSIGN_OR_RETURN(
        const int computation,
        AddComputation(program, body, region, captures, op.name));
    computations.push_back(computation);
  }
  return computations;
}

}  // namespace hawser::stablehlo
