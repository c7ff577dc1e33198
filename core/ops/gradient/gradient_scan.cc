// The gradient of scans: a scan in the other direction.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise_call.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sliced.h"

namespace hawser {
namespace {

using Expressions = std::vector<Expression>;

// Steps of a scan and the places before and after them, whichever its direction.
struct ScanSteps {
  explicit ScanSteps(const GradientContext& c)
      : axis(c.instruction.attributes.GetInt("dimension")),
        reverse(c.instruction.attributes.GetBool("reverse")),
        size(c.operands[0].dims()[axis]) {}

  // The elements at `count` steps from `first` on, in the order of memory.
  Expression Steps(const Expression& x, int64_t first, int64_t count) const {
    const int64_t begin = reverse ? size - first - count : first;
    return SliceAlong(x, axis, begin, begin + count);
  }
  // One step behind the others, of zeros.
  Expression WithLast(const Expression& x) const {
    Dims low(x.rank(), 0), high(x.rank(), 0);
    (reverse ? low : high)[axis] = 1;
    return Apply(kPad,
                 {x, Filled(x.scope(), Shape::Scalar(x.dtype()), 0)},
                 {{"edge_padding_low", low},
                  {"edge_padding_high", high},
                  {"interior_padding", Dims(x.rank(), 0)}});
  }
  // `first`, of one step, and the others after it.
  Expression Joined(const Expression& first, const Expression& others) const {
    const Expression parts[] = {reverse ? others : first,
                                reverse ? first : others};
    return Apply(kConcatenate, parts, {{"dimension", axis}});
  }

