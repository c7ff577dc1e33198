#include "core/ops/batch/batch.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/status.h"
#include "core/ops/movement/shape.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

AttributeValue EditedValue(const AttributeValue& value,
                           AttributeEdit::Kind kind, int64_t size) {
  using Kind = AttributeEdit::Kind;
  if (const auto* axis = std::get_if<int64_t>(&value)) return *axis + 1;
  Dims list = std::get<Dims>(value);
  if (kind == Kind::kShift || kind == Kind::kShiftAnd0) {
    for (int64_t& axis : list) ++axis;
  }
  if (kind == Kind::kShiftAnd0 || kind == Kind::kFront0) {
    list.insert(list.begin(), 0);
  } else if (kind == Kind::kFront1) {
    list.insert(list.begin(), 1);
  } else if (kind == Kind::kFrontSize) {
    list.insert(list.begin(), size);
  }
  return list;
}

// Checks that axis 0 of the results and of operands with `axis` is one parallel
// axis by the op's own rule.
absl::Status CheckApart(const BatchContext& c, absl::Span<const Shape> operands,
                        const Attributes& attributes, const BatchFlags& axis,
                        absl::Span<const Shape> results) {
  std::vector<Signature> signatures;
  std::vector<const Signature*> called;
  for (const int k : c.instruction.called) {
    signatures.push_back(c.scope.builder.module()->signature(k));
  }
  for (const Signature& s : signatures) called.push_back(&s);
  const InferContext context{*c.instruction.op, operands, attributes, called};
  const AxisMap map = c.instruction.op->axes(context, results);
  const int factor = map.results[0][0];
  bool apart = map.factors[factor].kind == AxisKind::kParallel;
  for (const AxisMap::Axes& of : map.results) apart &= of[0] == factor;
  for (size_t i = 0; i < axis.size(); ++i) {
    apart &= !axis[i] || map.operands[i][0] == factor;
  }
  if (apart) return absl::OkStatus();
  return Internal("its axes rule mixes the entries of a batch");
}

}  // namespace

Dims BatchContext::WithSize(absl::Span<const int64_t> dims) const {
  Dims all(dims.begin(), dims.end());
  all.insert(all.begin(), size);
  return all;
}

Expression BatchContext::Spread(int i) const {
  return batched[i] ? operands[i] : Repeated(operands[i], size);
}

Expression AlongRest(const Expression& x, absl::Span<const int64_t> dims) {
  Dims rest;
  for (size_t i = 1; i < dims.size(); ++i) {
    rest.push_back(static_cast<int64_t>(i));
  }
  return rest.empty() ? x : hawser::Spread(x, dims, rest);
}

Expression Repeated(const Expression& x, int64_t size) {
  Dims dims = x.dims();
  dims.insert(dims.begin(), size);
  return hawser::Spread(x, dims, {0});
}

absl::StatusOr<std::vector<Expression>> Edited(
    const BatchContext& c, absl::Span<const AttributeEdit> edits,
    absl::Span<const Expression> operands, const BatchFlags& axis) {
  Attributes attributes = c.instruction.attributes;
  for (const AttributeEdit& edit : edits) {
    const AttributeValue* value = attributes.Find(edit.name);
    HAWSER_CHECK(value != nullptr);
    attributes.Set(edit.name, EditedValue(*value, edit.kind, c.size));
  }
  std::vector<ValueId> values;
  std::vector<Shape> shapes;
  for (const Expression& x : operands) {
    values.push_back(x.value());
    shapes.push_back(x.shape());
  }
  ComputationBuilder& b = c.scope.builder;
  HAWSER_RETURN_IF_ERROR(b.status());
  const ValueId first = b.Add(*c.instruction.op, values, attributes,
                              c.instruction.called, SourceLocation{});
  HAWSER_RETURN_IF_ERROR(b.status());
  std::vector<Expression> results;
  std::vector<Shape> given;
  for (int k = 0; k < c.instruction.num_results; ++k) {
    results.emplace_back(&c.scope, first + k);
    given.push_back(results.back().shape());
  }
  HAWSER_RETURN_IF_ERROR(CheckApart(c, shapes, attributes, axis, given));
  return results;
}

absl::StatusOr<std::vector<Expression>> EditedBatch(BatchContext& c) {
  std::vector<Expression> operands;
  for (int i = 0; i < c.count(); ++i) operands.push_back(c.Spread(i));
  return Edited(c, c.instruction.op->batch.edits, operands,
                BatchFlags(operands.size(), true));
}

// A scalar next to larger operands (a select's predicate, a clamp's bounds)
// stays one, or goes along the rest of them.
absl::StatusOr<std::vector<Expression>> ElementwiseBatch(BatchContext& c) {
  int largest = 0;
  for (int i = 1; i < c.count(); ++i) {
    if (c.shape(i).rank() > c.shape(largest).rank()) largest = i;
  }
  const Dims dims = c.WithSize(c.shape(largest).dims());
  std::vector<Expression> operands;
  BatchFlags axis;
  for (int i = 0; i < c.count(); ++i) {
    const bool smaller = c.shape(i).rank() < c.shape(largest).rank();
    axis.push_back(c.batched[i] || !smaller);
    if (!axis[i]) {
      operands.push_back(c.operands[i]);
    } else {
      operands.push_back(smaller ? AlongRest(c.operands[i], dims)
                                 : c.Spread(i));
    }
  }
  return Edited(c, c.instruction.op->batch.edits, operands, axis);
}

}  // namespace hawser
