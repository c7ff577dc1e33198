// Columns -> Module. One walk with a cursor per column (their lengths are known
// to agree), every instruction through Computation::Append, no recursion.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/registry.h"
#include "core/wire/attribute_decoder.h"
#include "core/wire/codec.h"
#include "core/wire/columns.h"
#include "core/wire/wire_dtype.h"

namespace hawser {
namespace {

// Operands of one instruction, whose shapes are copied for its shape rule.
constexpr uint32_t kMaxOperands = 1 << 16;

int64_t MemoryOf(const Shape& shape) {
  return shape.rank() <= 6 ? 0 : shape.rank() * int64_t{sizeof(int64_t)};
}

// Takes one instruction after another. All that it is given outlives it;
// `shapes` is complete at the first Decode.
class InstructionDecoder {
 public:
  InstructionDecoder(const ModuleColumns& columns,
                     const std::vector<Shape>& shapes,
                     const ModuleLimits& limits, MemoryBudget* budget)
      : shapes_(shapes),
        limits_(limits),
        budget_(*budget),
        attributes_(columns, shapes, limits, budget),
        num_operands_(columns.num_operands),
        num_results_(columns.num_results),
        num_called_(columns.num_called),
        num_attributes_(columns.num_attributes),
        operand_(columns.operands),
        result_shape_(columns.result_shape),
        callee_(columns.called) {}

  // Appends the next one, which is of `op`, to a computation of `module`.
  absl::Status Decode(const Module& module, const OpDef& op,
                      Computation* computation);

 private:
  absl::StatusOr<absl::Span<const int>> DecodeCalled(const Module& module,
                                                     uint32_t count);
  // Compares the next claims with the results from `first_result` on.
  absl::Status CheckResults(const Computation& computation,
                            uint32_t first_result);

  const std::vector<Shape>& shapes_;
  const ModuleLimits& limits_;
  MemoryBudget& budget_;
  AttributeDecoder attributes_;
  int64_t called_values_ = 0;
  std::vector<ValueId> operands_;  // of the instruction at hand
  std::vector<int> called_;
  Cursor<uint32_t> num_operands_, num_results_, num_called_, num_attributes_,
      operand_, result_shape_, callee_;
};

absl::StatusOr<absl::Span<const int>> InstructionDecoder::DecodeCalled(
    const Module& module, uint32_t count) {
  called_.clear();
  for (const uint32_t callee : callee_.Take(count)) {
    if (callee >= module.computations().size()) {
      return InvalidArgument("calls computation ", callee,
                             ", which is not a smaller index");
    }
    // Shape rules look at every value a called computation takes or gives.
    const Signature& signature = module.signature(callee);
    called_values_ += signature.parameters.size() + signature.results.size();
    if (called_values_ > limits_.operands) {
      return ResourceExhausted("module has more than ", limits_.operands,
                               " operands in calls");
    }
    called_.push_back(static_cast<int>(callee));
  }
  return called_;
}

absl::Status InstructionDecoder::Decode(const Module& module, const OpDef& op,
                                        Computation* computation) {
  const uint32_t first_result = computation->num_values();
  const uint32_t num_operands = num_operands_.Take();
  if (num_operands > kMaxOperands) {
    return ResourceExhausted("has ", num_operands, " operands, the limit is ",
                             kMaxOperands);
  }
  HAWSER_RETURN_IF_ERROR(budget_.Take(
      sizeof(Instruction) + (num_operands > 3 ? num_operands * 4 : 0)));
  operands_.clear();
  for (const uint32_t distance : operand_.Take(num_operands)) {
    if (distance == 0 || distance > first_result) {
      return InvalidArgument("operand ", operands_.size(), " is ", distance,
                             " back from value ", first_result);
    }
    operands_.push_back(static_cast<ValueId>(first_result - distance));
  }
  HAWSER_ASSIGN_OR_RETURN(auto called,
                          DecodeCalled(module, num_called_.Take()));
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes,
                          attributes_.Decode(op, num_attributes_.Take()));
  HAWSER_RETURN_IF_ERROR(
      computation->Append(module, op, operands_, std::move(attributes), called)
          .status());
  return CheckResults(*computation, first_result);
}

absl::Status InstructionDecoder::CheckResults(const Computation& computation,
                                              uint32_t first_result) {
  const auto claims = result_shape_.Take(num_results_.Take());
  const size_t actual = computation.num_values() - first_result;
  if (claims.size() != actual) {
    return InvalidArgument("claims ", claims.size(), " results, has ", actual);
  }
  for (size_t k = 0; k < actual; ++k) {
    const Shape& shape = computation.shape(first_result + k);
    if (claims[k] >= shapes_.size()) {
      return InvalidArgument("claims result ", k, " is of shape ", claims[k],
                             " of ", shapes_.size());
    }
    const Shape& claimed = shapes_[claims[k]];
    if (claimed != shape) {
      return InvalidArgument("claims result ", k, " is ", claimed.ToString(),
                             ", it is ", shape.ToString());
    }
    HAWSER_RETURN_IF_ERROR(budget_.Take(sizeof(Shape) + 8 + MemoryOf(shape)));
  }
  return absl::OkStatus();
}

class ModuleDecoder {
 public:
  ModuleDecoder(const ModuleColumns& columns, const ModuleLimits& limits,
                MemoryBudget* budget)
      : c_(columns),
        limits_(limits),
        budget_(*budget),
        ops_(c_.strings.size()),
        instructions_(columns, shapes_, limits, budget) {}

