#include "client/sdk/graph/build/op_scope.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/graph/run/record.h"
#include "client/sdk/graph/trace.h"
#include "core/base/status.h"
#include "core/base/values/absent_size.h"
#include "core/ir/leaves.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/movement/shape.h"

namespace hawser::sdk {

OpScope::Formula::Formula()
    : around_(std::exchange(Ambient::OfThread().in_formula, true)) {}
OpScope::Formula::~Formula() { Ambient::OfThread().in_formula = around_; }

OpScope::OpScope(absl::string_view function,
                 std::initializer_list<const Operand*> operands,
                 Integers integers)
    : OpScope(function, (*operands.begin())->where()) {
  for (const Operand* operand : operands) {
    if (!operand->is_number()) Check(operand->tensor());
  }
  Check(integers);
}

OpScope::OpScope(absl::string_view function, SourceLocation where,
                 absl::Span<const Tensor> operands, Integers integers)
    : function_(function),
      where_(where),
      called_(Ambient::OfThread().outermost == nullptr
                  ? this
                  : Ambient::OfThread().outermost) {
  Ambient::OfThread().outermost = called_;
  for (const Tensor& operand : operands) Check(operand);
  Check(integers);
}

OpScope::~OpScope() {
  Ambient& ambient = Ambient::OfThread();
  if (ambient.outermost == this) ambient.outermost = nullptr;
}

void OpScope::Check(const Tensor& operand) {
  operands_.push_back(operand);
  if (!ok_ || operand.dtype() != DType::kInvalid) return;
  ok_ = false;
  const absl::Status status = operand.status();
  error_ = NodeOf(operand) == nullptr ? Fail(status) : Keep(status);
}

void OpScope::Check(Integers integers) {
  for (absl::Span<const int64_t> list : integers) {
    for (int64_t integer : list) {
      const auto absence = FindAbsence(integer);
      if (!ok_ || !absence.has_value()) continue;
      ok_ = false;
      error_ = absence->earlier ? Keep(absence->why) : Fail(absence->why);
    }
  }
}

Tensor OpScope::Fail(const absl::Status& status) const {
  std::string text = absl::StrCat(called_->function_, ": ", status.message());
  const char* separator = "; operands ";
  for (const Tensor& operand : called_->operands_) {
    if (NodeOf(operand) == nullptr) continue;
    absl::StrAppend(&text, std::exchange(separator, ", "),
                    operand.shape().ToString());
  }
  return Keep(At(absl::Status(status.code(), text), where()));
}

Tensor OpScope::Keep(const absl::Status& error) const {
  if (Trace* trace = Trace::Current()) return trace->Fail(error);
  return MakeFailed(error, where());
}

Tensor OpScope::Record(const OpDef& op, absl::Span<const Tensor> operands,
                       Attributes attributes,
                       absl::Span<const Region> called) const {
  return sdk::Record(called_->function_, op, operands, std::move(attributes),
                     called, where());
}

Tensor OpScope::As(const Operand& operand, DType dtype) const {
  if (!operand.is_number()) return Convert(operand.tensor(), dtype);
  if (const auto absence = operand.number().FindAbsence()) {
    return absence->earlier ? Keep(absence->why) : Fail(absence->why);
  }
  auto value = operand.number().ToLiteral(dtype);
  if (!value.ok()) return Fail(value.status());
  if (Ambient::OfThread().in_formula) return Constant(*std::move(value));
  return MakeHost(*std::move(value), where());
}

Tensor OpScope::As(const Operand& operand) const {
  return As(operand, DTypeOf(operand));
}

Tensor OpScope::Convert(const Tensor& x, DType dtype) const {
  if (x.dtype() == dtype || x.dtype() == DType::kInvalid) return x;
  if (IsBool(dtype) && IsComplex(x.dtype())) {
    const Tensor zero = Constant(Literal::Zeros(Shape::Scalar(x.dtype())));
    return Add(kCompare, {x, BroadcastTo(zero, x.shape().dims())},
               {{"direction", std::string("NE")}});
  }
  return Add(kConvert, {x}, {{"dtype", dtype}});
}

Tensor OpScope::BroadcastTo(const Tensor& x,
                            absl::Span<const int64_t> dims) const {
  if (x.dtype() == DType::kInvalid || x.shape().dims() == dims) return x;
  Dims axes;
  const int64_t shift = static_cast<int64_t>(dims.size()) - x.rank();
  for (int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis + shift);
  if (shift < 0) {
    return Fail(InvalidArgument("sizes ", DimsToString(x.shape().dims()),
                                " do not broadcast to ", DimsToString(dims)));
  }
  return Add(kBroadcastInDim, {x},
             {{"broadcast_dimensions", std::move(axes)},
              {"dims", Dims(dims.begin(), dims.end())}});
}

Tensor OpScope::Reshape(const Tensor& x, absl::Span<const int64_t> dims) const {
  if (x.dtype() == DType::kInvalid || x.shape().dims() == dims) return x;
  return Add(kReshape, {x}, {{"dims", Dims(dims.begin(), dims.end())}});
}

Tensor OpScope::Constant(Literal value) const {
  return Add(kConstant, {}, {{"value", std::move(value)}});
}

Tensor OpScope::ConstantOf(Number number, DType dtype) const {
  auto value = number.ToLiteral(dtype);
  return value.ok() ? Constant(*std::move(value)) : Fail(value.status());
}

Tensor OpScope::ZerosLike(const Tensor& x) const {
  return BroadcastTo(ConstantOf(0, x.dtype()), x.shape().dims());
}

DType DTypeOf(const Operand& operand) {
  return operand.is_number() ? operand.number().dtype()
                             : operand.tensor().dtype();
}

int RankOf(const Operand& operand) {
  return operand.is_number() ? 0 : operand.tensor().rank();
}

DType CommonDType(std::initializer_list<const Operand*> operands) {
  DType common = DType::kInvalid;
  const auto merge = [&](DType d) {
    common = common == DType::kInvalid ? d : Promote(common, d);
  };
  for (const Operand* operand : operands) {
    if (!operand->is_number()) merge(operand->tensor().dtype());
  }
  const bool alone = common == DType::kInvalid;
  for (const Operand* operand : operands) {
    if (!operand->is_number()) continue;
    if (alone) {
      merge(operand->number().dtype());
    } else {
      common = PromoteWeak(common, operand->number().kind());
    }
  }
  return common;
}

absl::StatusOr<Dims> CommonDims(
    std::initializer_list<const Operand*> operands) {
  Dims common;
  for (const Operand* operand : operands) {
    if (operand->is_number()) continue;
    HAWSER_ASSIGN_OR_RETURN(
        common, BroadcastDims(common, operand->tensor().shape().dims()));
  }
  return common;
}

}  // namespace hawser::sdk
