#include "kernels/plan/tiling/tiled_loop.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/movement/slice.h"
#include "core/sharding/part/module_copy.h"
#include "core/sharding/part/part_module.h"
#include "core/sharding/part/part_plan.h"

namespace hawser::plan {
namespace {

// The group as a module: its entry takes what the group takes.
absl::StatusOr<Module> Outline(const Module& module,
                               const Computation& computation,
                               const TiledGroup& group) {
  Module outlined("tiled");
  ModuleCopy copy(module, &outlined);
  ComputationBuilder builder(&outlined, "tiled");
  std::vector<ValueId> moved(computation.num_values(), kNoValue);
  std::vector<ValueId> taken;
  for (const ValueId v : group.takes) {
    taken.push_back(builder.Parameter(computation.shape(v), SourceLocation{}));
  }
  auto next_taken = taken.begin();
  for (const int k : group.instructions) {
    const Instruction& i = computation.instructions()[k];
    std::vector<ValueId> operands;
    for (const ValueId v : i.operands) {
      operands.push_back(moved[v] == kNoValue ? *next_taken++ : moved[v]);
    }
    absl::InlinedVector<int, 2> called;
    for (const int callee : i.called) {
      HAWSER_ASSIGN_OR_RETURN(called.emplace_back(), copy.Of(callee));
    }
    const ValueId first =
        builder.Add(*i.op, operands, i.attributes, called, SourceLocation{});
    HAWSER_RETURN_IF_ERROR(builder.status());
    for (int r = 0; r < i.num_results; ++r)
      moved[i.first_result + r] = first + r;
  }
  std::vector<ValueId> results;
  for (const ValueId v : group.gives) results.push_back(moved[v]);
  HAWSER_RETURN_IF_ERROR(builder.Finish(results).status());
  return outlined;
}

int64_t LargestBytes(const Computation& computation) {
  int64_t most = 0;
  for (const Instruction& i : computation.instructions()) {
    if (i.op == &kParameter) continue;
    for (int r = 0; r < i.num_results; ++r) {
      most = std::max(most, computation.shape(i.first_result + r).byte_size());
    }
  }
  return most;
}

// Elements that are computed: what tiles do twice counts twice.
double WorkOf(const Computation& computation) {
  double elements = 0;
  for (const Instruction& i : computation.instructions()) {
    if (i.op == &kParameter) continue;
    elements += computation.shape(i.first_result).num_elements();
  }
  return elements;
}

}  // namespace

// ---- how results are cut ----------------------------------------------------

class TiledLoop::Search {
 public:
  Search(const Module& outlined, const Target& target)
      : outlined_(outlined),
        bytes_(LargestBytes(outlined.entry())),
        work_(WorkOf(outlined.entry())),
        target_(target) {
    for (const ValueId v : outlined.entry().results()) {
      results_.push_back(outlined.entry().shape(v));
    }
  }

  // An axis of each result, and into how many tiles they are cut.
  struct Cut {
    std::vector<int> axes;
    int64_t iterations = 1;
    double taken = 0;  // elements, by all iterations
  };

  // The best first.
  absl::StatusOr<std::vector<Cut>> Find() {
    std::vector<Cut> cuts;
    for (int axis = 0; axis < results_[0].rank(); ++axis) {
      HAWSER_ASSIGN_OR_RETURN(std::optional<Cut> cut, From(axis));
      if (cut) cuts.push_back(*std::move(cut));
    }
    std::stable_sort(cuts.begin(), cuts.end(), [&](const Cut& a, const Cut& b) {
      return Rank(a) < Rank(b);
    });
    return cuts;
  }

  // The pieces of an iteration.
  std::vector<Piece> PiecesOf(const Cut& cut, int64_t iteration) const {
    std::vector<Piece> pieces;
    for (size_t k = 0; k < cut.axes.size(); ++k) {
      Box box = WholeBox(results_[k]);
      const int64_t size = results_[k].dim(cut.axes[k]) / cut.iterations;
      box[cut.axes[k]] = {iteration * size, (iteration + 1) * size};
      pieces.push_back({static_cast<int>(k), std::move(box)});
    }
    return pieces;
  }

 private:
  bool IsSmall(int64_t iterations) const {
    return bytes_ <= iterations * target_.tile_bytes;
  }
  // What is taken again by each iteration is read from slower memory; then
  // tiles are to be small, then iterations few.
  std::tuple<double, bool, int64_t> Rank(const Cut& cut) const {
    const bool is_small = IsSmall(cut.iterations);
    return {cut.taken, !is_small, is_small ? cut.iterations : -cut.iterations};
  }