  absl::StatusOr<Module> Decode();

 private:
  absl::Status DecodeShapes();
  absl::StatusOr<Computation> DecodeComputation(const Module& module,
                                                uint32_t instructions);
  absl::StatusOr<const OpDef*> OpAt(uint32_t string);

  const ModuleColumns& c_;
  const ModuleLimits& limits_;
  MemoryBudget& budget_;
  std::vector<Shape> shapes_;
  std::vector<const OpDef*> ops_;  // by string, nullptr: not looked up yet
  InstructionDecoder instructions_;
  Cursor<uint32_t> op_{c_.op}, results_{c_.results};
};

absl::Status ModuleDecoder::DecodeShapes() {
  const size_t count = c_.shape_dtype.size();
  HAWSER_RETURN_IF_ERROR(budget_.Take(count * sizeof(Shape)));
  shapes_.reserve(count);
  Cursor<uint64_t> sizes(c_.shape_dims);
  for (size_t i = 0; i < count; ++i) {
    auto shape = [&]() -> absl::StatusOr<Shape> {
      HAWSER_ASSIGN_OR_RETURN(const DType dtype,
                              DTypeFromWire(c_.shape_dtype[i]));
      Dims dims;
      for (const uint64_t size : sizes.Take(c_.shape_rank[i])) {
        if (size > uint64_t{INT64_MAX}) {
          return InvalidArgument("the size ", size, " is too large");
        }
        // One above the largest rank is enough for Make to refuse it.
        if (dims.size() <= kMaxRank) dims.push_back(size);
      }
      return Shape::Make(dtype, dims);
    }();
    if (!shape.ok()) {
      return Annotate(shape.status(), absl::StrCat("shape ", i));
    }
    HAWSER_RETURN_IF_ERROR(budget_.Take(MemoryOf(*shape)));
    shapes_.push_back(*std::move(shape));
  }
  return absl::OkStatus();
}

absl::StatusOr<const OpDef*> ModuleDecoder::OpAt(uint32_t string) {
  if (string >= ops_.size()) {
    return InvalidArgument("op is string ", string, " of ", ops_.size());
  }
  const OpDef*& op = ops_[string];
  if (op == nullptr) op = FindOp(c_.strings[string]);
  if (op == nullptr) {
    return Unimplemented("op ", QuotedWireText(c_.strings[string]),
                         " is not in opset ", kOpset, " of this end");
  }
  return op;
}

absl::StatusOr<Computation> ModuleDecoder::DecodeComputation(
    const Module& module, uint32_t instructions) {
  const size_t index = module.computations().size();
  Computation computation{std::string(c_.computation_name[index])};
  computation.Reserve(instructions, instructions);
  const std::string where =
      absl::StrCat("computation ", QuotedWireText(c_.computation_name[index]),
                   ", instruction ");
  for (uint32_t i = 0; i < instructions; ++i) {
    auto op = OpAt(op_.Take());
    if (!op.ok()) return Annotate(op.status(), absl::StrCat(where, i));
    absl::Status status = instructions_.Decode(module, **op, &computation);
    if (!status.ok()) {
      return Annotate(status, absl::StrCat(where, i, " (", (*op)->name, ")"));
    }
  }
  std::vector<ValueId> results;
  int64_t memory = 0;
  for (const uint32_t r : results_.Take(c_.computation_results[index])) {
    if (r >= static_cast<uint32_t>(computation.num_values())) {
      return InvalidArgument(
          "computation ", QuotedWireText(c_.computation_name[index]),
          " returns value ", r, " but has ", computation.num_values());
    }
    results.push_back(static_cast<ValueId>(r));
    memory += sizeof(Shape) + MemoryOf(computation.shape(r));
  }
  for (int p = 0; p < computation.num_parameters(); ++p) {
    memory += sizeof(Shape) + MemoryOf(computation.shape(p));
  }
  HAWSER_RETURN_IF_ERROR(budget_.Take(memory));  // of its Signature
  HAWSER_RETURN_IF_ERROR(computation.SetResults(results));
  return computation;
}

absl::StatusOr<Module> ModuleDecoder::Decode() {
  if (c_.opset > static_cast<uint32_t>(kOpset)) {
    return Unimplemented("module needs opset ", c_.opset, ", this end has ",
                         kOpset);
  }
  if (c_.computation_name.empty()) {
    return InvalidArgument("module has no computation");
  }
  HAWSER_RETURN_IF_ERROR(DecodeShapes());
  Module module{std::string(c_.name)};
  for (const uint32_t instructions : c_.computation_instructions) {
    HAWSER_ASSIGN_OR_RETURN(Computation computation,
                            DecodeComputation(module, instructions));
    module.Add(std::move(computation));
  }
  if (static_cast<uint32_t>(module.opset()) != c_.opset) {
    return InvalidArgument("module claims opset ", c_.opset, ", its ops need ",
                           module.opset());
  }
  HAWSER_RETURN_IF_ERROR(CheckLimits(module, limits_));
  return module;
}

}  // namespace

absl::StatusOr<Module> DecodeModule(absl::string_view bytes,
                                    const ModuleLimits& limits) {
  MemoryBudget budget(limits);
  HAWSER_ASSIGN_OR_RETURN(ModuleColumns columns,
                          ReadColumns(bytes, limits, &budget));
  HAWSER_RETURN_IF_ERROR(CheckLengths(columns));
  return ModuleDecoder(columns, limits, &budget).Decode();
}

}  // namespace hawser
