#include "core/ir/op_def.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hawser {
namespace {

absl::Status CheckCount(absl::string_view what, CountRange range, size_t got) {
  const int n = static_cast<int>(got);
  if (n >= range.min && n <= range.max) return absl::OkStatus();
  const std::string want =
      range.min == range.max ? absl::StrCat(range.min)
      : range.max >= kMany   ? absl::StrCat("at least ", range.min)
                             : absl::StrCat(range.min, " to ", range.max);
  return InvalidArgument("takes ", want, " ", what, ", got ", n);
}

absl::Status CheckAttributes(const OpDef& op, const Attributes& attributes) {
  size_t known = 0;
  for (const AttributeSpec& spec : op.attributes) {
    const AttributeValue* value = attributes.Find(spec.name);
    if (value == nullptr) {
      if (!spec.required) continue;
      return InvalidArgument("attribute ", spec.name, " is missing");
    }
    ++known;
    if (KindOf(*value) != spec.kind) {
      return InvalidArgument("attribute ", spec.name, " is ",
                             AttributeKindName(KindOf(*value)), ", must be ",
                             AttributeKindName(spec.kind));
    }
  }
  if (known == attributes.size()) return absl::OkStatus();
  const auto unknown = std::find_if(
      attributes.begin(), attributes.end(), [&op](const auto& attribute) {
        return op.FindAttribute(attribute.first) == nullptr;
      });
  return InvalidArgument("has no attribute ", unknown->first);
}

absl::Status CheckCounts(const InferContext& c) {
  HAWSER_RETURN_IF_ERROR(
      CheckCount("operands", c.op.arity, c.operands.size()));
  HAWSER_RETURN_IF_ERROR(
      CheckCount("computations", c.op.called, c.called.size()));
  return CheckAttributes(c.op, c.attributes);
}

}  // namespace

std::string ShapesToString(absl::Span<const Shape> shapes) {
  constexpr size_t kShown = 16;
  const bool all = shapes.size() <= kShown;
  const std::string text = absl::StrJoin(
      all ? shapes : shapes.subspan(0, kShown), ", ",
      [](std::string* out, const Shape& s) { out->append(s.ToString()); });
  return all ? absl::StrCat("(", text, ")")
             : absl::StrCat("(", text, ", ... ", shapes.size(), " in all)");
}

std::string Signature::ToString() const {
  return absl::StrCat(ShapesToString(parameters), " -> ",
                      ShapesToString(results));
}

absl::string_view AxisKindName(AxisKind kind) {
  constexpr absl::string_view kNames[] = {"parallel", "contracted",
                                          "broadcast", "windowed",
                                          "indexed",  "opaque"};
  return kNames[static_cast<int>(kind)];
}

const AttributeSpec* OpDef::FindAttribute(absl::string_view attribute) const {
  for (const AttributeSpec& spec : attributes) {
    if (spec.name == attribute) return &spec;
  }
  return nullptr;
}

absl::StatusOr<Shapes> InferShapes(const InferContext& context) {
  absl::Status counts = CheckCounts(context);
  if (!counts.ok()) return Annotate(counts, context.op.name);
  absl::StatusOr<Shapes> shapes = context.op.infer(context);
  if (!shapes.ok()) return Annotate(shapes.status(), context.op.name);
  return shapes;
}

}  // namespace hawser
