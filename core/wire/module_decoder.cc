// Columns -> Module. One walk with a cursor per column (their lengths are known
// to agree), every instruction through Computation::Append, no recursion.
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/registry.h"
#include "core/wire/codec.h"
#include "core/wire/columns.h"
#include "core/wire/wire_dtype.h"

namespace hawser {
namespace {

// A constant besides its bytes: two allocations and their bookkeeping.
constexpr int64_t kLiteralOverhead = 192;
// Operands of one instruction, whose shapes are copied for its shape rule.
constexpr uint32_t kMaxOperands = 1 << 16;

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

int64_t MemoryOf(const Shape& shape) {
  return shape.rank() <= 6 ? 0 : shape.rank() * int64_t{sizeof(int64_t)};
}

class ModuleDecoder {
 public:
  ModuleDecoder(const ModuleColumns& columns, const ModuleLimits& limits,
                MemoryBudget* budget)
      : c_(columns),
        limits_(limits),
        budget_(*budget),
        ops_(c_.strings.size()) {}

  absl::StatusOr<Module> Decode();

 private:
  absl::Status DecodeShapes();
  absl::StatusOr<Computation> DecodeComputation(const Module& module,
                                                uint32_t instructions);
  absl::Status DecodeInstruction(const Module& module, const OpDef& op,
                                 Computation* computation);
  absl::StatusOr<absl::Span<const int>> DecodeCalled(const Module& module,
                                                     uint32_t count);
  absl::StatusOr<Attributes> DecodeAttributes(const OpDef& op, uint32_t count);
  absl::StatusOr<AttributeValue> DecodeValue(AttributeKind kind,
                                             absl::Span<const int64_t> values);
  absl::StatusOr<Literal> DecodeLiteral(absl::Span<const int64_t> values);
  absl::StatusOr<const OpDef*> OpAt(uint32_t string);

  const ModuleColumns& c_;
  const ModuleLimits& limits_;
  MemoryBudget& budget_;
  std::vector<Shape> shapes_;
  std::vector<const OpDef*> ops_;  // by string, nullptr: not looked up yet
  int64_t constant_bytes_ = 0;
  int64_t called_values_ = 0;
  std::vector<ValueId> operands_;  // of the instruction at hand
  std::vector<int> called_;

  Cursor<uint32_t> op_{c_.op}, num_operands_{c_.num_operands},
      num_results_{c_.num_results}, num_called_{c_.num_called},
      num_attributes_{c_.num_attributes}, operand_{c_.operands},
      result_shape_{c_.result_shape}, callee_{c_.called}, results_{c_.results},
      attribute_name_{c_.attribute_name}, attribute_kind_{c_.attribute_kind},
      attribute_size_{c_.attribute_size};
  Cursor<int64_t> attribute_values_{c_.attribute_values};
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

absl::StatusOr<Literal> ModuleDecoder::DecodeLiteral(
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

absl::StatusOr<AttributeValue> ModuleDecoder::DecodeValue(
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

absl::StatusOr<Attributes> ModuleDecoder::DecodeAttributes(const OpDef& op,
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
    const uint32_t name = attribute_name_.Take();
    const uint32_t kind = attribute_kind_.Take();
    const auto values = attribute_values_.Take(attribute_size_.Take());
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

absl::StatusOr<absl::Span<const int>> ModuleDecoder::DecodeCalled(
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

absl::Status ModuleDecoder::DecodeInstruction(const Module& module,
                                              const OpDef& op,
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
                          DecodeAttributes(op, num_attributes_.Take()));
  HAWSER_RETURN_IF_ERROR(
      computation->Append(module, op, operands_, std::move(attributes), called)
          .status());
  const auto claims = result_shape_.Take(num_results_.Take());
  const size_t actual = computation->num_values() - first_result;
  if (claims.size() != actual) {
    return InvalidArgument("claims ", claims.size(), " results, has ", actual);
  }
  for (size_t k = 0; k < actual; ++k) {
    const Shape& shape = computation->shape(first_result + k);
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
    absl::Status status = DecodeInstruction(module, **op, &computation);
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