  // Cuts the first result along `axis`, and each other one where the least is
  // computed in addition.
  absl::StatusOr<std::optional<Cut>> From(int axis) {
    Cut cut{.axes = {axis}, .iterations = results_[0].dim(axis)};
    if (cut.iterations < 2) return std::nullopt;
    for (size_t k = 1; k < results_.size(); ++k) {
      std::optional<Cut> best;
      double least = std::numeric_limits<double>::infinity();
      for (int other = 0; other < results_[k].rank(); ++other) {
        Cut more = cut;
        more.axes.push_back(other);
        more.iterations = std::gcd(more.iterations, results_[k].dim(other));
        if (more.iterations < 2) continue;
        HAWSER_ASSIGN_OR_RETURN(const double work, WorkOfTurn(more));
        // Among those that do as much, the one of the most iterations wins.
        if (work * more.iterations >= least) continue;
        least = work * more.iterations;
        best = std::move(more);
      }
      if (!best) return std::nullopt;
      cut = *std::move(best);
    }
    cut.iterations = FewestIterations(cut.iterations);
    HAWSER_ASSIGN_OR_RETURN(const PartModule part,
                            PartOf(outlined_, PiecesOf(cut, 0)));
    const double work = WorkOf(part.module.entry());
    if (work * cut.iterations > kMoreWork * work_) return std::nullopt;
    for (const Piece& piece : part.takes) {
      cut.taken += static_cast<double>(ElementsOf(piece.box)) * cut.iterations;
    }
    return cut;
  }

  absl::StatusOr<double> WorkOfTurn(const Cut& cut) const {
    HAWSER_ASSIGN_OR_RETURN(const PartModule part,
                            PartOf(outlined_, PiecesOf(cut, 0)));
    return WorkOf(part.module.entry());
  }

  // The least divisor of `most` whose tiles are small enough, else `most`.
  int64_t FewestIterations(int64_t most) const {
    for (int64_t iterations = 2; iterations < most; ++iterations) {
      if (most % iterations == 0 && IsSmall(iterations)) return iterations;
    }
    return most;
  }

  static constexpr double kMoreWork = 1.25;

  const Module& outlined_;
  const int64_t bytes_;
  const double work_;
  const Target& target_;
  std::vector<Shape> results_;
};

absl::StatusOr<std::optional<TiledLoop>> TiledLoop::Make(
    const Module& module, const Computation& computation,
    const TiledGroup& group, const Target& target) {
  HAWSER_ASSIGN_OR_RETURN(const Module outlined,
                          Outline(module, computation, group));
  Search search(outlined, target);
  HAWSER_ASSIGN_OR_RETURN(const std::vector<Search::Cut> cuts, search.Find());
  for (const Search::Cut& cut : cuts) {
    TiledLoop loop;
    loop.outlined_ = outlined;
    loop.iterations_ = cut.iterations;
    loop.gives_ = search.PiecesOf(cut, 0);
    loop.unit_ = loop.gives_[0].box[cut.axes[0]].size();
    HAWSER_ASSIGN_OR_RETURN(const PartModule first,
                            PartOf(outlined, loop.gives_));
    bool follows = true;
    // The second iteration tells the steps; the last one is where they lead.
    for (const int64_t iteration : {int64_t{1}, cut.iterations - 1}) {
      HAWSER_ASSIGN_OR_RETURN(
          const PartModule part,
          PartOf(outlined, search.PiecesOf(cut, iteration)));
      follows = follows && loop.Follow(first, part, iteration);
    }
    if (follows) return loop;
  }
  return std::nullopt;
}

bool TiledLoop::Follow(const PartModule& first, const PartModule& part,
                       int64_t iteration) {
  if (Print(part.module) != Print(first.module)) return false;
  const auto follow = [iteration](int64_t from, int64_t to, Start* start) {
    if (iteration == 1) *start = {from, to - from};
    return to == start->first + iteration * start->step;
  };
  takes_.resize(first.takes.size());
  offsets_.resize(first.offsets.size());
  for (size_t k = 0; k < takes_.size(); ++k) {
    const Piece &from = first.takes[k], &to = part.takes[k];
    if (from.value != to.value) return false;
    takes_[k].parameter = from.value;
    takes_[k].box = from.box;
    takes_[k].starts.resize(from.box.size());
    for (size_t axis = 0; axis < from.box.size(); ++axis) {
      if (!follow(from.box[axis].begin, to.box[axis].begin,
                  &takes_[k].starts[axis])) {
        return false;
      }
    }
  }
  for (size_t k = 0; k < offsets_.size(); ++k) {
    if (!follow(first.offsets[k], part.offsets[k], &offsets_[k])) return false;
  }
  return true;
}

// ---- the loop ---------------------------------------------------------------

// The state is how far the first result is made along its axis, then the
// results so far; then come, and stay, what the group takes.
class TiledLoop::Body {
 public:
  Body(const TiledLoop& loop, absl::Span<const Shape> state, Module* module)
      : loop_(loop), copy_(loop.outlined_, module), builder_(module, "tile") {
    for (const Shape& shape : state) {
      values_.emplace_back(&scope_,
                           builder_.Parameter(shape, SourceLocation{}));
    }
  }

