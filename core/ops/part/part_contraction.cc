// Parts of contractions: contracted axes are whole.
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/part/part.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

// Returns the box of an operand for box `kept` of a result that lacks its axes
// `gone`: they are whole.
Box WithWhole(const Shape& shape, const Box& kept,
              absl::Span<const int64_t> gone) {
  Box box;
  auto next = kept.begin();
  for (int i = 0; i < shape.rank(); ++i) {
    box.push_back(Contains(gone, i) ? Interval{0, shape.dim(i)} : *next++);
  }
  return box;
}

}  // namespace

// Several results are made of the same elements: they are made together.
absl::Status ReducePart(PartContext& c) {
  const Box kept = *HullOf(c.wanted);
  const size_t count = c.operands.size() / 2;
  for (size_t i = 0; i < count; ++i) {
    c.asks[i] = WithWhole(c.operands[i], kept, c.ints("dimensions"));
    c.asks[count + i] = Box();
    c.gives[i] = kept;
  }
  return absl::OkStatus();
}

// All that stands before the part, in the direction of the scan, is of it.
absl::Status ScanPart(PartContext& c) {
  Box box = *HullOf(c.wanted);
  const int64_t axis = c.attributes().GetInt("dimension");
  Interval& along = box[axis];
  along = c.attributes().GetBool("reverse")
              ? Interval{along.begin, c.operand().dim(axis)}
              : Interval{0, along.end};
  for (size_t i = 0; i < c.operands.size(); ++i) {
    c.asks[i] = box;
    c.gives[i] = box;
  }
  return absl::OkStatus();
}

absl::Status ArgExtremePart(PartContext& c) {
  c.asks[0] =
      WithWhole(c.operand(), c.box(), {c.attributes().GetInt("dimension")});
  return absl::OkStatus();
}

absl::Status DotGeneralPart(PartContext& c) {
  struct Side {
    absl::Span<const int64_t> batch, contracting;
  };
  const Side sides[] = {
      {c.ints("lhs_batching_dimensions"), c.ints("lhs_contracting_dimensions")},
      {c.ints("rhs_batching_dimensions"),
       c.ints("rhs_contracting_dimensions")}};
  size_t to = sides[0].batch.size();
  for (int n : {0, 1}) {
    const Side& side = sides[n];
    Box box = WholeBox(c.operands[n]);
    for (size_t i = 0; i < side.batch.size(); ++i) {
      box[side.batch[i]] = c.box()[i];
    }
    for (int i = 0; i < c.operands[n].rank(); ++i) {
      if (Contains(side.batch, i) || Contains(side.contracting, i)) continue;
      box[i] = c.box()[to++];
    }
    c.asks[n] = std::move(box);
  }
  return absl::OkStatus();
}

}  // namespace hawser
