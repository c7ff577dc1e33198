#include "client/sdk/jit/row_wise.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "client/sdk/graph/node.h"
#include "core/base/status.h"
#include "core/sharding/cuts.h"

namespace hawser::sdk {
namespace {

constexpr int kShared = -1;  // no axis of this value is the batch

class RowCheck {
 public:
  RowCheck(const TracedModule& small, const TracedModule& large, int64_t rows)
      : small_(small.module),
        large_(large.module),
        locations_(small.places.at),
        rows_(rows) {}

  absl::StatusOr<std::vector<bool>> Run() const;

 private:
  // The axis of a value that is the batch, or kShared.
  absl::StatusOr<int> BatchAxis(const Shape& small, const Shape& large) const;
  absl::Status CheckComputation(int number) const;
  absl::Status CheckInstruction(const Computation& small,
                                const Computation& large, int number) const;
  absl::Status CheckSame(const Instruction& a, const Instruction& b) const;
  bool SameButForRows(const AttributeValue& a, const AttributeValue& b) const;
  absl::Status CheckAxes(const Instruction& instruction,
                         const Computation& small,
                         absl::Span<const int> operand_axes,
                         absl::Span<const int> result_axes) const;

  const Module& small_;
  const Module& large_;
  const std::vector<SourceLocation>& locations_;
  const int64_t rows_;
};

absl::Status Differs(absl::string_view what) {
  return InvalidArgument(what, " depends on how many rows there are");
}

absl::StatusOr<int> RowCheck::BatchAxis(const Shape& small,
                                        const Shape& large) const {
  if (small.rank() != large.rank() || small.dtype() != large.dtype()) {
    return Differs("the shape of a value");
  }
  int batch = kShared;
  for (int axis = 0; axis < small.rank(); ++axis) {
    if (small.dim(axis) == large.dim(axis)) continue;
    if (small.dim(axis) != rows_ || large.dim(axis) != rows_ + 1 ||
        batch != kShared) {
      return InvalidArgument("the batch is not one axis of ", small.ToString());
    }
    batch = axis;
  }
  return batch;
}

bool RowCheck::SameButForRows(const AttributeValue& a,
                              const AttributeValue& b) const {
  const auto* dims_a = std::get_if<Dims>(&a);
  const auto* dims_b = std::get_if<Dims>(&b);
  if (dims_a == nullptr || dims_b == nullptr) return SameAttribute(a, b);
  return std::equal(dims_a->begin(), dims_a->end(), dims_b->begin(),
                    dims_b->end(), [&](int64_t x, int64_t y) {
                      return x == y || (x == rows_ && y == rows_ + 1);
                    });
}

absl::Status RowCheck::CheckSame(const Instruction& a,
                                 const Instruction& b) const {
  if (a.op != b.op || a.operands != b.operands || a.called != b.called ||
      a.num_results != b.num_results ||
      a.attributes.size() != b.attributes.size()) {
    return Differs("what is computed");
  }
  for (const auto& [name, value] : a.attributes) {
    const AttributeValue* other = b.attributes.Find(name);
    if (other == nullptr || !SameButForRows(value, *other)) {
      return Differs(absl::StrCat("attribute ", name));
    }
  }
  return absl::OkStatus();
}

absl::string_view WhatItDoes(AxisKind kind) {
  switch (kind) {
    case AxisKind::kContracted:
      return "reduces over the batch";
    case AxisKind::kIndexed:
      return "picks rows of the batch by value";
    case AxisKind::kWindowed:
      return "mixes neighbouring rows of the batch";
    default:
      return "takes the batch apart";
  }
}

absl::Status RowCheck::CheckAxes(const Instruction& instruction,
                                 const Computation& small,
                                 absl::Span<const int> operand_axes,
                                 absl::Span<const int> result_axes) const {
  const AxisMap map = hawser::AxesOf(small_, small, instruction);
  for (size_t n = 0; n < operand_axes.size(); ++n) {
    if (operand_axes[n] == kShared) continue;
    const int factor = map.operands[n][operand_axes[n]];
    if (map.factors[factor].kind != AxisKind::kParallel) {
      return InvalidArgument(WhatItDoes(map.factors[factor].kind));
    }
    for (size_t k = 0; k < result_axes.size(); ++k) {
      if (result_axes[k] == kShared ||
          map.results[k][result_axes[k]] != factor) {
        return InvalidArgument("gives no row for each row of the batch");
      }
    }
  }
  for (size_t k = 0; k < result_axes.size(); ++k) {
    if (result_axes[k] == kShared) continue;
    const AxisKind kind = map.factors[map.results[k][result_axes[k]]].kind;
    if (kind != AxisKind::kParallel && kind != AxisKind::kBroadcast) {
      return InvalidArgument("makes rows of a batch in a way of its own");
    }
  }
  return absl::OkStatus();
}

absl::Status RowCheck::CheckInstruction(const Computation& small,
                                        const Computation& large,
                                        int number) const {
  const Instruction& instruction = small.instructions()[number];
  HAWSER_RETURN_IF_ERROR(CheckSame(instruction, large.instructions()[number]));
  absl::InlinedVector<int, 4> operand_axes, result_axes;
  bool batched = false;
  for (ValueId v : instruction.operands) {
    HAWSER_ASSIGN_OR_RETURN(operand_axes.emplace_back(),
                            BatchAxis(small.shape(v), large.shape(v)));
    batched |= operand_axes.back() != kShared;
  }
  for (int k = 0; k < instruction.num_results; ++k) {
    const ValueId v = instruction.first_result + k;
    HAWSER_ASSIGN_OR_RETURN(result_axes.emplace_back(),
                            BatchAxis(small.shape(v), large.shape(v)));
    batched |= result_axes.back() != kShared;
  }
  // Loops and branches do with rows what their computations do, which are
  // looked at too. Parameters and counting from 0 up start with the same rows
  // however many there are.
  if (!batched || instruction.op->Is(kNullary) ||
      instruction.op->Is(kControlFlow)) {
    return absl::OkStatus();
  }
  return CheckAxes(instruction, small, operand_axes, result_axes);
}

// Returns which instructions the results of a computation need.
std::vector<bool> Needed(const Computation& computation) {
  std::vector<bool> needed(computation.instructions().size(), false);
  for (ValueId v : computation.results()) {
    needed[computation.producer(v)] = true;
  }
  for (size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (ValueId v : computation.instructions()[i].operands) {
      needed[computation.producer(v)] = true;
    }
  }
  return needed;
}

absl::Status RowCheck::CheckComputation(int number) const {
  const Computation& small = small_.computation(number);
  const Computation& large = large_.computation(number);
  const std::vector<bool> needed = Needed(small);
  if (needed != Needed(large)) return Differs("what is computed");
  const bool entry = &small == &small_.entry();
  for (int i = 0; i < static_cast<int>(needed.size()); ++i) {
    if (!needed[i]) continue;
    const absl::Status status = CheckInstruction(small, large, i);
    if (status.ok()) continue;
    const bool known = entry && i < static_cast<int>(locations_.size());
    return At(Annotate(status, small.instructions()[i].op->name),
              known ? locations_[i] : SourceLocation());
  }
  if (!std::equal(small.results().begin(), small.results().end(),
                  large.results().begin(), large.results().end())) {
    return Differs("what is computed");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<bool>> RowCheck::Run() const {
  if (small_.computations().size() != large_.computations().size()) {
    return Differs("what is computed");
  }
  for (size_t i = 0; i < small_.computations().size(); ++i) {
    HAWSER_RETURN_IF_ERROR(CheckComputation(static_cast<int>(i)));
  }
  std::vector<bool> batched;
  for (size_t i = 0; i < small_.entry().results().size(); ++i) {
    const Shape& shape = small_.signature().results[i];
    HAWSER_ASSIGN_OR_RETURN(const int axis,
                            BatchAxis(shape, large_.signature().results[i]));
    if (axis > 0) {
      return InvalidArgument("result ", i, ", ", shape.ToString(),
                             ", has the batch as axis ", axis,
                             ", must have it as axis 0");
    }
    batched.push_back(axis == 0);
  }
  return batched;
}

}  // namespace

absl::StatusOr<std::vector<bool>> FindBatchedResults(const TracedModule& small,
                                                     const TracedModule& large,
                                                     int64_t rows) {
  auto batched = RowCheck(small, large, rows).Run();
  if (batched.ok()) return batched;
  return Annotate(batched.status(),
                  "batch_buckets are for functions that work row by row");
}

}  // namespace hawser::sdk
