#include "tests/kernels/plan/region/run_region.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/ir/builder.h"
#include "core/ops/registry.h"
#include "kernels/cpu/evaluator.h"
#include "tests/kernels/one_instruction.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

int64_t Product(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t s : sizes) product *= s;
  return product;
}

int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && a < 0);
}

// `op` over these values, through the reference.
// The turns of a region's loops, as they are or merged, and the values of
// expressions in each. `values` are those of the points that have been
// evaluated, an element for each turn.
class RegionTurns {
 public:
  RegionTurns(const Region& region, bool merged,
              const std::vector<Literal>& values)
      : r_(region),
        merged_(merged),
        values_(values),
        extents_(merged ? region.loops.extents : region.domain),
        count_(Product(extents_)) {}

  int64_t count() const { return count_; }
  // Of the loops that are not reduced.
  int64_t kept() const {
    const int kept = merged_ ? r_.num_kept_loops : r_.num_kept;
    return Product(absl::MakeConstSpan(extents_).subspan(0, kept));
  }

  int64_t Value(const IndexExpr& e, int64_t turn) const {
    int64_t value = e.constant();
    for (const IndexExpr::Term& t : e.terms()) {
      int64_t atom = 0;
      if (t.atom.kind == IndexAtom::kDim) {
        atom = Index(turn, t.atom.index);
      } else if (t.atom.kind == IndexAtom::kSymbol) {
        atom = SymbolValue(t.atom.index, turn);
      } else {
        const int64_t inner = Value(*t.atom.inner, turn);
        const int64_t whole = FloorDivide(inner, t.atom.divisor);
        atom = t.atom.kind == IndexAtom::kDiv ? whole
                                              : inner - whole * t.atom.divisor;
      }
      value += t.coefficient * atom;
    }
    return value;
  }

  // Where the expression counts `domain`, it is made to count our loops.
  IndexExpr Ours(const IndexExpr& e) const {
    return merged_ ? e.Substitute(r_.loops.back) : e;
  }

  // The offset of an access to a value of sizes `dims` at `map`.
  IndexExpr OffsetOf(const MemoryAccess& access, MapId map,
                     const Dims& dims) const {
    return merged_ ? access.offset : r_.maps[map].Linear(dims);
  }

  // Predicates in their order: what fails first hides what follows.
  bool Holds(ScopeId scope, int64_t turn) const {
    std::vector<ScopeId> chain;
    for (ScopeId s = scope; s > 0; s = r_.scopes[s].parent) {
      chain.push_back(s);
    }
    for (size_t k = chain.size(); k-- > 0;) {
      for (const Predicate& p : r_.scopes[chain[k]].predicates) {
        const int64_t v = Value(Ours(p.value), turn);
        if (v < p.bounds.min || v > p.bounds.max) return false;
      }
    }
    return true;
  }

 private:
  // Loop index `dim` of turn `turn`.
  int64_t Index(int64_t turn, int dim) const {
    for (size_t d = extents_.size(); d-- > static_cast<size_t>(dim) + 1;) {
      turn /= extents_[d];
    }
    return turn % extents_[dim];
  }

  int64_t SymbolValue(int symbol, int64_t turn) const {
    const Symbol& s = r_.symbols[symbol];
    const Literal& values = values_.at(s.point);
    return VisitDType(values.shape().dtype(), [&](auto tag) -> int64_t {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        const T v = values.data<T>()[turn];
        if (v < 0) return s.bounds.min;
        if (static_cast<uint64_t>(v) > static_cast<uint64_t>(s.bounds.max)) {
          return s.bounds.max;
        }
        return std::max(static_cast<int64_t>(v), s.bounds.min);
      } else {
        ADD_FAILURE() << "a symbol that is no integer";
        return 0;
      }
    });
  }

  const Region& r_;
  const bool merged_;
  const std::vector<Literal>& values_;
  const Dims extents_;
  const int64_t count_;
};

Literal Blank(DType dtype, int64_t turns) {
  return Literal::Zeros(Shape::Of(dtype, {turns}));
}

Literal Spread(const Literal& scalar, int64_t turns) {
  Literal out = Blank(scalar.shape().dtype(), turns);
  const int64_t width = ByteWidth(out.shape().dtype());
  for (int64_t t = 0; t < turns; ++t) {
    std::memcpy(out.mutable_bytes().data() + t * width, scalar.bytes().data(),
                width);
  }
  return out;
}

