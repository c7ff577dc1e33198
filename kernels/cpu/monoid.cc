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

template <typename T>
T* Elements(Literal& literal) {
  return reinterpret_cast<T*>(literal.mutable_bytes().data());
}

// Work below which a fold is not cut along the reduced axis: an accumulator
// row of [size] in one block, unless only few blocks would be left.
constexpr int64_t kSegment = int64_t{1} << 16;
constexpr int64_t kEnoughBlocks = 64;
constexpr int64_t kLongest = int64_t{1} << 20;

// One group reduced, In -> Acc.
template <typename F, typename Acc, typename In>
class Stage {
 public:
  Stage(const KernelContext& c, Extent e)
      : c_(c),
        e_(e),
        columns_(std::min(e.after, kFoldColumns)),
        chunks_((e.after + columns_ - 1) / columns_),
        segment_(std::max<int64_t>(kSegment / columns_, 1)) {
    const bool whole =
        e.size * columns_ <= kSegment ||
        (e.before * chunks_ >= kEnoughBlocks && e.size * columns_ <= kLongest);
    if (whole) segment_ = e.size;
    segments_ = (e.size + segment_ - 1) / segment_;
  }

  absl::Status Run(const In* in, Acc* out) const {
    if (segments_ == 1) return Fold(in, out);
    HAWSER_ASSIGN_OR_RETURN(
        Literal parts, c_.Allocate(Shape::Of(
                           kDTypeOf<Acc>,
                           {e_.before * segments_ * e_.after})));
    Acc* part = Elements<Acc>(parts);
    HAWSER_RETURN_IF_ERROR(Fold(in, part));
    return Stage<F, Acc, Acc>(c_, {e_.before, segments_, e_.after})
        .Run(part, out);
  }

 private:
  // in[before][size][after] -> out[before][segments][after].
  absl::Status Fold(const In* in, Acc* out) const {
    const int64_t blocks = e_.before * segments_ * chunks_;
    return c_.ForRanges(
        blocks, segment_ * columns_, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = i / chunks_;  // of [before][segments]
            const int64_t column = i % chunks_ * columns_;
            const int64_t first = row % segments_ * segment_;
            const int64_t rows = std::min(segment_, e_.size - first);
            const In* x =
                in + (row / segments_ * e_.size + first) * e_.after + column;
            Acc* to = out + row * e_.after + column;
            if (e_.after == 1) {
              *to = FoldRun<F, Acc>(x, rows);
            } else {
              FoldColumns<F, Acc>(x, rows, e_.after,
                                  std::min(columns_, e_.after - column), to);
            }
          }
          return absl::OkStatus();
        });
  }

  const KernelContext& c_;
  const Extent e_;
  const int64_t columns_, chunks_;
  int64_t segment_;  // reduced elements of one block
  int64_t segments_ = 1;
};

// Every group, one after another from the last; the result is one Acc for
// each kept element.
template <typename F, typename Acc, typename T>
absl::StatusOr<Literal> FoldAll(const KernelContext& c) {
  Groups groups = GroupsOf(c);
  Literal values;
  bool first = true;
  do {
    const Extent e = TakeLastReduced(&groups);
    HAWSER_ASSIGN_OR_RETURN(
        Literal out,
        c.Allocate(Shape::Of(kDTypeOf<Acc>, {e.before * e.after})));
    if (first) {
      const T* in = reinterpret_cast<const T*>(c.data(0));
      HAWSER_RETURN_IF_ERROR(
          (Stage<F, Acc, T>(c, e).Run(in, Elements<Acc>(out))));
    } else {
      HAWSER_RETURN_IF_ERROR((Stage<F, Acc, Acc>(c, e).Run(
          values.data<Acc>().data(), Elements<Acc>(out))));
    }
    first = false;
    values = std::move(out);
  } while (std::any_of(groups.begin(), groups.end(),
                       [](const Group& g) { return g.reduced; }));
  return values;
}

template <typename F, typename T>
absl::StatusOr<Literals> Reduce(const KernelContext& c) {
  using Acc = typename AccumulatorOf<F, T>::type;
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(c.result_shape()));
  T* to = Elements<T>(out);
  const int64_t n = c.result_shape().num_elements();
  const T initial = *reinterpret_cast<const T*>(c.data(1));
  if (c.shape(0).num_elements() == 0) {
    std::fill_n(to, n, initial);
    return Literals{std::move(out)};
  }
  HAWSER_ASSIGN_OR_RETURN(Literal folded, (FoldAll<F, Acc, T>(c)));
  const Acc* values = folded.data<Acc>().data();
  for (int64_t i = 0; i < n; ++i) {
    to[i] = ConvertElement<T>(
        F::Apply(ConvertElement<Acc>(initial), values[i]));
  }
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
