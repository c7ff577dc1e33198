// Cases of what moves elements by position.
#include <string>

#include "absl/strings/str_cat.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "core/ops/windows/unfold.h"
#include "tests/core/autodiff/case_families.h"

namespace hawser {
namespace {

Cases BroadcastCases(DType t) {
  const auto to = [](Dims axes, Dims dims) {
    return Attributes{{"broadcast_dimensions", axes}, {"dims", dims}};
  };
  const OpDef& op = kBroadcastInDim;
  return {Plain("scalar", op, {Values(t, 1.5)}, to({}, {2, 3})),
          Plain("row", op, {Spaced(t, {3}, -2, 2)}, to({1}, {2, 3})),
          Plain("column", op, {Spaced(t, {2}, -2, 2)}, to({0}, {2, 3})),
          Plain("size 1", op, {Spaced(t, {2, 1, 2}, -2, 2)},
                to({0, 1, 2}, {2, 3, 2})),
          Plain("crossed", op, {Spaced(t, {2, 3, 1}, -2, 2)},
                to({3, 0, 1}, {3, 4, 2, 2})),
          Plain("same", op, {Spaced(t, {2, 1}, -2, 2)}, to({0, 1}, {2, 1})),
          Plain("to none", op, {Spaced(t, {2}, -2, 2)}, to({1}, {0, 2}))};
}

Cases ReshapeCases(DType t) {
  return {Plain("split", kReshape, {Spaced(t, {6}, -2, 2)},
                {{"dims", Dims{2, 1, 3}}}),
          Plain("to scalar", kReshape, {Spaced(t, {1, 1}, -2, 2)},
                {{"dims", Dims{}}}),
          Plain("empty", kReshape, {Spaced(t, {0, 3}, -2, 2)},
                {{"dims", Dims{0}}})};
}

Cases TransposeCases(DType t) {
  return {Plain("matrix", kTranspose, {Spaced(t, {2, 3}, -2, 2)},
                {{"permutation", Dims{1, 0}}}),
          Plain("turned", kTranspose, {Spaced(t, {2, 3, 2}, -2, 2)},
                {{"permutation", Dims{1, 2, 0}}}),
          Plain("scalar", kTranspose, {Values(t, 2)},
                {{"permutation", Dims{}}})};
}

Cases ConcatenateCases(DType t) {
  return {Plain("three", kConcatenate,
                {Spaced(t, {2, 1}, -2, 2), Spaced(t, {2, 3}, -2, 2, 1),
                 Spaced(t, {2, 0}, -2, 2, 2)},
                {{"dimension", int64_t{1}}}),
          Case("one twice", {Spaced(t, {3}, -2, 2)}, {0},
               [](ComputationBuilder& b, Ids p) {
                 return std::vector<ValueId>{b.Add(
                     kConcatenate, {p[0], p[0]}, {{"dimension", int64_t{0}}})};
               })};
}

Cases SortCases(DType t) {
  if (IsComplex(t)) return {};
  const auto sorted = [](std::string name, Arguments arguments, int64_t axis,
                         bool descending) {
    const DType key = arguments[0].shape().dtype();
    std::vector<DType> others;
    std::vector<int> by = {0};
    for (size_t i = 1; i < arguments.size(); ++i) {
      others.push_back(arguments[i].shape().dtype());
      by.push_back(static_cast<int>(i));
    }
    return Case(std::move(name), arguments, by,
                [&](ComputationBuilder& b, Ids p) {
                  const int less =
                      AddComparator(key, descending, others, b.module());
                  const ValueId first =
                      b.Add(kSort, p, {{"dimension", axis}}, {less});
                  std::vector<ValueId> results;
                  for (size_t k = 0; k < p.size(); ++k) {
                    results.push_back(first + static_cast<int>(k));
                  }
                  return results;
                });
  };
  return {sorted("a row", {Spaced(t, {5}, -2, 2)}, 0, false),
          sorted("columns, descending", {Spaced(t, {3, 2}, -2, 2)}, 0, true),
          sorted("beside another",
                 {Spaced(t, {2, 3}, -2, 2), Spaced(t, {2, 3}, -1, 1, 1)}, 1,
                 false),
          sorted("none", {Spaced(t, {0}, -2, 2)}, 0, false)};
}

Cases ReverseCases(DType t) {
  return {Plain("two axes", kReverse, {Spaced(t, {2, 3, 2}, -2, 2)},
                {{"dimensions", Dims{0, 2}}}),
          Plain("none", kReverse, {Spaced(t, {3}, -2, 2)},
                {{"dimensions", Dims{}}})};
}

Cases PadCases(DType t) {
  const auto by = [](Dims low, Dims high, Dims interior) {
    return Attributes{{"edge_padding_low", low},
                      {"edge_padding_high", high},
                      {"interior_padding", interior}};
  };
  const Literal x = Spaced(t, {2, 3}, -2, 2), v = Values(t, 0.75);
  return {Plain("edges", kPad, {x, v}, by({1, 0}, {0, 2}, {0, 0})),
          Plain("between", kPad, {x, v}, by({0, 1}, {1, 0}, {2, 1})),
          Plain("cut", kPad, {x, v}, by({-1, 0}, {0, -1}, {0, 0})),
          Plain("cut between", kPad, {x, v}, by({-1, -2}, {1, -1}, {1, 2})),
          Plain("nothing left", kPad, {x, v}, by({-1, 0}, {-1, 0}, {0, 0})),
          Plain("of nothing", kPad, {Spaced(t, {0, 2}, 0, 1), v},
                by({1, 0}, {1, 0}, {3, 0}))};
}

Cases UnfoldCases(DType t) {
  const auto by = [](Dims axes, Dims sizes, Dims strides, Dims dilations) {
    return Attributes{{"dimensions", axes},
                      {"window_dimensions", sizes},
                      {"window_strides", strides},
                      {"window_dilations", dilations}};
  };
  const Literal x = Spaced(t, {5, 3}, -2, 2);
  return {Plain("beside each other", kUnfold, {x}, by({0}, {2}, {2}, {1})),
          Plain("that share elements", kUnfold, {x}, by({0}, {3}, {1}, {1})),
          Plain("spread apart", kUnfold, {x}, by({0}, {2}, {1}, {3})),
          Plain("some never seen", kUnfold, {x}, by({0}, {2}, {3}, {1})),
          Plain("two axes", kUnfold, {x}, by({1, 0}, {2, 3}, {1, 2}, {1, 1})),
          Plain("of one place", kUnfold, {x}, by({0}, {1}, {2}, {7})),
          Plain("too long", kUnfold, {x}, by({1}, {4}, {1}, {1})),
          Plain("no axis", kUnfold, {x}, by({}, {}, {}, {})),
          Plain("of nothing", kUnfold, {Spaced(t, {0, 2}, 0, 1)},
                by({0, 1}, {1, 2}, {1, 1}, {1, 1}))};
}

Cases SliceCases(DType t) {
  const auto part = [](Dims start, Dims limit, Dims strides) {
    return Attributes{{"start_indices", start},
                      {"limit_indices", limit},
                      {"strides", strides}};
  };
  const Literal x = Spaced(t, {4, 5}, -3, 3);
  return {Plain("middle", kSlice, {x}, part({1, 2}, {3, 4}, {1, 1})),
          Plain("steps", kSlice, {x}, part({0, 1}, {4, 5}, {3, 2})),
          Plain("step beyond", kSlice, {x}, part({2, 0}, {4, 5}, {9, 4})),
          Plain("nothing", kSlice, {x}, part({2, 0}, {2, 5}, {1, 1})),
          Plain("scalar", kSlice, {Values(t, 2)}, part({}, {}, {}))};
}

Cases DynamicSliceCases(DType t) {
  const Literal x = Spaced(t, {4, 3}, -3, 3);
  Cases cases;
  for (int32_t start : {-7, 0, 1, 9}) {
    cases.push_back(Plain(absl::StrCat("from ", start), kDynamicSlice,
                          {x, Literal::Scalar(start), Literal::Scalar(1)},
                          {{"slice_sizes", Dims{2, 2}}}));
  }
  return cases;
}

Cases DynamicUpdateSliceCases(DType t) {
  const Literal x = Spaced(t, {4, 3}, -3, 3), part = Spaced(t, {2, 2}, -1, 1);
  Cases cases;
  for (int32_t start : {-7, 0, 1, 9}) {
    cases.push_back(
        Plain(absl::StrCat("at ", start), kDynamicUpdateSlice,
              {x, part, Literal::Scalar(start), Literal::Scalar(1)}));
  }
  return cases;
}

constexpr CaseRow kMovementRows[] = {
    {&kBroadcastInDim, BroadcastCases},
    {&kConcatenate, ConcatenateCases},
    {&kDynamicSlice, DynamicSliceCases},
    {&kDynamicUpdateSlice, DynamicUpdateSliceCases},
    {&kPad, PadCases},
    {&kReshape, ReshapeCases},
    {&kReverse, ReverseCases},
    {&kSort, SortCases},
    {&kSlice, SliceCases},
    {&kUnfold, UnfoldCases},
    {&kTranspose, TransposeCases},
};

}  // namespace

absl::Span<const CaseRow> MovementCases() { return kMovementRows; }

}  // namespace hawser
