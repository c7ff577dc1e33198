#include "kernels/gpu/emit/points/point_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/gpu/emit/text/op_text.h"

namespace hawser::gpu {
namespace {

using plan::IndexExpr;
using plan::Point;
using plan::PointId;
using plan::Predicate;
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

}  // namespace

PointWriter::PointWriter(const RegionSource& source, KernelBuilder* kernel,
                         std::vector<IndexExpr> back, int num_loops)
    : source_(source),
      kernel_(kernel),
      maps_(source, back),
      memory_(source, kernel) {
  names_.wide = !maps_.fits_u32();
  names_.loops.resize(num_loops);
  names_.symbols.resize(source.region.symbols.size());
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

ValueText PointWriter::Value(PointId id) const {
  const ValueText* value = definitions_.Find(id);
  HAWSER_CHECK(value != nullptr);
  return *value;
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
    // The points that a reduction folds belong to another pass.
    if (source_.point(id).kind != Point::kReduce) maps_.AddNeeds(id, &needed);
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
    maps_.AddNeeds(id, &needed);
    bool there = true;
    for (size_t n = 0; n < needed.size(); ++n) {
      there &= !needed[n] || IsDefined(static_cast<PointId>(n));
    }
    if (there) WritePoint(id);
  }
}

void PointWriter::WriteUniform(absl::Span<const PointId> roots) {
  WriteWhere(roots, [&](const Point& p) { return maps_.IsUniform(p); });
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
  const DType dtype = source_.shape(id).dtype();
  const std::string condition = Condition(source_.point(id).scope);
  const std::string load =
      absl::StrCat("Load(", memory_.LoadParameter(*memory_.FindLoad(id)),
                   " + (", Text(maps_.OffsetOf(id)), "))");
  DefineVariable(id, {condition.empty() ? load
                                        : absl::StrCat(condition, " ? ", load,
                                                       " : ", ZeroText(dtype)),
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
  const std::string* known = definitions_.FindScope(scope);
  if (known != nullptr) return *known;
  std::string text = Condition(maps_.scope(scope).parent);
  for (const Predicate& p : maps_.scope(scope).predicates) {
    UseSymbols(p.value);
    absl::StrAppend(&text, text.empty() ? "" : " && ",
                    PredicateText(p, names_));
  }
  const std::string name = kernel_->Unique("in");
  kernel_->body().Line("const bool ", name, " = ", text, ";");
  definitions_.DefineScope(scope, name);
  return name;
}

void PointWriter::UseSymbols(const IndexExpr& e) {
  std::vector<int> symbols;
  e.CollectSymbols(&symbols);
  for (const int s : symbols) {
    if (definitions_.HasSymbol(s)) continue;
    const plan::Symbol& symbol = source_.region.symbols[s];
    const std::string name = kernel_->Unique("at");
    kernel_->body().Line(
        "const ", names_.type(), " ", name, " = ",
        SymbolText(Value(symbol.point), symbol.bounds.max, names_), ";");
    definitions_.DefineSymbol(s);
    names_.symbols[s] = name;
  }
}

std::string PointWriter::Text(const IndexExpr& e) {
  UseSymbols(e);
  return IndexText(e, names_);
}

PointWriter WriterOverLoops(const RegionSource& source, KernelBuilder* kernel) {
  const plan::Collapse& loops = source.region.loops;
  return PointWriter(source, kernel, loops.back,
                     static_cast<int>(loops.extents.size()));
}

}  // namespace hawser::gpu
