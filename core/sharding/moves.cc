#include "core/sharding/moves.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/base/status.h"
#include "core/ops/expression.h"
#include "core/ops/part/part.h"

namespace hawser {
namespace {

// Bytes from the beginning of the box `of` to an index, row-major.
int64_t OffsetOf(const Box& of, absl::Span<const int64_t> index, int64_t size) {
  int64_t offset = 0;
  for (size_t i = 0; i < of.size(); ++i) {
    offset = offset * of[i].size() + (index[i] - of[i].begin);
  }
  return offset * size;
}

// Returns how many trailing axes of `part` are all of those of both boxes.
size_t WholeAxes(const Box& part, const Box& a, const Box& b) {
  size_t whole = 0;
  while (whole < part.size()) {
    const Interval& own = part[part.size() - 1 - whole];
    if (own != a[part.size() - 1 - whole] || own != b[part.size() - 1 - whole]) {
      break;
    }
    ++whole;
  }
  return whole;
}

}  // namespace

absl::StatusOr<Module> JoinModule(DType dtype, absl::Span<const Box> pieces,
                                  const Box& wanted) {
  Module module("join");
  Monoids monoids;
  ComputationBuilder builder(&module, "main");
  ExpressionScope scope{builder, monoids};
  Expression joined =
      Filled(&scope, Shape::Of(dtype, SizesOf(wanted)), 0);
  for (const Box& piece : pieces) {
    const Expression x(
        &scope, builder.Parameter(Shape::Of(dtype, SizesOf(piece)),
                                  SourceLocation{}));
    const Box part = Meet(piece, wanted);
    if (ElementsOf(part) == 0) continue;
    const Expression slice = SliceTo(x, piece, part);
    joined = part == wanted ? slice : PutInto(joined, wanted, slice, part);
  }
  HAWSER_RETURN_IF_ERROR(builder.Finish({joined.value()}).status());
  return module;
}

void CopyBox(const Literal& value, const Box& of, const Box& box,
             Literal* into) {
  const Box part = Meet(of, box);
  if (ElementsOf(part) == 0) return;
  const int64_t size = value.shape().byte_size() / ElementsOf(of);
  // Runs along the first axis that is cut, and those after it, are in one piece
  // on both sides.
  const size_t whole = WholeAxes(part, of, box);
  const size_t outer = part.size() - std::min(part.size(), whole + 1);
  int64_t run = size;
  for (size_t i = outer; i < part.size(); ++i) run *= part[i].size();
  std::vector<int64_t> index;
  for (const Interval& interval : part) index.push_back(interval.begin);
  char* const to = into->mutable_bytes().data();
  const char* const from = value.bytes().data();
  for (bool more = true; more;) {
    std::memcpy(to + OffsetOf(box, index, size),
                from + OffsetOf(of, index, size), run);
    more = false;
    for (size_t i = outer; i > 0 && !more; --i) {
      more = ++index[i - 1] < part[i - 1].end;
      if (!more) index[i - 1] = part[i - 1].begin;
    }
  }
}

absl::StatusOr<Literal> SliceBox(const Literal& value, const Box& of,
                                 const Box& wanted) {
  if (of == wanted) return value;
  const Shape shape = ShapeOf(value.shape(), wanted);
  const size_t whole = WholeAxes(wanted, of, wanted);
  const bool rows = whole + 1 >= wanted.size();
  if (rows && ElementsOf(wanted) > 0) {
    const int64_t row = value.shape().byte_size() / of[0].size();
    const auto owner = std::make_shared<Literal>(value);
    return Literal::Adopt(
        shape, std::shared_ptr<const char>(
                   owner, owner->bytes().data() +
                              row * (wanted[0].begin - of[0].begin)));
  }
  HAWSER_ASSIGN_OR_RETURN(Literal part, Literal::Allocate(shape));
  CopyBox(value, of, wanted, &part);
  return part;
}

}  // namespace hawser
