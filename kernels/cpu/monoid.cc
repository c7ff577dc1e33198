#include "kernels/cpu/monoid.h"

#include <algorithm>
#include <complex>
#include <utility>

#include "core/base/status.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "kernels/cpu/arithmetic.h"
#include "kernels/cpu/folds.h"

namespace hawser::cpu {
namespace {

// The type a fold of T with F runs in.
template <typename F, typename T>
struct AccumulatorOf {
  using type = ComputeType<T>;
};
template <typename F, typename T>
  requires std::same_as<F, Add> || std::same_as<F, Multiply>
struct AccumulatorOf<F, T> {
  using type = std::conditional_t<
      std::is_same_v<T, float>, double,
      std::conditional_t<std::is_same_v<T, std::complex<float>>,
                         std::complex<double>, ComputeType<T>>>;
};

// Axes next to each other that are all kept or all reduced.
struct Group {
  bool reduced;
  int64_t size;
};
using Groups = absl::InlinedVector<Group, 8>;

void AddGroup(Groups* groups, Group group) {
  if (!groups->empty() && groups->back().reduced == group.reduced) {
    groups->back().size *= group.size;
  } else {
    groups->push_back(group);
  }
}

Groups GroupsOf(const KernelContext& c) {
  const auto dimensions = c.attributes().GetInts("dimensions");
  Groups groups;
  for (int i = 0; i < c.shape(0).rank(); ++i) {
    if (c.shape(0).dim(i) == 1) continue;
    AddGroup(&groups, {Contains(dimensions, i), c.shape(0).dim(i)});
  }
  return groups;
}

// An input seen as [before][size][after], of which `size` goes.
struct Extent {
  int64_t before = 1;
  int64_t size = 1;
  int64_t after = 1;
};

// Takes the last reduced group out of `groups`.
Extent TakeLastReduced(Groups* groups) {
  Extent e;
  int at = static_cast<int>(groups->size()) - 1;
  while (at >= 0 && !(*groups)[at].reduced) e.after *= (*groups)[at--].size;
  Groups rest;
  for (int i = 0; i < static_cast<int>(groups->size()); ++i) {
    const Group& g = (*groups)[i];
    if (i < at) e.before *= g.size;
    if (i == at) e.size = g.size;
    if (i != at) AddGroup(&rest, g);
  }
  *groups = std::move(rest);
  return e;
}

// The folds of one type into another, their types left out: what is below is
// compiled once for all of them.
struct Folds {
  DType in;
  DType accumulator;
  void (*run)(const char* in, int64_t rows, char* out);
  void (*columns)(const char* in, int64_t rows, int64_t stride, int64_t n,
                  char* out);
};

template <typename F, typename Acc, typename In>
constexpr Folds kFoldsOf = {
    kDTypeOf<In>, kDTypeOf<Acc>,
    [](const char* in, int64_t rows, char* out) {
      *reinterpret_cast<Acc*>(out) =
          FoldRun<F, Acc>(reinterpret_cast<const In*>(in), rows);
    },
    [](const char* in, int64_t rows, int64_t stride, int64_t n, char* out) {
      FoldColumns<F, Acc>(reinterpret_cast<const In*>(in), rows, stride, n,
                          reinterpret_cast<Acc*>(out));
    }};

// Work below which a fold is not cut along the reduced axis: an accumulator
// row of [size] in one block, unless only few blocks would be left.
constexpr int64_t kSegment = int64_t{1} << 16;
constexpr int64_t kEnoughBlocks = 64;
constexpr int64_t kLongest = int64_t{1} << 20;

// One group reduced. `again` folds what segments leave.
class Stage {
 public:
  Stage(const KernelContext& c, const Folds& folds, const Folds& again,
        Extent e)
      : c_(c),
        folds_(folds),
        again_(again),
        e_(e),
        in_bytes_(ByteWidth(folds.in)),
        out_bytes_(ByteWidth(folds.accumulator)),
        columns_(std::min(e.after, kFoldColumns)),
        chunks_((e.after + columns_ - 1) / columns_),
        segment_(std::max<int64_t>(kSegment / columns_, 1)),
        steps_(ElementSteps().Of(folds.in)) {
    const bool whole =
        e.size * columns_ <= kSegment ||
        (e.before * chunks_ >= kEnoughBlocks && e.size * columns_ <= kLongest);
    if (whole) segment_ = e.size;
    segments_ = (e.size + segment_ - 1) / segment_;
  }