Literal ConvertTo(const Literal& from, DType dtype) {
  Module m;
  ComputationBuilder b(&m, "convert");
  const ValueId x = b.Parameter(from.shape());
  const ValueId y = b.Add(*FindOp("convert"), {x}, {{"dtype", dtype}});
  const auto entry = b.Finish({y});
  EXPECT_OK(entry);
  return (*cpu::CpuEvaluator().Evaluate(m, *entry, {from}, CancelToken()))[0];
}

// The fold of each row of `turns.kept()`, repeated over the row.
Literal Fold(const Module& module, const Point& p, const Instruction& i,
             const RegionTurns& turns, const std::vector<Literal>& values) {
  const int64_t reduced = turns.count() / turns.kept();
  const size_t inputs = i.op->called.max > 0 ? i.operands.size() / 2 : 1;
  std::vector<Literal> operands;
  for (size_t k = p.operands.size() - inputs; k < p.operands.size(); ++k) {
    Literal grid = Literal::Zeros(Shape::Of(
        values[p.operands[k]].shape().dtype(), {turns.kept(), reduced}));
    const auto from = values[p.operands[k]].bytes();
    std::memcpy(grid.mutable_bytes().data(), from.data(), from.size());
    operands.push_back(std::move(grid));
  }
  for (size_t k = 0; k + inputs < p.operands.size(); ++k) {
    const Literal& all = values[p.operands[k]];
    Literal one = Literal::Zeros(Shape::Scalar(all.shape().dtype()));
    std::memcpy(one.mutable_bytes().data(), all.bytes().data(),
                ByteWidth(all.shape().dtype()));
    operands.push_back(std::move(one));
  }
  Attributes attributes = i.attributes;
  if (attributes.Has("dimensions")) attributes.Set("dimensions", Dims{1});
  if (attributes.Has("dimension")) attributes.Set("dimension", int64_t{1});
  const Literal rows =
      EvaluateInstruction(module, i, operands, attributes)[p.result];
  Literal out = Blank(rows.shape().dtype(), turns.count());
  const int64_t width = ByteWidth(rows.shape().dtype());
  for (int64_t t = 0; t < turns.count(); ++t) {
    std::memcpy(out.mutable_bytes().data() + t * width,
                rows.bytes().data() + t / reduced * width, width);
  }
  return out;
}

class RegionRunner {
 public:
  RegionRunner(const Module& module, const Region& region,
               const std::vector<Literal>& operands, bool merged)
      : module_(module),
        r_(region),
        body_(module.computation(region.body)),
        operands_(operands),
        values_(region.points.size()),
        turns_(region, merged, values_) {}

  std::vector<Literal> Run() {
    for (size_t p = 0; p < r_.points.size(); ++p) {
      Evaluate(static_cast<PointId>(p));
    }
    std::vector<Literal> results;
    for (size_t k = 0; k < r_.results.size(); ++k) {
      results.push_back(Store(r_.results[k]));
    }
    return results;
  }

 private:
  void Evaluate(PointId id) {
    const Point& p = r_.points[id];
    const Instruction& i = body_.instructions()[p.instruction];
    const DType dtype = body_.shape(p.value).dtype();
    switch (p.kind) {
      case Point::kLoad:
        values_[id] = Load(p);
        return;
      case Point::kMove:
        values_[id] = values_[p.operands[0]];
        return;
      case Point::kChoose:
        values_[id] = Choose(p);
        return;
      case Point::kIota:
        values_[id] = Count(p, dtype);
        return;
      case Point::kReduce:
        values_[id] = Fold(module_, p, i, turns_, values_);
        return;
      case Point::kOp:
        break;
    }
    if (i.op == &kConstant) {
      values_[id] = Spread(i.attributes.GetLiteral("value"), turns_.count());
      return;
    }
    std::vector<Literal> operands;
    for (const PointId o : p.operands) operands.push_back(values_[o]);
    values_[id] = EvaluateInstruction(module_, i, operands)[p.result];
  }