  absl::StatusOr<int> Finish() {
    const int entry =
        static_cast<int>(loop_.outlined_.computations().size()) - 1;
    HAWSER_ASSIGN_OR_RETURN(
        const PartPlan plan,
        PartPlan::Make(loop_.outlined_, entry, loop_.gives_));
    size_t next_offset = 0;
    const auto offset = [&](int64_t) {
      return At(loop_.offsets_[next_offset++]);
    };
    const auto take = [&](int parameter, const Box& box, Box*) {
      return TileOf(parameter, box);
    };
    std::vector<Expression> tiles(loop_.gives_.size());
    HAWSER_RETURN_IF_ERROR(plan.Build(
        {.scope = scope_, .copy = copy_, .take = take, .offset = offset},
        absl::MakeSpan(tiles)));
    std::vector<ValueId> results = {
        (place() + static_cast<double>(loop_.unit_)).value()};
    for (size_t k = 0; k < tiles.size(); ++k) {
      const Dims whole = values_[1 + k].dims();
      const Dims sizes = SizesOf(loop_.gives_[k].box);
      std::vector<Expression> operands = {values_[1 + k], tiles[k]};
      for (size_t axis = 0; axis < whole.size(); ++axis) {
        operands.push_back(At({0, sizes[axis] % whole[axis]}));
      }
      results.push_back(Apply(kDynamicUpdateSlice, operands).value());
    }
    HAWSER_RETURN_IF_ERROR(builder_.status());
    return builder_.Finish(results);
  }

 private:
  Expression place() const { return values_[0]; }
  Expression At(const Start& start) {
    const auto constant = [&](int64_t value) {
      return ConstantOf(&scope_, Literal::Scalar(value));
    };
    if (start.step == 0) return constant(start.first);
    Expression at = place();
    if (start.step % loop_.unit_ != 0) {
      at = at / constant(loop_.unit_) * constant(start.step);
    } else if (start.step != loop_.unit_) {
      at = at * constant(start.step / loop_.unit_);
    }
    return start.first == 0 ? at : at + constant(start.first);
  }
  Expression TileOf(int parameter, const Box& box) {
    const Expression& whole = values_[1 + loop_.gives_.size() + parameter];
    if (box == WholeBox(whole.shape())) return whole;
    for (const Taken& taken : loop_.takes_) {
      if (taken.parameter != parameter || taken.box != box) continue;
      std::vector<Expression> operands = {whole};
      for (const Start& start : taken.starts) operands.push_back(At(start));
      return Apply(kDynamicSlice, operands, {{"slice_sizes", SizesOf(box)}});
    }
    return Expression(&scope_, kNoValue);
  }

  const TiledLoop& loop_;
  ModuleCopy copy_;
  ComputationBuilder builder_;
  ExpressionScope scope_{builder_, copy_.monoids()};
  std::vector<Expression> values_;
};

absl::StatusOr<int> TiledLoop::AddCondition(absl::Span<const Shape> state,
                                            Module* module) const {
  ComputationBuilder builder(module, "tiles left");
  Monoids monoids;
  ExpressionScope scope{builder, monoids};
  for (const Shape& shape : state) builder.Parameter(shape, SourceLocation{});
  const Expression left = Compare(
      Expression(&scope, 0), CompareDirection::kLt,
      ConstantOf(&scope, Literal::Scalar<int64_t>(iterations_ * unit_)));
  HAWSER_RETURN_IF_ERROR(builder.status());
  return builder.Finish({left.value()});
}

absl::StatusOr<std::vector<ValueId>> TiledLoop::Build(
    absl::Span<const ValueId> takes, ComputationBuilder& builder) const {
  Monoids monoids;
  ExpressionScope scope{builder, monoids};
  std::vector<Shape> shapes = {Shape::Scalar(DType::kS64)};
  std::vector<ValueId> operands = {
      ConstantOf(&scope, Literal::Scalar<int64_t>(0)).value()};
  for (const ValueId v : outlined_.entry().results()) {
    shapes.push_back(outlined_.entry().shape(v));
    operands.push_back(Filled(&scope, shapes.back(), 0).value());
  }
  for (const ValueId v : takes) {
    shapes.push_back(builder.shape(v));
    operands.push_back(v);
  }
  HAWSER_ASSIGN_OR_RETURN(const int condition,
                          AddCondition(shapes, builder.module()));
  HAWSER_ASSIGN_OR_RETURN(const int body,
                          Body(*this, shapes, builder.module()).Finish());
  const ValueId first = builder.Add(
      kWhile, operands, {{"num_invariant", static_cast<int64_t>(takes.size())}},
      {condition, body}, SourceLocation{});
  HAWSER_RETURN_IF_ERROR(builder.status());
  std::vector<ValueId> gives(gives_.size());
  std::iota(gives.begin(), gives.end(), first + 1);
  return gives;
}

}  // namespace hawser::plan