  absl::Status Run(const char* in, char* out) const {
    if (segments_ == 1) return Fold(in, out);
    HAWSER_ASSIGN_OR_RETURN(
        Literal parts,
        c_.Allocate(Shape::Of(folds_.accumulator,
                              {e_.before * segments_ * e_.after})));
    char* part = parts.mutable_bytes().data();
    HAWSER_RETURN_IF_ERROR(Fold(in, part));
    return Stage(c_, again_, again_, {e_.before, segments_, e_.after})
        .Run(part, out);
  }

 private:
  // in[before][size][after] -> out[before][segments][after].
  absl::Status Fold(const char* in, char* out) const {
    const int64_t blocks = e_.before * segments_ * chunks_;
    return c_.ForRanges(
        blocks, steps_ * static_cast<double>(segment_ * columns_),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) FoldBlock(i, in, out);
          return absl::OkStatus();
        });
  }

  void FoldBlock(int64_t block, const char* in, char* out) const {
    const int64_t row = block / chunks_;  // of [before][segments]
    const int64_t column = block % chunks_ * columns_;
    const int64_t first = row % segments_ * segment_;
    const int64_t rows = std::min(segment_, e_.size - first);
    in += ((row / segments_ * e_.size + first) * e_.after + column) * in_bytes_;
    out += (row * e_.after + column) * out_bytes_;
    if (e_.after == 1) {
      folds_.run(in, rows, out);
    } else {
      folds_.columns(in, rows, e_.after, std::min(columns_, e_.after - column),
                     out);
    }
  }

  const KernelContext& c_;
  const Folds& folds_;
  const Folds& again_;
  const Extent e_;
  const int64_t in_bytes_, out_bytes_;
  const int64_t columns_, chunks_;
  int64_t segment_;  // reduced elements of one block
  const double steps_;  // of an element
  int64_t segments_ = 1;
};

// Every group, one after another from the last; the result is one accumulator
// for each kept element.
absl::StatusOr<Literal> FoldAll(const KernelContext& c, const Folds& folds,
                                const Folds& again) {
  Groups groups = GroupsOf(c);
  Literal values;
  const Folds* next = &folds;
  do {
    const Extent e = TakeLastReduced(&groups);
    HAWSER_ASSIGN_OR_RETURN(
        Literal out,
        c.Allocate(Shape::Of(folds.accumulator, {e.before * e.after})));
    const char* in = values.valid() ? values.bytes().data() : c.data(0);
    HAWSER_RETURN_IF_ERROR(
        Stage(c, *next, again, e).Run(in, out.mutable_bytes().data()));
    next = &again;
    values = std::move(out);
  } while (std::any_of(groups.begin(), groups.end(),
                       [](const Group& g) { return g.reduced; }));
  return values;
}

template <typename F, typename T>
absl::StatusOr<Literals> Reduce(const KernelContext& c) {
  using Acc = typename AccumulatorOf<F, T>::type;
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(c.result_shape()));
  T* to = reinterpret_cast<T*>(out.mutable_bytes().data());
  const int64_t n = c.result_shape().num_elements();
  const T initial = *reinterpret_cast<const T*>(c.data(1));
  if (c.shape(0).num_elements() == 0) {
    HAWSER_RETURN_IF_ERROR(c.ForRanges(n, 1, [&](int64_t begin, int64_t end) {
      std::fill(to + begin, to + end, initial);
      return absl::OkStatus();
    }));
    return Literals{std::move(out)};
  }
  HAWSER_ASSIGN_OR_RETURN(
      Literal folded,
      FoldAll(c, kFoldsOf<F, Acc, T>, kFoldsOf<F, Acc, Acc>));
  const Acc* values = folded.data<Acc>().data();
  HAWSER_RETURN_IF_ERROR(c.ForRanges(n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] = ConvertElement<T>(
          F::Apply(ConvertElement<Acc>(initial), values[i]));
    }
    return absl::OkStatus();
  }));
  return Literals{std::move(out)};
}

template <typename F>
MonoidFn OfDType(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> MonoidFn {
    using T = typename decltype(tag)::type;
    if constexpr (requires(ComputeType<T> x) { F::Apply(x, x); }) {
      return Reduce<F, T>;
    } else {
      return nullptr;
    }
  });
}

struct Row {
  const OpDef* op;
  MonoidFn (*of_dtype)(DType);
};
constexpr Row kMonoids[] = {
    {&kAdd, OfDType<Add>},         {&kMultiply, OfDType<Multiply>},
    {&kMaximum, OfDType<Maximum>}, {&kMinimum, OfDType<Minimum>},
    {&kAnd, OfDType<And>},         {&kOr, OfDType<Or>},
};

}  // namespace

MonoidFn FindMonoid(const OpDef* op, DType dtype) {
  for (const Row& row : kMonoids) {
    if (row.op == op) return row.of_dtype(dtype);
  }
  return nullptr;
}

}  // namespace hawser::cpu