  Literal Load(const Point& p) const {
    const auto access = std::find_if(
        r_.accesses.begin(), r_.accesses.end(), [&](const MemoryAccess& a) {
          return a.operand >= 0 && &r_.points[a.point] == &p;
        });
    EXPECT_TRUE(access != r_.accesses.end());
    const Literal& from = operands_[access->operand];
    const IndexExpr offset =
        turns_.OffsetOf(*access, p.map, from.shape().dims());
    Literal out = Blank(from.shape().dtype(), turns_.count());
    const int64_t width = ByteWidth(from.shape().dtype());
    for (int64_t t = 0; t < turns_.count(); ++t) {
      if (!turns_.Holds(p.scope, t)) continue;
      const int64_t at = turns_.Value(offset, t);
      if (at < 0 || at >= from.shape().num_elements()) {
        ADD_FAILURE() << "element " << at << " of " << from.shape().ToString();
        continue;
      }
      std::memcpy(out.mutable_bytes().data() + t * width,
                  from.bytes().data() + at * width, width);
    }
    return out;
  }

  Literal Choose(const Point& p) const {
    const Literal& last = values_[p.operands.back()];
    Literal out = Blank(last.shape().dtype(), turns_.count());
    std::memcpy(out.mutable_bytes().data(), last.bytes().data(),
                last.bytes().size());
    const int64_t width = ByteWidth(out.shape().dtype());
    for (int64_t t = 0; t < turns_.count(); ++t) {
      for (size_t k = 0; k < p.cases.size(); ++k) {
        if (!turns_.Holds(p.cases[k], t)) continue;
        std::memcpy(out.mutable_bytes().data() + t * width,
                    values_[p.operands[k]].bytes().data() + t * width, width);
        break;
      }
    }
    return out;
  }

  Literal Count(const Point& p, DType dtype) const {
    const IndexExpr e = turns_.Ours(r_.maps[p.map].axes[p.axis]);
    Literal indices = Blank(DType::kS64, turns_.count());
    for (int64_t t = 0; t < turns_.count(); ++t) {
      indices.mutable_data<int64_t>()[t] = turns_.Value(e, t);
    }
    return ConvertTo(indices, dtype);
  }

  Literal Store(PointId id) const {
    const Point& p = r_.points[id];
    const Shape& shape = body_.shape(p.value);
    const auto access = std::find_if(
        r_.accesses.begin(), r_.accesses.end(),
        [&](const MemoryAccess& a) { return a.result >= 0 && a.point == id; });
    const IndexExpr offset = turns_.OffsetOf(*access, p.map, shape.dims());
    Literal out = Literal::Zeros(shape);
    std::vector<bool> written(shape.num_elements(), false);
    const int64_t width = ByteWidth(shape.dtype());
    for (int64_t t = 0; t < turns_.count(); ++t) {
      const int64_t at = turns_.Value(offset, t);
      EXPECT_TRUE(at >= 0 && at < shape.num_elements()) << at;
      std::memcpy(out.mutable_bytes().data() + at * width,
                  values_[id].bytes().data() + t * width, width);
      written[at] = true;
    }
    EXPECT_EQ(std::count(written.begin(), written.end(), false), 0);
    return out;
  }

  const Module& module_;
  const Region& r_;
  const Computation& body_;
  const std::vector<Literal>& operands_;
  std::vector<Literal> values_;  // by point, an element for each turn
  const RegionTurns turns_;
};

}  // namespace

std::vector<Literal> RunRegion(const Module& module, const Region& region,
                               const std::vector<Literal>& operands,
                               bool merged) {
  return RegionRunner(module, region, operands, merged).Run();
}

std::vector<Literal> RunByRegions(const Plan& plan,
                                  const std::vector<Literal>& arguments,
                                  bool merged) {
  const ComputationPlan& entry = plan.entry();
  const Computation& c = plan.module.computation(entry.computation);
  std::vector<Literal> values(c.num_values());
  std::copy(arguments.begin(), arguments.end(), values.begin());
  for (size_t k = 0; k < c.instructions().size(); ++k) {
    const Instruction& i = c.instructions()[k];
    const Region& region = entry.regions[k];
    if (region.kind == RegionKind::kNone) continue;
    std::vector<Literal> operands;
    for (const ValueId v : i.operands) operands.push_back(values[v]);
    const bool whole = region.kind == RegionKind::kConstant ||
                       region.kind == RegionKind::kView ||
                       Product(region.domain) == 0;
    std::vector<Literal> results =
        whole ? EvaluateInstruction(plan.module, i, operands)
              : RunRegion(plan.module, region, operands, merged);
    for (int r = 0; r < i.num_results; ++r) {
      values[i.first_result + r] = results.at(r);
    }
  }
  std::vector<Literal> results;
  for (const ValueId v : c.results()) results.push_back(values[v]);
  return results;
}

}  // namespace hawser::plan
