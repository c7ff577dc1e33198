#include "core/ops/op_table.h"

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/ops/registry.h"

namespace hawser {
namespace {

constexpr absl::string_view kMarker = "<!-- op table, generated -->\n";

std::string RangeText(CountRange range) {
  if (range.min == range.max) return absl::StrCat(range.min);
  if (range.max >= kMany) return absl::StrCat(range.min, "+");
  return absl::StrCat(range.min, "-", range.max);
}

// Names of sets, so that a cell stays short.
std::string DTypesText(DTypeSet dtypes) {
  struct Part {
    absl::string_view name;
    DTypeSet set;
  };
  constexpr Part kParts[] = {{"bool", kBoolOnly},
                             {"ints", kInts},
                             {"floats", kFloats},
                             {"complex", kComplexes}};
  std::string out;
  DTypeSet named;
  for (const Part& part : kParts) {
    bool whole = true;
    for (DType d : AllDTypes()) {
      whole = whole && (!part.set.Has(d) || dtypes.Has(d));
    }
    if (!whole) continue;
    absl::StrAppend(&out, out.empty() ? "" : ", ", part.name);
    named = named | part.set;
  }
  if (named == kAnyDType) return "any";
  for (DType d : AllDTypes()) {
    if (!dtypes.Has(d) || named.Has(d)) continue;
    absl::StrAppend(&out, out.empty() ? "" : ", ", DTypeName(d));
  }
  return out;
}

std::string AttributesText(const OpDef& op) {
  return absl::StrJoin(
      op.attributes, ", ", [](std::string* out, const AttributeSpec& spec) {
        absl::StrAppend(out, "`", spec.name, "` ",
                        AttributeKindName(spec.kind),
                        spec.required ? "" : "?");
      });
}

std::string ResultText(const DTypeRule& rule) {
  switch (rule.kind) {
    case DTypeRule::kSameAs:
      return absl::StrCat("as operand ", rule.operand);
    case DTypeRule::kFixed:
      return std::string(DTypeName(rule.fixed));
    case DTypeRule::kFromAttribute:
      return rule.fixed == DType::kInvalid
                 ? absl::StrCat("`", rule.attribute, "`")
                 : absl::StrCat("`", rule.attribute, "`, else ",
                                DTypeName(rule.fixed));
    case DTypeRule::kFromAttributeOrOperand:
      return absl::StrCat("`", rule.attribute, "`, else as operand ",
                          rule.operand);
    case DTypeRule::kFromComputation:
      return "as computed";
    case DTypeRule::kRealPartOf:
      return absl::StrCat("real part of ", rule.operand);
    case DTypeRule::kComplexOf:
      break;
  }
  return absl::StrCat("complex of ", rule.operand);
}

absl::string_view GradientText(const GradientDef& gradient) {
  switch (gradient.kind) {
    case GradientDef::kRule:
      return "yes";
    case GradientDef::kZero:
      return "zero";
    case GradientDef::kNotDifferentiable:
      return "none";
    case GradientDef::kNotYet:
      break;
  }
  return "not yet";
}

absl::string_view PartText(const PartDef& part) {
  switch (part.kind) {
    case PartDef::kRule:
      return "yes";
    case PartDef::kLeaf:
      return "leaf";
    case PartDef::kWhole:
      return "whole";
    case PartDef::kUndecided:
      break;
  }
  return "undecided";
}

std::string Row(const OpDef& op) {
  const std::string called =
      op.called.max == 0
          ? ""
          : absl::StrCat(", calls ", RangeText(op.called));
  const std::string cells[] = {
      absl::StrCat("`", op.name, "`", op.Is(kHawserOnly) ? " (ours)" : ""),
      absl::StrCat(op.since),
      absl::StrCat(RangeText(op.arity), called),
      DTypesText(op.dtypes),
      AttributesText(op),
      ResultText(op.result),
      std::string(GradientText(op.gradient)),
      std::string(PartText(op.part)),
      op.split == nullptr ? "" : "yes",
      absl::StrCat(op.ulp),
      std::string(op.summary),
      std::string(op.source),
  };
  return absl::StrCat(
      "| ",
      absl::StrJoin(cells, " | ",
                    [](std::string* out, const std::string& cell) {
                      out->append(absl::StrReplaceAll(cell, {{"|", "\\|"}}));
                    }),
      " |\n");
}

}  // namespace

std::string OpTable() {
  std::string out =
      "| op | since | operands | dtypes | attributes | result | gradient | "
      "part | split | ulp | what | source |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const OpDef* op : AllOps()) out += Row(*op);
  return out;
}

absl::StatusOr<std::string> WithOpTable(absl::string_view readme) {
  const auto at = readme.find(kMarker);
  if (at == absl::string_view::npos) {
    return InvalidArgument("the text lacks the line ", kMarker);
  }
  return absl::StrCat(readme.substr(0, at), kMarker, "\n", OpTable());
}

}  // namespace hawser
