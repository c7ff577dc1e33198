#include "kernels/plan/selection/selections.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ir/leaves.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "core/ops/rewritten.h"
#include "core/ops/scatters/scatter_rows.h"
#include "kernels/plan/parallel/first_places.h"
#include "kernels/plan/region/block_layout.h"

namespace hawser::plan {
namespace {

using Expressions = std::vector<Expression>;

// Shorter rows are sorted in shared memory.
constexpr int64_t kShortRow = 1024;
// A row has at least so many times the elements that are read.
constexpr int64_t kLeastRest = 8;
// A block reads a row alone unless it has more elements, and the device fewer
// rows than a few for each of its units.
constexpr int64_t kLongRow = 32768;
constexpr int64_t kLeastPart = 8192;
constexpr int64_t kPartsPerUnit = 4;

// A sort, and how many elements of each row are read.
struct Selection {
  int64_t count = 0;
  int64_t parts = 1;  // of a row
};

// How many entries of the last axis all slices of a sort's results read from
// the first on; nullopt where anything else reads one.
std::optional<int64_t> EntriesRead(const Computation& c,
                                   const Instruction& sort) {
  const auto is_result = [&](ValueId v) {
    return v >= sort.first_result && v < sort.first_result + sort.num_results;
  };
  if (std::any_of(c.results().begin(), c.results().end(), is_result)) {
    return std::nullopt;
  }
  int64_t entries = 0;
  for (const Instruction& i : c.instructions()) {
    if (std::none_of(i.operands.begin(), i.operands.end(), is_result)) continue;
    if (i.op != &kSlice) return std::nullopt;
    entries = std::max(entries, i.attributes.GetInts("limit_indices").back());
  }
  return entries;
}

// Returns the most parts of equal size, a power of two, that give the device
// enough rows and are long enough for `count` elements of each.
int64_t PartsOf(int64_t rows, int64_t size, int64_t count,
                const Target& target) {
  int64_t parts = 1;
  while (size / parts > kLongRow &&
         rows * parts < kPartsPerUnit * target.parallel_units &&
         size % (2 * parts) == 0 && size / (2 * parts) >= kLeastPart &&
         size / (2 * parts) >= kLeastRest * count) {
    parts *= 2;
  }
  return parts;
}

std::optional<Selection> SelectionOf(const Module& module, const Computation& c,
                                     const Instruction& sort,
                                     const Target& target) {
  if (sort.op != &kSort) return std::nullopt;
  const Shape& shape = c.shape(sort.operands[0]);
  const int64_t axis = sort.attributes.GetInt("dimension");
  if (axis != shape.rank() - 1 || shape.num_elements() == 0) {
    return std::nullopt;
  }
  const int64_t size = shape.dim(static_cast<int>(axis));
  const std::optional<int64_t> count = EntriesRead(c, sort);
  if (!count || *count < 1 || *count > target.selected || size < kShortRow ||
      size < kLeastRest * *count || size >= int64_t{1} << 31 ||
      !OrderOfComparator(module.computation(sort.called[0]))) {
    return std::nullopt;
  }
  const int64_t rows = shape.num_elements() / size;
  const Selection selection{*count, PartsOf(rows, size, *count, target)};
  const int64_t blocks = rows * selection.parts;
  // A few blocks would go over a long row one after the other.
  if (size / selection.parts > kLongRow && blocks * 4 < target.parallel_units) {
    return std::nullopt;
  }
  return selection;
}

// Adds a comparator of the keys alone.
absl::StatusOr<int> AddKeyComparator(const Computation& of,
                                     const std::vector<int>& keys,
                                     Module* module) {
  ComputationBuilder builder(module, "order");
  std::map<ValueId, ValueId> copied;
  for (const int key : keys) {
    for (const ValueId side : {2 * key, 2 * key + 1}) {
      copied[side] = builder.Parameter(of.shape(side));
    }
  }
  for (const Instruction& i : of.instructions()) {
    std::vector<ValueId> operands;
    for (const ValueId v : i.operands) {
      if (copied.contains(v)) operands.push_back(copied[v]);
    }
    const bool is_needed = operands.size() == i.operands.size();
    if (copied.contains(i.first_result) || !is_needed || i.op == &kParameter) {
      continue;
    }
    copied[i.first_result] = builder.Add(*i.op, operands, i.attributes);
  }
  return builder.Finish({copied.at(of.results()[0])});
}

// Elements of `list`, an array taken as one list, at numbers `at`.
Expression ElementsOf(const Expression& list, const Expression& at) {
  const int64_t count = list.shape().num_elements();
  const int64_t numbers = at.shape().num_elements();
  return Reshaped(RowsAt(Reshaped(list, {count, 1}), Reshaped(at, {numbers})),
                  at.dims());
}

// The elements that a sort selects, of rows [rows, size].
class Selected {
 public:
  Selected(const Expressions& operands, const std::vector<int>& keys,
           int comparator)
      : comparator_(comparator) {
    const Dims& dims = operands[0].dims();
    size_ = dims.back();
    rows_ = operands[0].shape().num_elements() / size_;
    for (const int key : keys) {
      keys_.push_back(Reshaped(operands[key], {rows_, size_}));
    }
  }