  const int64_t axis;
  const bool reverse;
  const int64_t size;  // steps
};

// y -> M y + b of D values, one after the other: takes the D x D numbers of M
// and D of b of what was, then those of the next, and gives those of both.
absl::StatusOr<int> AddAffine(DType dtype, size_t d, GradientContext& c) {
  ComputationBuilder builder(c.scope.builder.module(), "affine");
  ExpressionScope scope{builder, c.scope.monoids};
  const size_t count = d * d + d;
  Expressions was, next;
  for (Expressions* all : {&was, &next}) {
    for (size_t k = 0; k < count; ++k) {
      all->emplace_back(
          &scope, builder.Parameter(Shape::Scalar(dtype), SourceLocation{}));
    }
  }
  std::vector<ValueId> results;
  for (size_t row = 0; row < d; ++row) {
    for (size_t column = 0; column < d; ++column) {
      Expression sum = next[row * d] * was[column];
      for (size_t k = 1; k < d; ++k) {
        sum = sum + next[row * d + k] * was[k * d + column];
      }
      results.push_back(sum.value());
    }
  }
  for (size_t row = 0; row < d; ++row) {
    Expression sum = next[d * d + row];
    for (size_t k = 0; k < d; ++k) {
      sum = sum + next[row * d + k] * was[d * d + k];
    }
    results.push_back(sum.value());
  }
  return builder.Finish(results);
}

// The inputs that vary smoothly. Errors: what the rule has no formula for.
absl::StatusOr<std::vector<int>> SmoothInputs(const GradientContext& c) {
  std::vector<int> smooth;
  for (size_t k = 0; k < c.operands.size(); ++k) {
    const DType dtype = c.operands[k].dtype();
    if (IsComplex(dtype)) {
      return Unimplemented("the gradient of a scan of complex numbers by "
                           "anything but their sum");
    }
    if (!IsFloat(dtype)) continue;
    if (!smooth.empty() && dtype != c.operands[smooth[0]].dtype()) {
      return Unimplemented("the gradient of a scan of ",
                           DTypeName(c.operands[smooth[0]].dtype()), " and ",
                           DTypeName(dtype), " together");
    }
    smooth.push_back(static_cast<int>(k));
  }
  return smooth;
}

// The derivatives of one step's results: `was[r][k]`, the derivative of smooth
// result r by smooth running value k, and `element[r][k]`, by element k, at
// each step but the first.
struct Slopes {
  std::vector<Expressions> was, element;
};

absl::StatusOr<Slopes> SlopesOf(GradientContext& c, const ScanSteps& track,
                                absl::Span<const int> smooth) {
  const int n = static_cast<int>(c.operands.size());
  Expressions arguments;
  for (const Expression& result : c.results) {
    arguments.push_back(track.Steps(result, 0, track.size - 1));
  }
  for (const Expression& operand : c.operands) {
    arguments.push_back(track.Steps(operand, 1, track.size - 1));
  }
  std::vector<int> wanted(smooth.begin(), smooth.end());
  for (const int k : smooth) wanted.push_back(n + k);
  arguments.push_back(Like(arguments[smooth[0]], 1));
  Slopes slopes;
  for (const int r : smooth) {
    HAWSER_ASSIGN_OR_RETURN(
        const int pull_back,
        c.pull_back(c.instruction.called[0], wanted, {r}));
    // It is copied since the module may move its computations.
    const Computation called =
        c.scope.builder.module()->computation(pull_back);
    HAWSER_ASSIGN_OR_RETURN(Expressions all, AppliedToEach(called, arguments));
    const auto middle = all.begin() + static_cast<int64_t>(smooth.size());
    slopes.was.emplace_back(all.begin(), middle);
    slopes.element.emplace_back(middle, all.end());
  }
  return slopes;
}

// The cotangents of what runs on, in the dtype of sums: each step's own, and
// what comes back from the step after it. `smooth` has as many results of the
// scan.
absl::StatusOr<Expressions> RunBack(GradientContext& c, const ScanSteps& track,
                                    absl::Span<const int> smooth,
                                    const Slopes& slopes) {
  const size_t d = smooth.size();
  const DType sum = SumDType(c.results[smooth[0]].dtype());
  Expressions inputs;
  for (size_t row = 0; row < d; ++row) {
    for (size_t column = 0; column < d; ++column) {
      inputs.push_back(
          ConvertTo(track.WithLast(slopes.was[column][row]), sum));
    }
  }
  for (const int k : smooth) {
    inputs.push_back(ConvertTo(c.cotangents[k].present()
                                   ? c.cotangents[k]
                                   : Like(c.results[k], 0),
                               sum));
  }
  HAWSER_ASSIGN_OR_RETURN(const int affine,
                          AddAffine(inputs[0].dtype(), d, c));
  const Expression first = Apply(
      kScan, inputs,
      {{"dimension", track.axis}, {"reverse", !track.reverse}}, {affine});
  Expressions back;
  for (size_t k = 0; k < d; ++k) {
    back.push_back(ResultOf(first, static_cast<int>(d * d + k)));
  }
  return back;
}

bool SumsOnly(const GradientContext& c) {
  const Computation& called =
      c.scope.builder.module()->computation(c.instruction.called[0]);
  for (size_t k = 0; k < c.operands.size(); ++k) {
    if (MonoidOf(called, static_cast<int>(k)) != &kAdd) return false;
  }
  return true;
}

// Each element is in all sums from its own on.
void SumBack(GradientContext& c, const ScanSteps& track) {
  for (size_t k = 0; k < c.operands.size(); ++k) {
    if (!c.cotangents[k].present()) continue;
    c.Give(static_cast<int>(k), [&] {
      const Expression& g = c.cotangents[k];
      const int sum = c.scope.monoids.Find(kAdd, g.dtype(),
                                           c.scope.builder.module());
      return Apply(kScan, {g},
                   {{"dimension", track.axis}, {"reverse", !track.reverse}},
                   {sum});
    });
  }
}

}  // namespace

// A scan is steps y' = f(y, x), whose cotangents run back by y = M y' + g, with M
// the transposed derivatives of f: a scan of such maps, in any order of which
// they may be put together.
absl::Status ScanGradient(GradientContext& c) {
  const ScanSteps track(c);
  if (SumsOnly(c)) {
    SumBack(c, track);
    return absl::OkStatus();
  }
  HAWSER_ASSIGN_OR_RETURN(const std::vector<int> smooth, SmoothInputs(c));
  if (track.size < 2) {
    for (const int k : smooth) c.Give(k, [&] { return c.cotangents[k]; });
    return absl::OkStatus();
  }
  HAWSER_ASSIGN_OR_RETURN(const Slopes slopes, SlopesOf(c, track, smooth));
  HAWSER_ASSIGN_OR_RETURN(const Expressions back,
                          RunBack(c, track, smooth, slopes));
  for (size_t k = 0; k < smooth.size(); ++k) {
    c.Give(smooth[k], [&] {
      Expression sum;
      for (size_t r = 0; r < smooth.size(); ++r) {
        const Expression behind = track.Steps(back[r], 1, track.size - 1);
        const Expression part =
            ConvertTo(slopes.element[r][k], behind.dtype()) * behind;
        sum = sum.present() ? sum + part : part;
      }
      return ConvertTo(track.Joined(track.Steps(back[k], 0, 1), sum),
                       c.operands[smooth[k]].dtype());
    });
  }
  return absl::OkStatus();
}

}  // namespace hawser
