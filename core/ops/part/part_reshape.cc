// Parts of reshapes: the elements of a box under other axes.
#include <utility>
#include <vector>

#include "core/ops/movement/shape.h"
#include "core/ops/part/part.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

// A part is put together from at most so many pieces of each group of axes;
// beyond, more is computed and then cut.
constexpr size_t kMostPieces = 16;

// Neighbouring axes of the operand and of the result that hold the same
// elements: none of its parts does.
struct AxisGroup {
  int from, from_end;  // axes of the operand
  int to, to_end;      // axes of the result
  // A box of the result's axes, which holds what is wanted, and the boxes of
  // the operand's axes that it is put together of, in the order of its
  // elements.
  Box made;
  std::vector<Box> pieces;
  Box asked;  // the hull of the pieces
};

std::vector<AxisGroup> GroupsOf(const Shape& from, const Shape& to) {
  std::vector<AxisGroup> groups;
  int i = 0, k = 0;
  while (i < from.rank() || k < to.rank()) {
    AxisGroup group{.from = i, .from_end = i, .to = k, .to_end = k};
    int64_t left = 1, right = 1;
    do {
      if (i < from.rank() && (left <= right || k == to.rank())) {
        left *= from.dim(i++);
      } else {
        right *= to.dim(k++);
      }
    } while (left != right);
    group.from_end = i;
    group.to_end = k;
    groups.push_back(std::move(group));
  }
  return groups;
}

// The boxes that hold elements [begin, end) of the axes from `axis` on, in the
// order of the elements: a first, a middle and a last one for each axis.
void Cover(absl::Span<const int64_t> dims, int64_t begin, int64_t end,
           Box prefix, std::vector<Box>& boxes) {
  const size_t axis = prefix.size();
  if (axis == dims.size()) return boxes.push_back(std::move(prefix));
  int64_t inner = 1;
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  const auto at = [&](int64_t index, int64_t from, int64_t to) {
    Box one = prefix;
    one.push_back({index, index + 1});
    Cover(dims, from, to, std::move(one), boxes);
  };
  int64_t first = begin / inner;
  const int64_t last = end / inner;
  if (first == last) {
    return at(first, begin - first * inner, end - first * inner);
  }
  if (begin % inner != 0) {
    at(first, begin % inner, inner);
    ++first;
  }
  if (first < last) {
    Box middle = prefix;
    middle.push_back({first, last});
    for (size_t i = axis + 1; i < dims.size(); ++i) {
      middle.push_back({0, dims[i]});
    }
    boxes.push_back(std::move(middle));
  }
  if (end % inner != 0) at(last, 0, end % inner);
}

// The runs of a box in the order of all elements of its axes.
std::vector<Interval> RunsOf(const Box& box, absl::Span<const int64_t> dims) {
  size_t cut = dims.size();  // axes from here on are whole
  while (cut > 0 && box[cut - 1].size() == dims[cut - 1]) --cut;
  std::vector<Interval> runs = {{0, 1}};
  for (size_t i = 0; i < dims.size(); ++i) {
    std::vector<Interval> finer;
    for (const Interval& run : runs) {
      if (i >= cut) {
        finer.push_back({run.begin * dims[i], run.end * dims[i]});
      } else if (i + 1 == cut) {
        finer.push_back({run.begin * dims[i] + box[i].begin,
                         run.begin * dims[i] + box[i].end});
      } else {
        for (int64_t at = box[i].begin; at < box[i].end; ++at) {
          finer.push_back(
              {run.begin * dims[i] + at, run.begin * dims[i] + at + 1});
        }
      }
    }
    runs = std::move(finer);
  }
  return runs;
}

// Returns how many runs RunsOf would give.
int64_t CountRuns(const Box& box, absl::Span<const int64_t> dims) {
  size_t cut = dims.size();
  while (cut > 0 && box[cut - 1].size() == dims[cut - 1]) --cut;
  int64_t count = 1;
  for (size_t i = 0; i + 1 < cut; ++i) count *= box[i].size();
  return count;
}

void Fill(AxisGroup& group, const Shape& from, const Shape& to,
          const Box& wanted) {
  const auto from_dims = absl::MakeConstSpan(from.dims())
                             .subspan(group.from, group.from_end - group.from);
  const auto to_dims =
      absl::MakeConstSpan(to.dims()).subspan(group.to, group.to_end - group.to);
  group.made.assign(wanted.begin() + group.to, wanted.begin() + group.to_end);
  // From the back, axes are made whole until there are few runs: one, when all
  // but the first cut axis are.
  for (size_t i = to_dims.size(); i > 0; --i) {
    if (CountRuns(group.made, to_dims) <= static_cast<int64_t>(kMostPieces)) {
      group.pieces.clear();
      for (const Interval& run : RunsOf(group.made, to_dims)) {
        Cover(from_dims, run.begin, run.end, {}, group.pieces);
      }
      if (group.pieces.size() <= kMostPieces) break;
    }
    group.made[i - 1] = {0, to_dims[i - 1]};
  }
  if (group.pieces.empty() || group.pieces.size() > kMostPieces) {
    group.pieces.clear();
    group.made.clear();
    for (int64_t size : to_dims) group.made.push_back({0, size});
    Cover(from_dims, 0, ElementsOf(group.made), {}, group.pieces);
  }
  group.asked = group.pieces[0];
  for (const Box& piece : group.pieces)
    group.asked = HullOf(group.asked, piece);
}

// The elements of a group's pieces along one axis, `done`, in place of the
// group's axes of `x`, which begin there and hold `group.asked`.
Expression Joined(const Expression& x, const AxisGroup& group, size_t done) {
  const Dims dims = x.dims();
  std::vector<Expression> joined;
  for (const Box& piece : group.pieces) {
    Box of, box;
    for (int64_t size : dims) of.push_back({0, size});
    box = of;
    Dims flat(dims.begin(), dims.begin() + done);
    flat.push_back(ElementsOf(piece));
    flat.insert(flat.end(), dims.begin() + done + piece.size(), dims.end());
    for (size_t i = 0; i < piece.size(); ++i) {
      box[done + i] = {piece[i].begin - group.asked[i].begin,
                       piece[i].end - group.asked[i].begin};
    }
    joined.push_back(Reshaped(SliceTo(x, of, box), flat));
  }
  if (joined.size() == 1) return joined[0];
  return Apply(kConcatenate, joined,
               {{"dimension", static_cast<int64_t>(done)}});
}

}  // namespace

absl::Status ReshapePart(PartContext& c) {
  std::vector<AxisGroup> groups = GroupsOf(c.operand(), c.result());
  Box asks, gives;
  bool one_piece = true;
  for (AxisGroup& group : groups) {
    Fill(group, c.operand(), c.result(), c.box());
    asks.insert(asks.end(), group.asked.begin(), group.asked.end());
    gives.insert(gives.end(), group.made.begin(), group.made.end());
    one_piece = one_piece && group.pieces.size() == 1;
  }
  c.asks[0] = std::move(asks);
  c.gives[0] = gives;
  c.make = [groups = std::move(groups), one_piece,
            dims = SizesOf(gives)](PartScope& s) {
    Expression x = s.operands[0];
    for (size_t i = 0; !one_piece && i < groups.size(); ++i) {
      x = Joined(x, groups[i], i);
    }
    s.Give(0, Reshaped(x, dims));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

}  // namespace hawser
