#include "client/stablehlo/body/body.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "client/stablehlo/body/op_context.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"

namespace hawser::stablehlo {
namespace {

// The constant that makes a value of the builder, if it is a small one.
const Literal* SmallConstant(const ComputationBuilder& builder, ValueId value) {
  const Computation& computation = builder.computation();
  const Instruction& maker =
      computation.instructions()[computation.producer(value)];
  if (maker.op != &kConstant) return nullptr;
  const Literal& literal = maker.attributes.GetLiteral("value");
  return literal.shape().byte_size() <= kLargestConstant ? &literal : nullptr;
}

// Refuses what another form than the generic one would have left out.
absl::Status CheckOperandTypes(const Op& op, const Values& operands,
                               const ComputationBuilder& builder) {
  if (op.operand_types.empty()) return absl::OkStatus();
  if (op.operand_types.size() != operands.size()) {
    return InvalidArgument("has ", operands.size(), " operands and ",
                           op.operand_types.size(), " types of operands");
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    HAWSER_ASSIGN_OR_RETURN(const Shape claim, ShapeOf(op.operand_types[i]));
    const Shape& shape = builder.shape(operands[i]);
    if (claim != shape) {
      return InvalidArgument("operand ", i, " is ", shape.ToString(),
                             ", the text says ", claim.ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckResults(const std::vector<Shape>& claims,
                          const Values& values,
                          const ComputationBuilder& builder) {
  if (values.size() != claims.size()) {
    return InvalidArgument("gives ", values.size(), " results, the text says ",
                           claims.size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Shape& shape = builder.shape(values[i]);
    if (shape != claims[i]) {
      return InvalidArgument("result ", i, " is ", shape.ToString(),
                             ", the text says ", claims[i].ToString());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> ShapeOf(const Type& type) {
  if (!type.tensor) return Unimplemented("type ", Quoted(type.text));
  if (type.dynamic) return Unimplemented("dynamic sizes, ", ToString(type));
  if (type.dtype == DType::kInvalid) {
    return Unimplemented("elements of ", Quoted(type.element));
  }
  return Shape::Make(type.dtype, type.dims);
}

absl::Status Body::Bind(absl::string_view name,
                        absl::Span<const ValueId> values) {
  const Pack pack{static_cast<uint32_t>(values_.size()),
                  static_cast<uint32_t>(values.size())};
  if (!packs_.try_emplace(name, pack).second) {
    return InvalidArgument(Quoted(name), " is defined twice");
  }
  values_.insert(values_.end(), values.begin(), values.end());
  return absl::OkStatus();
}

absl::StatusOr<ValueId> Body::Find(const Operand& operand) const {
  const auto found = packs_.find(operand.name);
  if (found == packs_.end()) {
    return InvalidArgument("there is no ", Quoted(operand.name), " before it");
  }
  const auto index = static_cast<uint32_t>(operand.index);
  if (index >= found->second.count) {
    return InvalidArgument(Quoted(operand.name), " has ", found->second.count,
                           " values, not one with number ", operand.index);
  }
  return values_[found->second.first + index];
}

absl::StatusOr<Values> Body::OperandsOf(const Op& op) const {
  Values operands;
  for (const Operand& operand : op.operands) {
    HAWSER_ASSIGN_OR_RETURN(const ValueId value, Find(operand));
    operands.push_back(value);
  }
  return operands;
}

absl::Status Body::LowerOp(const Op& op) {
  HAWSER_RETURN_IF_ERROR(program_.Spend());
  const Row* row = program_.FindRow(op.name);
  if (row == nullptr) return Unimplemented("there is no such op");
  HAWSER_ASSIGN_OR_RETURN(Values operands, OperandsOf(op));
  HAWSER_RETURN_IF_ERROR(CheckOperandTypes(op, operands, builder_));
  OpContext context{program_, *this, op, *row, std::move(operands), {}};
  for (const Type& type : op.result_types) {
    HAWSER_ASSIGN_OR_RETURN(Shape shape, ShapeOf(type));
    context.results.push_back(std::move(shape));
  }
  HAWSER_ASSIGN_OR_RETURN(const Values values, row->lower(context));
  HAWSER_RETURN_IF_ERROR(builder_.status());
  HAWSER_RETURN_IF_ERROR(CheckResults(context.results, values, builder_));
  size_t next = 0;
  for (const ResultName& result : op.results) {
    const auto count = static_cast<size_t>(result.count);
    HAWSER_RETURN_IF_ERROR(
        Bind(result.name, absl::MakeConstSpan(values).subspan(next, count)));
    next += count;
  }
  return absl::OkStatus();
}

absl::StatusOr<Values> Body::Lower(const Region& region) {
  HAWSER_RETURN_IF_ERROR(program_.Enter());
  for (const Op& op : region.ops) {
    if (IsReturn(op)) {
      const auto returned = OperandsOf(op);
      if (!returned.ok()) return program_.Placed(returned.status(), op);
      const absl::Status checked = CheckOperandTypes(op, *returned, builder_);
      if (!checked.ok()) return program_.Placed(checked, op);
      program_.Leave();
      return *returned;
    }
    const absl::Status lowered = LowerOp(op);
    if (!lowered.ok()) return program_.Placed(lowered, op);
  }
  program_.Leave();
  return Values();
}

absl::StatusOr<ValueId> Body::ArrayOf(const Op& op) {
  const Row* const row = program_.FindRow(op.name);
  if (row == nullptr || op.result_types.size() != 1) {
    return InvalidArgument("gives one array");
  }
  OpContext context{program_, *this, op, *row, {}, {}};
  HAWSER_ASSIGN_OR_RETURN(Shape shape, ShapeOf(op.result_types[0]));
  context.results.push_back(std::move(shape));
  HAWSER_ASSIGN_OR_RETURN(const Values values, row->lower(context));
  HAWSER_RETURN_IF_ERROR(builder_.status());
  return values[0];
}

absl::StatusOr<Captures> CapturesOf(Program& program, Body& outer,
                                    absl::Span<const Region> regions) {
  Captures captures;
  absl::flat_hash_set<std::pair<absl::string_view, int>> seen;
  for (const Region& region : regions) {
    for (const Operand& operand : program.FreeOperands(region)) {
      if (!seen.insert({operand.name, operand.index}).second) continue;
      HAWSER_ASSIGN_OR_RETURN(const ValueId value, outer.Find(operand));
      if (SmallConstant(outer.builder(), value) != nullptr) {
        captures.constants.push_back(operand);
      } else {
        captures.lifted.push_back(operand);
        captures.values.push_back(value);
      }
    }
  }
  absl::flat_hash_set<const Op*> arrays;
  for (const Region& region : regions) {
    for (const Op* const op : program.arrays().In(region)) {
      if (!arrays.insert(op).second) continue;
      const absl::StatusOr<ValueId> value = outer.ArrayOf(*op);
      if (!value.ok()) return program.Placed(value.status(), *op);
      captures.arrays.push_back(op);
      captures.values.push_back(*value);
    }
  }
  return captures;
}

absl::StatusOr<int> AddComputation(Program& program, Body& outer,
                                   const Region& region,
                                   const Captures& captures,
                                   absl::string_view name) {
  ComputationBuilder builder(&program.module(), std::string(name));
  Body inner(&program, &builder);
  for (const BlockArgument& argument : region.arguments) {
    HAWSER_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(argument.type));
    HAWSER_RETURN_IF_ERROR(
        inner.Bind(argument.name, {builder.Parameter(shape, {})}));
  }
  // A pack of which single values are captured is bound anew as a whole.
  absl::flat_hash_map<absl::string_view, Values> packs;
  const auto place = [&](const Operand& operand, ValueId value) {
    Values& pack = packs[operand.name];
    const auto index = static_cast<size_t>(operand.index);
    if (pack.size() <= index) pack.resize(index + 1, kNoValue);
    pack[index] = value;
  };
  for (size_t i = 0; i < captures.lifted.size(); ++i) {
    const Shape shape = outer.builder().shape(captures.values[i]);
    place(captures.lifted[i], builder.Parameter(shape, {}));
  }
  for (size_t i = 0; i < captures.arrays.size(); ++i) {
    const ValueId value = captures.values[captures.lifted.size() + i];
    const Shape shape = outer.builder().shape(value);
    program.arrays().Set(builder, *captures.arrays[i],
                         builder.Parameter(shape, {}));
  }
  for (const Operand& operand : captures.constants) {
    HAWSER_ASSIGN_OR_RETURN(const ValueId value, outer.Find(operand));
    place(operand,
          builder.Constant(*SmallConstant(outer.builder(), value), {}));
  }
  for (const auto& [captured, values] : packs) {
    HAWSER_RETURN_IF_ERROR(inner.Bind(captured, values));
  }
  HAWSER_ASSIGN_OR_RETURN(const Values results, inner.Lower(region));
  program.arrays().Forget(builder);
  return builder.Finish(results);
}

}  // namespace hawser::stablehlo
