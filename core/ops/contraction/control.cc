#include "core/ops/contraction/control.h"

#include <algorithm>

#include "core/base/status.h"

namespace hawser {
namespace {

bool SameShapes(absl::Span<const Shape> a, absl::Span<const Shape> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

void AddContinuous(absl::Span<const Shape> from, Shapes* to) {
  for (const Shape& shape : from) {
    if (IsFloat(shape.dtype()) || IsComplex(shape.dtype())) {
      to->push_back(shape);
    }
  }
}

}  // namespace

absl::StatusOr<Shapes> InferWhile(const InferContext& context) {
  const Signature& condition = *context.called[0];
  const Signature& body = *context.called[1];
  const int64_t count = context.operands.size();
  const int64_t invariant = context.attributes.GetInt("num_invariant");
  if (invariant < 0 || invariant >= count) {
    return Violates(1, "num_invariant is ", invariant, ", there are ", count,
                    " operands and at least one is state");
  }
  if (!SameShapes(condition.parameters, context.operands)) {
    return Violates(2, "the condition is ", condition.ToString(),
                    ", must take ", ShapesToString(context.operands));
  }
  if (!SameShapes(condition.results, {Shape::Scalar(DType::kBool)})) {
    return Violates(3, "the condition is ", condition.ToString(),
                    ", must give (bool[])");
  }
  if (!SameShapes(body.parameters, context.operands)) {
    return Violates(4, "the body is ", body.ToString(), ", must take ",
                    ShapesToString(context.operands));
  }
  const auto state = context.operands.subspan(0, count - invariant);
  if (!SameShapes(body.results, state)) {
    return Violates(5, "the body is ", body.ToString(), ", must give ",
                    ShapesToString(state));
  }
  return Shapes(state.begin(), state.end());
}

absl::StatusOr<Shapes> InferCase(const InferContext& context) {
  const Shape& index = context.operands[0];
  const auto arguments = context.operands.subspan(1);
  if (index != Shape::Scalar(DType::kS32)) {
    return Violates(1, "the index is ", index.ToString(), ", must be s32[]");
  }
  const Signature& first = *context.called[0];
  for (size_t i = 0; i < context.called.size(); ++i) {
    const Signature& branch = *context.called[i];
    if (!SameShapes(branch.parameters, arguments)) {
      return Violates(2, "branch ", i, " is ", branch.ToString(),
                      ", must take ", ShapesToString(arguments));
    }
    if (branch.results != first.results) {
      return Violates(3, "branch ", i, " is ", branch.ToString(),
                      ", branch 0 is ", first.ToString());
    }
  }
  return Shapes(first.results.begin(), first.results.end());
}

absl::StatusOr<Shapes> InferFusion(const InferContext& context) {
  const Signature& meaning = *context.called[0];
  if (!SameShapes(meaning.parameters, context.operands)) {
    return Violates(1, "the computation is ", meaning.ToString(),
                    ", must take ", ShapesToString(context.operands));
  }
  return Shapes(meaning.results.begin(), meaning.results.end());
}

absl::StatusOr<Shapes> InferCall(const InferContext& context) {
  HAWSER_ASSIGN_OR_RETURN(Shapes results, InferFusion(context));
  if (context.called.size() == 1) return results;
  const Signature& back = *context.called[1];
  Shapes taken, given;
  AddContinuous(results, &taken);
  taken.insert(taken.end(), context.operands.begin(), context.operands.end());
  AddContinuous(context.operands, &given);
  if (!SameShapes(back.parameters, taken)) {
    return Violates(2, "the pull-back is ", back.ToString(), ", must take ",
                    ShapesToString(taken));
  }
  if (!SameShapes(back.results, given)) {
    return Violates(3, "the pull-back is ", back.ToString(), ", must give ",
                    ShapesToString(given));
  }
  return results;
}

}  // namespace hawser