  // The number of each element, of all rows: s64[rows, count].
  Expression Numbers(const Selection& selection) const {
    if (selection.parts == 1) return Flat(keys_, selection.count, size_);
    // Parts stay in their order, so that what is equal stays as it stood.
    const int64_t part = size_ / selection.parts;
    const int64_t left = selection.parts * selection.count;
    Expressions keys;
    for (const Expression& key : keys_) {
      keys.push_back(Reshaped(key, {rows_ * selection.parts, part}));
    }
    const Expression first =
        Reshaped(Flat(keys, selection.count, part), {rows_, left});
    for (size_t k = 0; k < keys.size(); ++k) {
      keys[k] = ElementsOf(keys_[k], first);
    }
    return ElementsOf(first, Flat(keys, selection.count, left));
  }

 private:
  Expression Flat(const Expressions& keys, int64_t count, int64_t size) const {
    const Expression places =
        Apply(kFirstPlaces, keys, {{"dimension", int64_t{1}}, {"count", count}},
              {comparator_});
    const Dims dims = places.dims();
    const Expression rows = static_cast<double>(size) *
                            Counted(places.scope(), dims[0], DType::kS64);
    return Spread(rows, dims, {1}) + ConvertTo(places, DType::kS64);
  }

  const int comparator_;
  int64_t rows_ = 0, size_ = 0;
  Expressions keys_;
};

absl::StatusOr<Expressions> SelectedOf(const Computation& comparator,
                                       const Selection& selection,
                                       const Expressions& operands) {
  Module* const module = operands[0].scope()->builder.module();
  const std::vector<int> keys = KeysOfComparator(comparator);
  HAWSER_ASSIGN_OR_RETURN(const int order,
                          AddKeyComparator(comparator, keys, module));
  const Expression numbers = Selected(operands, keys, order).Numbers(selection);
  Expressions results;
  for (const Expression& operand : operands) {
    Dims dims = operand.dims();
    dims.back() = selection.count;
    results.push_back(Reshaped(ElementsOf(operand, numbers), dims));
  }
  return results;
}

}  // namespace

absl::StatusOr<std::optional<Module>> WithSelections(const Module& module,
                                                     const Target& target) {
  bool any = false;
  for (const Computation& c : module.computations()) {
    for (const Instruction& i : c.instructions()) {
      any = any || SelectionOf(module, c, i, target).has_value();
    }
  }
  if (!any) return std::optional<Module>();
  HAWSER_ASSIGN_OR_RETURN(
      Module made,
      Rewritten(module,
                [&](const Computation& from, const Instruction& i,
                    const Expressions& operands)
                    -> absl::StatusOr<std::optional<Expressions>> {
                  const auto selection = SelectionOf(module, from, i, target);
                  if (!selection) return std::optional<Expressions>();
                  HAWSER_ASSIGN_OR_RETURN(
                      Expressions results,
                      SelectedOf(module.computation(i.called[0]), *selection,
                                 operands));
                  return std::optional<Expressions>(std::move(results));
                }));
  return std::optional<Module>(std::move(made));
}

}  // namespace hawser::plan
