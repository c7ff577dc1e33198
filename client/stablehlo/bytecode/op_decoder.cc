#include "client/stablehlo/bytecode/op_decoder.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/stablehlo/bytecode/dialects/sdy.h"
#include "client/stablehlo/bytecode/dialects/vhlo.h"
#include "core/base/status.h"

namespace hawser::stablehlo {
namespace {

constexpr int kDeepestRegion = 200;
// The versions that brought these.
constexpr uint64_t kIsolatedSections = 2, kUseOrders = 3, kArgumentFlags = 4;

// What an op has, as bits of its mask.
enum Has : uint8_t {
  kAttributes = 0x01,
  kResults = 0x02,
  kOperands = 0x04,
  kSuccessors = 0x08,
  kRegions = 0x10,
  kUses = 0x20,
  kProperties = 0x40,
};

// Lists of integers and bools stand as tensors; text writes them as lists.
AttributePtr AsInts(const AttributePtr& value) {
  if (value->kind != Attribute::kElements) return value;
  const Elements& elements = *value->elements;
  if (elements.type.dims.size() != 1 || !elements.value.valid()) return value;
  const int64_t count = elements.type.dims[0];
  const DType dtype = elements.value.shape().dtype();
  const bool is_list = dtype == DType::kBool || dtype == DType::kS64;
  if (!is_list || count > 2 * kMaxRank) return value;
  auto made = std::make_shared<Attribute>();
  made->kind = Attribute::kInts;
  for (int64_t i = 0; i < count; ++i) {
    const size_t at = elements.splat ? 0 : static_cast<size_t>(i);
    made->ints.push_back(dtype == DType::kBool
                             ? int64_t{elements.value.data<bool>()[at]}
                             : elements.value.data<int64_t>()[at]);
  }
  return made;
}

}  // namespace

OpDecoder::OpDecoder(const Source* source, const Container* container,
                     TreeStrings* strings)
    : source_(*source),
      container_(*container),
      strings_(*strings),
      types_(source, container, strings),
      attributes_(source, container, &types_, strings) {
  for (const absl::string_view name : container->op_names) {
    strings_.push_back(vhlo::StableHloName(name));
    names_.push_back(strings_.back());
  }
}

absl::Status OpDecoder::ReadAll(std::vector<Op>* ops) {
  Cursor cursor(&source_, container_.ops);
  Numbering none;
  Region top;
  HAWSER_RETURN_IF_ERROR(ReadBlock(&cursor, &none, &top));
  if (!cursor.done()) return cursor.Invalid("bytes after the last op");
  *ops = std::move(top.ops);
  return absl::OkStatus();
}

absl::StatusOr<absl::string_view> OpDecoder::Define(const Cursor& cursor,
                                                    const Type* type,
                                                    Numbering* numbers) {
  if (numbers->next >= numbers->end) {
    return cursor.Invalid("more values than the region has");
  }
  strings_.push_back(absl::StrCat("%", values_++));
  scopes_.back()[numbers->next++] = {strings_.back(), type};
  return strings_.back();
}

absl::Status OpDecoder::ReadRegion(Cursor* cursor, Region* to) {
  HAWSER_ASSIGN_OR_RETURN(const size_t blocks, cursor->Count());
  if (blocks == 0) return absl::OkStatus();
  if (blocks > 1) return cursor->Invalid("a region of ", blocks, " blocks");
  if (++depth_ > kDeepestRegion) {
    return cursor->Invalid("regions nested deeper than ", kDeepestRegion);
  }
  HAWSER_ASSIGN_OR_RETURN(const size_t values, cursor->Count());
  Scope& scope = scopes_.back();
  const size_t base = scope.size();
  scope.resize(base + values);
  Numbering numbers{base, base + values};
  HAWSER_RETURN_IF_ERROR(ReadBlock(cursor, &numbers, to));
  scopes_.back().resize(base);
  --depth_;
  return absl::OkStatus();
}

absl::Status OpDecoder::ReadBlock(Cursor* cursor, Numbering* numbers,
                                  Region* to) {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t head, cursor->Number());
  if ((head & 1) != 0) {
    HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor->Count());
    for (size_t i = 0; i < count; ++i) {
      Cursor peek = *cursor;
      HAWSER_ASSIGN_OR_RETURN(uint64_t number, peek.Number());
      bool has_location = true;
      if (container_.version >= kArgumentFlags) {
        has_location = (number & 1) != 0;
        number >>= 1;
      }
      HAWSER_ASSIGN_OR_RETURN(const CodedType* type,
                              types_.Numbered(*cursor, number));
      *cursor = peek;
      if (has_location) HAWSER_RETURN_IF_ERROR(cursor->Number().status());
      HAWSER_ASSIGN_OR_RETURN(const absl::string_view name,
                              Define(*cursor, &type->type, numbers));
      to->arguments.push_back({name, type->type});
    }
    if (container_.version >= kUseOrders) {
      HAWSER_ASSIGN_OR_RETURN(const uint8_t has_orders, cursor->Byte());
      if (has_orders != 0) HAWSER_RETURN_IF_ERROR(SkipUseOrders(cursor, count));
    }
  }
  if (head >> 1 > cursor->left()) {
    return cursor->Invalid(head >> 1, " ops in the last ", cursor->left(),
                           " bytes");
  }
  for (uint64_t i = 0; i < head >> 1; ++i) {
    HAWSER_ASSIGN_OR_RETURN(Op op, ReadOp(cursor, numbers));
    to->ops.push_back(std::move(op));
  }
  return absl::OkStatus();
}

