#include "client/sdk/probes/verdict.h"

#include <algorithm>

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser::sdk {
namespace {

int TurnsOf(const Expression& verdict) {
  return verdict.rank() == 1 ? static_cast<int>(verdict.shape().dim(0)) - 1 : 0;
}

Literal VectorOf(const std::vector<int64_t>& numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  Literal vector = Literal::Zeros(Shape::Of(DType::kS64, {count}));
  std::copy(numbers.begin(), numbers.end(),
            vector.mutable_data<int64_t>().begin());
  return vector;
}

Expression Part(const Expression& verdict, int64_t begin, int64_t end) {
  return Apply(kSlice, {verdict},
               {{"start_indices", Dims{begin}},
                {"limit_indices", Dims{end}},
                {"strides", Dims{1}}});
}

Expression Joined(const std::vector<Expression>& vectors) {
  if (vectors.size() == 1) return vectors[0];
  return Apply(kConcatenate, vectors, {{"dimension", int64_t{0}}});
}

// `verdict` with zeros after it.
Expression Longer(const Expression& verdict, int turns) {
  const int more = turns - TurnsOf(verdict);
  if (more <= 0) return verdict;
  return Joined(
      {verdict, Filled(verdict.scope(), Shape::Of(DType::kS64, {more}), 0)});
}

}  // namespace

Expression NoVerdict(ExpressionScope* scope, int turns) {
  std::vector<int64_t> none(1 + turns, 0);
  none[0] = kNoCheck;
  return ConstantOf(scope, VectorOf(none));
}

Expression CheckOf(const Expression& verdict) {
  return Reshaped(Part(verdict, 0, 1), {});
}

Expression WithTurn(const Expression& verdict, const Expression& turn) {
  std::vector<Expression> parts = {Part(verdict, 0, 1), Reshaped(turn, {1})};
  const int inner = TurnsOf(verdict);
  if (inner > 0) parts.push_back(Part(verdict, 1, 1 + inner));
  return Joined(parts);
}

void Findings::Add(int64_t number, const Expression& fails) {
  numbers_.push_back(number);
  fails_.push_back(Reshaped(fails, {1}));
}

void Findings::Add(const Expression& verdict) { verdicts_.push_back(verdict); }

Expression Findings::Verdict(int turns) const {
  std::vector<Expression> failed;  // s64[n] each: the check, or kNoCheck
  if (!numbers_.empty()) {
    const Expression fails = Joined(fails_);
    const auto count = static_cast<int64_t>(numbers_.size());
    const Expression none =
        Spread(ConstantOf(scope_, Literal::Scalar(kNoCheck)), {count}, {0});
    failed.push_back(
        Choose(fails, ConstantOf(scope_, VectorOf(numbers_)), none));
  }
  for (const Expression& verdict : verdicts_) {
    failed.push_back(Part(verdict, 0, 1));
  }
  if (failed.empty()) return NoVerdict(scope_, turns);
  const Expression first =
      Folded(kMinimum, Joined(failed), Literal::Scalar(kNoCheck), {0});
  Expression chosen = Longer(Reshaped(first, {1}), turns);
  for (const Expression& verdict : verdicts_) {
    chosen = Choose(Compare(CheckOf(verdict), CompareDirection::kEq, first),
                    Longer(verdict, turns), chosen);
  }
  return chosen;
}

}  // namespace hawser::sdk
