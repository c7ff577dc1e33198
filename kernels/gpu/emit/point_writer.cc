#include "kernels/gpu/emit/point_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/gpu/emit/op_text.h"

namespace hawser::gpu {
namespace {

using plan::IndexExpr;
using plan::IndexMap;
using plan::Point;
using plan::PointId;
using plan::Predicate;
using plan::Scope;
using plan::ScopeId;

// A run-time index: the integer, clamped to [0, max].
std::string SymbolText(const ValueText& value, int64_t max,
                       const IndexNames& names) {
  const std::string x = value.text;
  const std::string text =
      absl::StrCat("(u64)", x, " >= ", max, "ull ? ", names.Number(max), " : (",
                   names.type(), ")", x);
  return IsSigned(value.dtype)
             ? absl::StrCat(x, " < 0 ? ", names.Number(0), " : ", text)
             : text;
}

bool IsUniform(const IndexMap& map) {
  return std::all_of(map.axes.begin(), map.axes.end(),
                     [](const IndexExpr& e) { return e.IsConstant(); });
}

}  // namespace

PointWriter::PointWriter(const RegionSource& source, KernelBuilder* kernel,
                         std::vector<IndexExpr> back, int num_loops)
    : source_(source), kernel_(kernel), scopes_(source.region.scopes) {
  const plan::Region& r = source.region;
  bool fits = r.fits_u32;
  int64_t turns = 1;
  for (const int64_t e : r.domain) turns *= std::max<int64_t>(e, 1);
  fits &= turns < int64_t{1} << 31;
  for (const IndexMap& m : r.maps) {
    maps_.push_back(m.Substitute(back));
    for (const IndexExpr& e : maps_.back().axes) fits &= FitsU32(e);
  }
  for (Scope& scope : scopes_) {
    for (Predicate& p : scope.predicates) {
      p.value = p.value.Substitute(back);
      fits &= FitsU32(p.value);
    }
  }
  stores_.resize(r.results.size());
  for (const plan::Access& a : r.accesses) {
    if (a.result >= 0) {
      stores_[a.result] = &a;
    } else {
      loads_[a.point] = &a;
    }
  }
  names_.wide = !fits;
  names_.loops.resize(num_loops);
  names_.symbols.resize(r.symbols.size());
  Enter();
}

void PointWriter::NameLoops(absl::Span<const int64_t> extents, int first,
                            int last, const std::string& flat, int64_t step) {
  int64_t below = 1;
  for (int d = last; d-- > first;) {
    const bool inner = d == last - 1;
    const int64_t size = inner ? extents[d] / step : extents[d];
    std::string text = flat;
    if (below > 1) absl::StrAppend(&text, " / ", names_.Number(below));
    if (d > first) absl::StrAppend(&text, " % ", names_.Number(size));
    if (inner && step > 1) absl::StrAppend(&text, " * ", names_.Number(step));
    NameLoop(d, kernel_->Unique("d"));
    kernel_->body().Line("const ", names_.type(), " ", names_.loops[d], " = ",
                         text, ";");
    below *= size;
  }
}

// ---- what is needed and what is there

const ValueText* PointWriter::Find(PointId id) const {
  for (size_t n = levels_.size(); n-- > 0;) {
    const auto at = levels_[n].values.find(id);
    if (at != levels_[n].values.end()) return &at->second;
  }
  return nullptr;
}

ValueText PointWriter::Value(PointId id) const {
  const ValueText* value = Find(id);
  HAWSER_CHECK(value != nullptr);
  return *value;
}

void PointWriter::AddNeeds(PointId id, std::vector<bool>* needed) const {
  const Point& p = source_.point(id);
  for (const PointId o : p.operands) (*needed)[o] = true;
  std::vector<int> symbols;
  for (const IndexExpr& e : maps_[p.map].axes) e.CollectSymbols(&symbols);
  std::vector<ScopeId> scopes(p.cases.begin(), p.cases.end());
  scopes.push_back(p.scope);
  for (ScopeId s : scopes) {
    for (; s > 0; s = scopes_[s].parent) {
      for (const Predicate& q : scopes_[s].predicates) {
        q.value.CollectSymbols(&symbols);
      }
    }
  }
  for (const int s : symbols) {
    (*needed)[source_.region.symbols[s].point] = true;
  }
}

std::vector<PointId> PointWriter::Missing(
    absl::Span<const PointId> roots) const {
  std::vector<bool> needed(source_.region.points.size(), false);
  for (const PointId r : roots) needed[r] = true;
  std::vector<PointId> missing;
  for (size_t n = needed.size(); n-- > 0;) {
    const PointId id = static_cast<PointId>(n);
    if (!needed[n] || IsDefined(id)) continue;
    missing.push_back(id);
    // What is folded is another pass's.
    if (source_.point(id).kind != Point::kReduce) AddNeeds(id, &needed);
  }
  std::reverse(missing.begin(), missing.end());
  return missing;
}

void PointWriter::Write(absl::Span<const PointId> roots) {
  for (const PointId id : Missing(roots)) WritePoint(id);
}

void PointWriter::WriteWhere(absl::Span<const PointId> roots,
                             const std::function<bool(const Point&)>& keep) {
  for (const PointId id : Missing(roots)) {
    const Point& p = source_.point(id);
    if (!keep(p)) continue;
    std::vector<bool> needed(source_.region.points.size(), false);
    AddNeeds(id, &needed);
    bool there = true;
    for (size_t n = 0; n < needed.size(); ++n) {
      there &= !needed[n] || IsDefined(static_cast<PointId>(n));
    }
    if (there) WritePoint(id);
  }
}

void PointWriter::WriteUniform(absl::Span<const PointId> roots) {
  WriteWhere(roots, [&](const Point& p) {
    return p.scope == 0 && IsUniform(maps_[p.map]);
  });
}

// ---- points

void PointWriter::DefineVariable(PointId id, const ValueText& value) {
  const std::string name = kernel_->Unique("v");
  kernel_->body().Line("const ", value.type(), " ", name, " = ", value.text,
                       ";");
  Define(id, {name, value.dtype, value.stored});
}

void PointWriter::WritePoint(PointId id) {
  const Point& p = source_.point(id);
  const DType dtype = source_.shape(id).dtype();
  const Instruction& i = source_.instruction(p);
  if (p.kind == Point::kLoad) return WriteLoad(id);
  if (p.kind == Point::kMove) return Define(id, Value(p.operands[0]));
  if (p.kind == Point::kChoose) return DefineVariable(id, Choice(p));
  if (p.kind == Point::kIota) {
    return DefineVariable(
        id, ConvertedText(AxisText(p, p.axis), DType::kU64, dtype));
  }
  if (i.op == &kConstant) {
    return Define(id, ConstantText(i.attributes.GetLiteral("value")));
  }
  absl::StatusOr<ValueText> value =
      Internal("point ", id, " is read before its reduction");
  if (p.kind == Point::kOp) {
    std::vector<ValueText> operands;
    for (const PointId o : p.operands) operands.push_back(Value(o));
    value = OpText(i, dtype, operands, source_.options.strict);
  }
  status_.Update(value.status());
  DefineVariable(id, value.value_or(ValueText{"0", dtype}));
}

void PointWriter::WriteLoad(PointId id) {
  const plan::Access& access = *loads_.at(id);
  const DType dtype = source_.shape(id).dtype();
  const std::string condition = Condition(source_.point(id).scope);
  const std::string load = absl::StrCat("Load(", LoadParameter(access), " + (",
                                        Text(OffsetOf(id)), "))");
  DefineVariable(id, {condition.empty()
                          ? load
                          : absl::StrCat(condition, " ? ", load, " : ",
                                         ZeroText(dtype)),
                      dtype});
}

ValueText PointWriter::Choice(const Point& p) {
  bool stored = true;
  for (const PointId o : p.operands) stored &= Value(o).stored;
  std::string text;
  for (size_t k = 0; k < p.operands.size(); ++k) {
    const ValueText v = Value(p.operands[k]);
    if (k < p.cases.size()) {
      const std::string condition = Condition(p.cases[k]);
      absl::StrAppend(&text, condition.empty() ? "true" : condition, " ? ");
    }
    absl::StrAppend(&text, stored ? v.text : v.Computed(),
                    k < p.cases.size() ? " : " : "");
  }
  return {text, source_.body().shape(p.value).dtype(), stored};
}

std::string PointWriter::Condition(ScopeId scope) {
  if (scope <= 0) return "";
  for (const Level& level : levels_) {
    const auto at = level.scopes.find(scope);
    if (at != level.scopes.end()) return at->second;
  }
  std::string text = Condition(scopes_[scope].parent);
  for (const Predicate& p : scopes_[scope].predicates) {
    UseSymbols(p.value);
    absl::StrAppend(&text, text.empty() ? "" : " && ",
                    PredicateText(p, names_));
  }
  const std::string name = kernel_->Unique("in");
  kernel_->body().Line("const bool ", name, " = ", text, ";");
  levels_.back().scopes[scope] = name;
  return name;
}

void PointWriter::UseSymbols(const IndexExpr& e) {
  std::vector<int> symbols;
  e.CollectSymbols(&symbols);
  for (const int s : symbols) {
    const bool there =
        std::any_of(levels_.begin(), levels_.end(),
                    [&](const Level& level) { return level.symbols.count(s); });
    if (there) continue;
    const plan::Symbol& symbol = source_.region.symbols[s];
    const std::string name = kernel_->Unique("at");
    kernel_->body().Line("const ", names_.type(), " ", name, " = ",
                         SymbolText(Value(symbol.point), symbol.bounds.max,
                                    names_),
                         ";");
    levels_.back().symbols.insert(s);
    names_.symbols[s] = name;
  }
}

std::string PointWriter::Text(const IndexExpr& e) {
  UseSymbols(e);
  return IndexText(e, names_);
}

// ---- memory

IndexExpr PointWriter::OffsetOf(PointId id) const {
  return maps_[source_.point(id).map].Linear(source_.shape(id).dims());
}

std::string PointWriter::LoadParameter(const plan::Access& access) {
  const Shape& shape = source_.shape(access.point);
  // What is written in place has as many bytes (kernels/plan/buffers.cc).
  const bool alone = std::none_of(
      stores_.begin(), stores_.end(), [&](const plan::Access* store) {
        return source_.shape(store->point).byte_size() == shape.byte_size();
      });
  return kernel_->Parameter({KernelParameter::kOperand, access.operand, 0,
                             shape.byte_size(), Access::kRead},
                            TypeName(shape.dtype()), alone);
}

std::string PointWriter::StoreParameter(const plan::Access& access) {
  const Shape& shape = source_.shape(access.point);
  const bool update = source_.region.kind == plan::RegionKind::kUpdate;
  return kernel_->Parameter(
      {KernelParameter::kResult, access.result, 0, shape.byte_size(),
       update ? Access::kUpdate : Access::kWrite},
      TypeName(shape.dtype()), false);
}

void PointWriter::StoreResult(int result) {
  const plan::Access& access = *stores_[result];
  const std::string offset = Text(OffsetOf(access.point));
  kernel_->body().Line("Store(", StoreParameter(access), " + (", offset, "), ",
                       Value(access.point).Stored(), ");");
}

bool PointWriter::IsVector(const plan::Access& access, const Turn& turn) const {
  return turn.width > 1 && access.vector_width > 1;
}

std::vector<int> PointWriter::NotEmpty(absl::Span<const int> results) const {
  std::vector<int> found;
  for (const int r : results) {
    const PointId root = source_.region.results[r];
    if (source_.shape(root).num_elements() > 0) found.push_back(r);
  }
  return found;
}

void PointWriter::WriteTurn(const Turn& turn) {
  TextWriter& body = kernel_->body();
  const std::vector<int> results = NotEmpty(turn.results);
  std::vector<PointId> roots = turn.also_needed;
  for (const int r : results) roots.push_back(source_.region.results[r]);
  const auto type_of = [&](PointId id) {
    return absl::StrCat("Vector<", TypeName(source_.shape(id).dtype()), ", ",
                        turn.width, ">");
  };
  std::map<PointId, std::string> loaded;
  for (const PointId id : Missing(roots)) {
    const auto load = loads_.find(id);
    if (load == loads_.end() || !IsVector(*load->second, turn)) continue;
    loaded[id] = kernel_->Unique("x");
    const std::string offset = Text(OffsetOf(id));
    body.Line("const ", type_of(id), " ", loaded[id], " = LoadVector<",
              turn.width, ">(", LoadParameter(*load->second), " + (", offset,
              "));");
  }
  std::map<int, std::string> stored;
  for (const int r : results) {
    if (!IsVector(*stores_[r], turn)) continue;
    stored[r] = kernel_->Unique("y");
    body.Line(type_of(stores_[r]->point), " ", stored[r], ";");
  }
  if (turn.width > 1) {
    body.Line("HK_UNROLL");
    body.Open("for (u32 j = 0; j < ", turn.width, "u; ++j)");
    NameLoop(turn.inner, kernel_->Unique("d"));
    body.Line("const ", names_.type(), " ", names_.loops[turn.inner], " = ",
              turn.base, " + j;");
  }
  Enter();
  for (const auto& [id, name] : loaded) {
    Define(id, {name + ".v[j]", source_.shape(id).dtype()});
  }
  if (turn.before_points) turn.before_points();
  Write(roots);
  for (const int r : results) {
    if (!stored.count(r)) {
      StoreResult(r);
      continue;
    }
    body.Line(stored[r], ".v[j] = ", Value(stores_[r]->point).Stored(), ";");
  }
  if (turn.in_lane) turn.in_lane();
  Leave();
  if (turn.width > 1) {
    body.Close();
    NameLoop(turn.inner, turn.base);
  }
  for (const auto& [r, name] : stored) {
    const std::string offset = Text(OffsetOf(stores_[r]->point));
    body.Line("StoreVector<", turn.width, ">(", StoreParameter(*stores_[r]),
              " + (", offset, "), ", name, ");");
  }
}

PointWriter WriterOverLoops(const RegionSource& source, KernelBuilder* kernel) {
  const plan::Collapse& loops = source.region.loops;
  return PointWriter(source, kernel, loops.back,
                     static_cast<int>(loops.extents.size()));
}

}  // namespace hawser::gpu