absl::StatusOr<Op> OpDecoder::ReadOp(Cursor* cursor, Numbering* numbers) {
  Op op;
  std::vector<const Type*> results;
  op.where = cursor->at();
  HAWSER_ASSIGN_OR_RETURN(const size_t name,
                          cursor->Index(names_.size(), "names of ops"));
  op.name = names_[name];
  HAWSER_ASSIGN_OR_RETURN(const uint8_t has, cursor->Byte());
  HAWSER_ASSIGN_OR_RETURN(op.location, attributes_.ReadLocation(cursor));
  if ((has & kAttributes) != 0) {
    HAWSER_RETURN_IF_ERROR(attributes_.ReadFields(cursor, &op.attributes));
  }
  if ((has & kProperties) != 0) {
    HAWSER_RETURN_IF_ERROR(
        ReadProperties(cursor, container_.op_names[name], &op));
  }
  if ((has & kResults) != 0) {
    HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor->Count());
    for (size_t i = 0; i < count; ++i) {
      HAWSER_ASSIGN_OR_RETURN(const CodedType* type, types_.Read(cursor));
      op.result_types.push_back(type->type);
      results.push_back(&type->type);
    }
  }
  if ((has & kOperands) != 0) HAWSER_RETURN_IF_ERROR(ReadOperands(cursor, &op));
  if ((has & kSuccessors) != 0) {
    return cursor->Invalid(Quoted(op.name), " branches to blocks");
  }
  for (const Type* type : results) {
    HAWSER_ASSIGN_OR_RETURN(const absl::string_view result,
                            Define(*cursor, type, numbers));
    op.results.push_back({result, 1});
  }
  if ((has & kUses) != 0) {
    HAWSER_RETURN_IF_ERROR(SkipUseOrders(cursor, op.result_types.size()));
  }
  if ((has & kRegions) != 0) HAWSER_RETURN_IF_ERROR(ReadRegions(cursor, &op));
  return op;
}

