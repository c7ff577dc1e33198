// Shape and axes rules called the short way, with shapes as text.
#ifndef HAWSER_TESTS_CORE_OPS_INFER_H_
#define HAWSER_TESTS_CORE_OPS_INFER_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/ir/op_def.h"
#include "tests/testing/matchers.h"

namespace hawser {

// "f32[2,3] s32[]" -> two shapes.
inline std::vector<Shape> ShapesOf(absl::string_view text) {
  std::vector<Shape> shapes;
  for (absl::string_view part :
       absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    auto shape = ParseShape(part);
    EXPECT_OK(shape) << part;
    shapes.push_back(shape.value_or(Shape()));
  }
  return shapes;
}

// "f32[] f32[] -> f32[]"
inline Signature SignatureOf(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> sides =
      absl::StrSplit(text, absl::MaxSplits("->", 1));
  return {ShapesOf(sides.first), ShapesOf(sides.second)};
}

// The result shapes in the form of the operands' text; `called` are texts of
// signatures.
inline absl::StatusOr<std::string> Infer(
    const OpDef& op, absl::string_view operands, Attributes attributes = {},
    std::vector<absl::string_view> called = {}) {
  const std::vector<Shape> shapes = ShapesOf(operands);
  std::vector<Signature> signatures;
  for (absl::string_view text : called) {
    signatures.push_back(SignatureOf(text));
  }
  std::vector<const Signature*> pointers;
  for (const Signature& s : signatures) pointers.push_back(&s);
  HAWSER_ASSIGN_OR_RETURN(const Shapes results,
                          InferShapes({op, shapes, attributes, pointers}));
  return absl::StrJoin(results, " ", [](std::string* out, const Shape& s) {
    out->append(s.ToString());
  });
}

// One letter per factor kind and its number, for each axis of each operand,
// then of each result: "p0,c1 c1,p2 -> p0,p2". A scalar is "-".
inline std::string AxesOf(const OpDef& op, absl::string_view operands,
                          Attributes attributes = {},
                          std::vector<absl::string_view> called = {}) {
  const std::vector<Shape> shapes = ShapesOf(operands);
  std::vector<Signature> signatures;
  for (absl::string_view text : called) {
    signatures.push_back(SignatureOf(text));
  }
  std::vector<const Signature*> pointers;
  for (const Signature& s : signatures) pointers.push_back(&s);
  const InferContext context{op, shapes, attributes, pointers};
  const auto results = InferShapes(context);
  EXPECT_OK(results);
  if (!results.ok()) return "";
  const AxisMap map = op.axes(context, *results);
  EXPECT_EQ(map.operands.size(), shapes.size());
  EXPECT_EQ(map.results.size(), results->size());

  std::vector<std::string> parts;
  auto add = [&](const AxisMap::Axes& axes, const Shape& shape) {
    EXPECT_EQ(static_cast<int>(axes.size()), shape.rank());
    std::string part;
    for (size_t i = 0; i < axes.size(); ++i) {
      const AxisMap::Factor& factor = map.factors.at(axes[i]);
      EXPECT_EQ(factor.size, shape.dim(i)) << op.name;
      absl::StrAppend(&part, i == 0 ? "" : ",",
                      AxisKindName(factor.kind).substr(0, 1), axes[i]);
    }
    parts.push_back(part.empty() ? "-" : part);
  };
  for (size_t i = 0; i < shapes.size(); ++i) add(map.operands[i], shapes[i]);
  parts.push_back("->");
  for (size_t i = 0; i < results->size(); ++i) {
    add(map.results[i], (*results)[i]);
  }
  return absl::StrJoin(parts, " ");
}

// The error of constraint `n` of `op`.
inline auto Breaks(const OpDef& op, int n) {
  return StatusIs(absl::StatusCode::kInvalidArgument,
                  absl::StrCat(op.name, ": C", n, ": "));
}

// StatusOr<std::string> with exactly these shapes.
MATCHER_P(Gives, shapes, absl::StrCat("gives ", shapes)) {
  if (!arg.ok()) {
    *result_listener << "which is " << arg.status();
    return false;
  }
  *result_listener << "which gives " << *arg;
  return *arg == shapes;
}

}  // namespace hawser
#endif  // HAWSER_TESTS_CORE_OPS_INFER_H_
