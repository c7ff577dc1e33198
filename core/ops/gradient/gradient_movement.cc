// Gradients of what moves elements by position: they go back to where they
// came from, and those that came several times are summed.
#include <algorithm>

#include "core/base/status.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

Expression Padded(const Expression& x, const Expression& value, Dims low,
                  Dims high, Dims interior) {
  return Apply(kPad, {x, value},
               {{"edge_padding_low", std::move(low)},
                {"edge_padding_high", std::move(high)},
                {"interior_padding", std::move(interior)}});
}

Expression PaddedWithZeros(const Expression& x, Dims low, Dims high,
                           Dims interior) {
  const Expression zero = Filled(x.scope(), Shape::Scalar(x.dtype()), 0);
  return Padded(x, zero, std::move(low), std::move(high), std::move(interior));
}

Expression Sliced(const Expression& x, Dims start, Dims limit, Dims strides) {
  return Apply(kSlice, {x},
               {{"start_indices", std::move(start)},
                {"limit_indices", std::move(limit)},
                {"strides", std::move(strides)}});
}

// `first`, and after it the operands from `from` on: the starts.
absl::InlinedVector<Expression, 6> WithStarts(
    const GradientContext& c, absl::InlinedVector<Expression, 6> first,
    size_t from) {
  first.insert(first.end(), c.operands.begin() + from, c.operands.end());
  return first;
}

}  // namespace

absl::Status BroadcastInDimGradient(GradientContext& c) {
  c.Give(0, [&] {
    const Dims& from = c.x().dims();
    const auto where = c.ints("broadcast_dimensions");
    Dims repeated = OtherAxes(c.result().rank(), where);
    Dims kept;  // axes of the operand that are as large in the result
    for (size_t i = 0; i < where.size(); ++i) {
      if (from[i] == c.result().dims()[where[i]]) {
        kept.push_back(static_cast<int64_t>(i));
      } else {
        repeated.push_back(where[i]);
      }
    }
    std::sort(repeated.begin(), repeated.end());
    // The axes left stand in the result's order.
    Dims order(kept.size());
    for (size_t i = 0; i < kept.size(); ++i) {
      order[i] = std::count_if(kept.begin(), kept.end(), [&](int64_t k) {
        return where[k] < where[kept[i]];
      });
    }
    return Reshaped(Transposed(Summed(c.g(), repeated), order), from);
  });
  return absl::OkStatus();
}

absl::Status ReshapeGradient(GradientContext& c) {
  c.Give(0, [&] { return Reshaped(c.g(), c.x().dims()); });
  return absl::OkStatus();
}

absl::Status TransposeGradient(GradientContext& c) {
  c.Give(0, [&] {
    return Transposed(c.g(), InversePermutation(c.ints("permutation")));
  });
  return absl::OkStatus();
}

absl::Status ConcatenateGradient(GradientContext& c) {
  const int64_t axis = c.instruction.attributes.GetInt("dimension");
  Dims start(c.result().rank(), 0);
  for (size_t i = 0; i < c.operands.size(); ++i) {
    Dims limit = c.operands[i].dims();
    limit[axis] += start[axis];
    c.Give(static_cast<int>(i),
           [&] { return Sliced(c.g(), start, limit, Dims(start.size(), 1)); });
    start[axis] = limit[axis];
  }
  return absl::OkStatus();
}

absl::Status ReverseGradient(GradientContext& c) {
  c.Give(0, [&] {
    return Apply(kReverse, {c.g()},
                 {{"dimensions", ToDims(c.ints("dimensions"))}});
  });
  return absl::OkStatus();
}

// The elements of the operand stand in the result in steps; what was cut off
// comes back as zeros. The padding value has the rest.
absl::Status PadGradient(GradientContext& c) {
  const Dims low = ToDims(c.ints("edge_padding_low"));
  const Dims high = ToDims(c.ints("edge_padding_high"));
  const Dims interior = ToDims(c.ints("interior_padding"));
  const Dims none(low.size(), 0);
  c.Give(0, [&] {
    Dims before = low, after = high, limit, strides = interior;
    for (size_t i = 0; i < low.size(); ++i) {
      before[i] = -low[i];
      after[i] = -high[i];
      strides[i] = interior[i] + 1;
      const int64_t size = c.x().dims()[i];
      limit.push_back(size == 0 ? 0 : (size - 1) * strides[i] + 1);
    }
    return Sliced(PaddedWithZeros(c.g(), before, after, none), none, limit,
                  strides);
  });
  c.Give(1, [&] {
    ExpressionScope* scope = &c.scope;
    const Expression inside =
        Filled(scope, c.x().shape().WithDType(DType::kBool), 1);
    const Expression outside = Filled(scope, Shape::Scalar(DType::kBool), 0);
    const Expression padding = Padded(inside, outside, low, high, interior);
    return SummedAll(Choose(padding, Like(c.g(), 0), c.g()));
  });
  return absl::OkStatus();
}

absl::Status SliceGradient(GradientContext& c) {
  if (c.result().shape().num_elements() == 0) return absl::OkStatus();
  c.Give(0, [&] {
    const auto start = c.ints("start_indices");
    const auto strides = c.ints("strides");
    Dims high, interior;
    for (int i = 0; i < c.x().rank(); ++i) {
      const int64_t last = start[i] + (c.result().dims()[i] - 1) * strides[i];
      high.push_back(c.x().dims()[i] - 1 - last);
      interior.push_back(strides[i] - 1);
    }
    return PaddedWithZeros(c.g(), ToDims(start), high, interior);
  });
  return absl::OkStatus();
}

// Both clamp their starts alike.
absl::Status DynamicSliceGradient(GradientContext& c) {
  // In place, so that a loop over the parts of a value takes no longer.
  c.GiveOnto(0, [&](const Expression& so_far) {
    if (!so_far.present()) {
      return Apply(kDynamicUpdateSlice,
                   WithStarts(c, {Like(c.x(), 0), c.g()}, 1));
    }
    const Expression part = Apply(kDynamicSlice, WithStarts(c, {so_far}, 1),
                                  {{"slice_sizes", c.g().dims()}});
    const Expression sum = part + ConvertTo(c.g(), part.dtype());
    return Apply(kDynamicUpdateSlice, WithStarts(c, {so_far, sum}, 1));
  });
  return absl::OkStatus();
}

absl::Status DynamicUpdateSliceGradient(GradientContext& c) {
  c.Give(0, [&] {
    return Apply(kDynamicUpdateSlice,
                 WithStarts(c, {c.g(), Like(c.y(), 0)}, 2));
  });
  c.Give(1, [&] {
    return Apply(kDynamicSlice, WithStarts(c, {c.g()}, 2),
                 {{"slice_sizes", c.y().dims()}});
  });
  return absl::OkStatus();
}

}  // namespace hawser