absl::Status OpDecoder::ReadProperties(Cursor* cursor,
                                       absl::string_view coded_name, Op* op) {
  HAWSER_ASSIGN_OR_RETURN(
      const size_t index,
      cursor->Index(container_.properties.size(), "properties"));
  const bool is_vhlo = absl::StartsWith(coded_name, "vhlo.");
  const auto* declared = is_vhlo ? vhlo::DeclaredAttributes(coded_name)
                                 : sdy::DeclaredAttributes(coded_name);
  if (declared == nullptr && !is_vhlo) return absl::OkStatus();
  if (declared == nullptr) {
    return source_.Error(
        absl::StatusCode::kUnimplemented, op->where,
        absl::StrCat("hawser reads StableHLO up to ", vhlo::kNewestTested,
                     " and does not know ", coded_name, " of ",
                     Quoted(container_.producer)));
  }
  Cursor properties(&source_, container_.properties[index]);
  const bool is_constant = op->name == "stablehlo.constant";
  for (const absl::string_view attribute : *declared) {
    HAWSER_ASSIGN_OR_RETURN(const AttributePtr value,
                            attributes_.Read(&properties));
    if (value == nullptr) continue;
    op->attributes.push_back({attribute, is_constant ? value : AsInts(value)});
  }
  if (properties.done()) return absl::OkStatus();
  return properties.Invalid(properties.left(), " bytes of properties of ",
                            coded_name, " are left over");
}

absl::Status OpDecoder::ReadOperands(Cursor* cursor, Op* op) {
  HAWSER_ASSIGN_OR_RETURN(const size_t count, cursor->Count());
  const Scope& scope = scopes_.back();
  for (size_t i = 0; i < count; ++i) {
    HAWSER_ASSIGN_OR_RETURN(const size_t value,
                            cursor->Index(scope.size(), "values"));
    if (scope[value].name.empty()) {
      return cursor->Invalid("operand ", i, " of ", Quoted(op->name),
                             " is not known yet");
    }
    op->operands.push_back({scope[value].name, 0});
    op->operand_types.push_back(*scope[value].type);
  }
  return absl::OkStatus();
}

absl::Status OpDecoder::ReadRegions(Cursor* cursor, Op* op) {
  HAWSER_ASSIGN_OR_RETURN(const uint64_t head, cursor->Number());
  const bool isolated = (head & 1) != 0;
  if (head >> 1 > cursor->left()) {
    return cursor->Invalid("an op of ", head >> 1, " regions");
  }
  Cursor own = *cursor;
  const bool in_section = isolated && container_.version >= kIsolatedSections;
  if (in_section) {
    HAWSER_ASSIGN_OR_RETURN(const Section section,
                            ReadSection(cursor, source_));
    own = Cursor(&source_, section.bytes);
  }
  if (isolated) scopes_.emplace_back();
  for (uint64_t i = 0; i < head >> 1; ++i) {
    HAWSER_RETURN_IF_ERROR(ReadRegion(&own, &op->regions.emplace_back()));
  }
  if (isolated) scopes_.pop_back();
  if (!in_section) *cursor = own;
  // Text writes a function that is only declared without its region.
  const bool declared = op->name == "func.func" && op->regions.size() == 1 &&
                        op->regions[0].ops.empty();
  if (declared) op->regions.clear();
  return absl::OkStatus();
}

absl::Status OpDecoder::SkipUseOrders(Cursor* cursor, size_t values) {
  size_t orders = 1;
  if (values > 1) {
    HAWSER_ASSIGN_OR_RETURN(orders, cursor->Count());
  }
  for (size_t i = 0; i < orders; ++i) {
    if (values > 1) HAWSER_RETURN_IF_ERROR(cursor->Number().status());
    HAWSER_ASSIGN_OR_RETURN(const uint64_t head, cursor->Number());
    if (head >> 1 > cursor->left()) {
      return cursor->Invalid("an order of ", head >> 1, " uses");
    }
    for (uint64_t k = 0; k < head >> 1; ++k) {
      HAWSER_RETURN_IF_ERROR(cursor->Number().status());
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser::stablehlo
