#include "client/sdk/probes/checker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/sdk/probes/index_checks.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::sdk {
namespace {

using Expressions = std::vector<Expression>;

void Append(const Expressions& more, Expressions* to) {
  to->insert(to->end(), more.begin(), more.end());
}

Expressions Parameters(ExpressionScope* scope, absl::Span<const Shape> shapes) {
  Expressions parameters;
  for (const Shape& shape : shapes) {
    parameters.emplace_back(scope, scope->builder.Parameter(shape, {}));
  }
  return parameters;
}

// The parameters of the computations of a checked loop: its states, then the
// two that are added, then what stays the same.
struct LoopParameters {
  Expressions own;  // of the loop as it was
  Expression turn, verdict;
};

LoopParameters ParametersOfLoop(ExpressionScope* scope, const Signature& from,
                                int states, int turns) {
  const auto shapes = absl::MakeConstSpan(from.parameters);
  LoopParameters p;
  p.own = Parameters(scope, shapes.subspan(0, states));
  const Expressions added = Parameters(
      scope, {Shape::Scalar(DType::kS64), Shape::Of(DType::kS64, {1 + turns})});
  p.turn = added[0];
  p.verdict = added[1];
  Append(Parameters(scope, shapes.subspan(states)), &p.own);
  return p;
}

}  // namespace

// A computation while it is copied to where its scope grows.
struct Checker::Frame {
  const Computation& from;
  const Places* places;   // null: not known
  SourceLocation around;  // of what calls it
  int loops;              // whose turn it is in
  ExpressionScope* scope;
  Findings* findings;  // of its checks; null: it is not checked
  Expressions values;  // by the number of what it stands for
  Expressions nan = Expressions(from.num_values());  // bool[], of floats
};

// An instruction of a frame.
struct Checker::Site {
  const Instruction& i;
  SourceLocation where;
  Places::Called called;  // may be shorter

  const Places* PlacesOf(size_t which) const {
    return which < called.size() ? called[which].get() : nullptr;
  }
};

absl::StatusOr<Module> Checker::Run(const Places& places) {
  const int number = static_cast<int>(whole_.size()) - 1;
  const Computation& entry = from_.computation(number);
  ComputationBuilder builder(&to_, entry.name());
  ExpressionScope scope{builder, monoids_};
  Findings findings(&scope);
  Expressions results =
      Copy({entry,
            &places,
            {},
            0,
            &scope,
            &findings,
            Parameters(&scope, from_.signature(number).parameters)});
  results.push_back(findings.Verdict(depths_.Of(number)));
  Finish(&scope, results);
  HAWSER_RETURN_IF_ERROR(status_);
  return std::move(to_);
}

std::vector<Expression> Checker::Copy(Frame frame) {
  const auto instructions = frame.from.instructions();
  frame.values.resize(frame.from.num_values());
  const Places none;
  const Places& places = frame.places != nullptr ? *frame.places : none;
  size_t calls = 0;
  for (size_t n = 0; n < instructions.size(); ++n) {
    const Instruction& i = instructions[n];
    Site site{i, frame.around, {}};
    if (n < places.at.size() && places.at[n].line > 0)
      site.where = places.at[n];
    if (!i.called.empty() && calls < places.called.size()) {
      site.called = places.called[calls++];
    }
    const bool checks =
        frame.findings != nullptr && depths_.OfCalled(i) != depths_.kNothing;
    if (checks && i.op == &kWhile) {
      CopyWhile(frame, site);
    } else if (checks && i.op == &kCase) {
      CopyCase(frame, site);
    } else if (i.op != &kParameter) {
      CopyPlain(frame, site);
    }
    if (frame.findings == nullptr) continue;
    if (kinds_.indices) AddIndexChecks(frame, site);
    if (kinds_.nan) AddNanChecks(frame, site);
  }
  Expressions results;
  for (const ValueId v : frame.from.results()) {
    results.push_back(frame.values[v]);
  }
  return results;
}

void Checker::CopyPlain(Frame& frame, const Site& site) {
  const Instruction& i = site.i;
  absl::InlinedVector<ValueId, 4> operands;
  for (const ValueId v : i.operands) {
    operands.push_back(frame.values[v].value());
  }
  absl::InlinedVector<int, 2> called;
  for (const int c : i.called) called.push_back(CopyWhole(c));
  const Expression first(
      frame.scope,
      frame.scope->builder.Add(*i.op, operands, i.attributes, called, {}));
  for (int k = 0; k < i.num_results; ++k) {
    frame.values[i.first_result + k] = ResultOf(first, k);
  }
}

Checker::Frame Checker::Called(const Site& site, size_t which,
                               ExpressionScope* scope,
                               const Expressions& arguments, int loops,
                               Findings* findings) const {
  const Computation& from = from_.computation(site.i.called[which]);
  const Places* places = site.PlacesOf(which);
  // A computation that was made again since the user wrote it has no lines.
  if (places != nullptr && places->at.size() != from.instructions().size()) {
    places = nullptr;
  }
  return {from, places, site.where, loops, scope, findings, arguments};
}

void Checker::CopyWhile(Frame& frame, const Site& site) {
  const Instruction& i = site.i;
  const int turns = 1 + depths_.OfCalled(i);
  const int condition = CopyCondition(site, turns);
  const int body = CopyBody(frame, site, turns);
  Expressions operands, invariants;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const bool is_state = static_cast<int>(k) < i.num_results;
    (is_state ? operands : invariants).push_back(frame.values[i.operands[k]]);
  }
  operands.push_back(ConstantOf(frame.scope, Literal::Scalar<int64_t>(0)));
  operands.push_back(NoVerdict(frame.scope, turns));
  Append(invariants, &operands);
  const Expression first =
      Apply(kWhile, operands, i.attributes, {condition, body});
  Expressions last;
  for (int k = 0; k < i.num_results; ++k) last.push_back(ResultOf(first, k));
  std::copy(last.begin(), last.end(), frame.values.begin() + i.first_result);
  frame.findings->Add(ResultOf(first, i.num_results + 1));
  const int depth = depths_.Of(i.called[0]);
  if (depth == depths_.kNothing) return;
  Append(invariants, &last);
  Findings findings(frame.scope);
  Copy(Called(site, 0, frame.scope, last, frame.loops + 1, &findings));
  frame.findings->Add(
      WithTurn(findings.Verdict(depth), ResultOf(first, i.num_results)));
}

int Checker::CopyCondition(const Site& site, int turns) {
  const int number = site.i.called[0];
  ComputationBuilder builder(&to_, from_.computation(number).name());
  ExpressionScope scope{builder, monoids_};
  const LoopParameters p = ParametersOfLoop(&scope, from_.signature(number),
                                            site.i.num_results, turns);
  return Finish(&scope, Copy(Called(site, 0, &scope, p.own, 0, nullptr)));
}

int Checker::CopyBody(const Frame& around, const Site& site, int turns) {
  const int number = site.i.called[1];
  ComputationBuilder builder(&to_, from_.computation(number).name());
  ExpressionScope scope{builder, monoids_};
  const LoopParameters p = ParametersOfLoop(&scope, from_.signature(number),
                                            site.i.num_results, turns);
  Findings findings(&scope);
  if (depths_.Of(site.i.called[0]) != depths_.kNothing) {
    Copy(Called(site, 0, &scope, p.own, around.loops + 1, &findings));
  }
  Expressions results =
      Copy(Called(site, 1, &scope, p.own, around.loops + 1, &findings));
  results.push_back(p.turn + 1);
  const Expression none_yet =
      Compare(CheckOf(p.verdict), CompareDirection::kEq,
              ConstantOf(&scope, Literal::Scalar(kNoCheck)));
  results.push_back(Choose(
      none_yet, WithTurn(findings.Verdict(turns - 1), p.turn), p.verdict));
  return Finish(&scope, results);
}

void Checker::CopyCase(Frame& frame, const Site& site) {
  const Instruction& i = site.i;
  const int turns = depths_.OfCalled(i);
  absl::InlinedVector<int, 2> branches;
  for (size_t b = 0; b < i.called.size(); ++b) {
    branches.push_back(CopyBranch(frame, site, b, turns));
  }
  Expressions operands;
  for (const ValueId v : i.operands) operands.push_back(frame.values[v]);
  const Expression first = Apply(kCase, operands, i.attributes, branches);
  for (int k = 0; k < i.num_results; ++k) {
    frame.values[i.first_result + k] = ResultOf(first, k);
  }
  frame.findings->Add(ResultOf(first, i.num_results));
}

int Checker::CopyBranch(const Frame& around, const Site& site, size_t branch,
                        int turns) {
  const int number = site.i.called[branch];
  ComputationBuilder builder(&to_, from_.computation(number).name());
  ExpressionScope scope{builder, monoids_};
  Findings findings(&scope);
  const Expressions p = Parameters(&scope, from_.signature(number).parameters);
  Expressions results =
      Copy(Called(site, branch, &scope, p, around.loops, &findings));
  results.push_back(findings.Verdict(turns));
  return Finish(&scope, results);
}

int Checker::CopyWhole(int computation) {
  if (whole_[computation] >= 0) return whole_[computation];
  const Computation& from = from_.computation(computation);
  ComputationBuilder builder(&to_, from.name());
  ExpressionScope scope{builder, monoids_};
  Frame frame{from,
              nullptr,
              {},
              0,
              &scope,
              nullptr,
              Parameters(&scope, from_.signature(computation).parameters)};
  return whole_[computation] = Finish(&scope, Copy(std::move(frame)));
}

int Checker::Finish(ExpressionScope* scope,
                    absl::Span<const Expression> results) {
  std::vector<ValueId> values;
  for (const Expression& result : results) values.push_back(result.value());
  const auto number = scope->builder.Finish(values);
  if (status_.ok()) status_ = number.status();
  return number.ok() ? *number : 0;
}

void Checker::AddIndexChecks(Frame& frame, const Site& site) {
  Expressions operands;
  for (const ValueId v : site.i.operands) operands.push_back(frame.values[v]);
  for (const IndexCheck& check : IndexChecksOf(frame.from, site.i, operands)) {
    AddCheck(
        frame, site,
        absl::StrCat("HAWSER_CHECK_INDICES: ", site.i.op->name,
                     " has an index out of range, which is ", check.bounds),
        check.fails);
  }
}

void Checker::AddNanChecks(Frame& frame, const Site& site) {
  const Instruction& i = site.i;
  for (ValueId v = i.first_result; v < i.first_result + i.num_results; ++v) {
    const Shape& shape = frame.from.shape(v);
    if (!CanBeNan(shape)) continue;
    const Expression& x = frame.values[v];
    frame.nan[v] = Any(Compare(x, CompareDirection::kNe, x));
    if (!MakesValues(i)) continue;
    Expression fails = frame.nan[v];
    for (const ValueId operand : i.operands) {
      const Expression& given = frame.nan[operand];
      if (!given.present()) continue;
      fails = Apply(kAnd, {fails, Apply(kNot, {given})});
    }
    AddCheck(frame, site,
             absl::StrCat("HAWSER_CHECK_NAN: ", i.op->name, " gives NaN in a ",
                          shape.ToString(), ", of operands without one"),
             fails);
  }
}

void Checker::AddCheck(Frame& frame, const Site& site, std::string what,
                       const Expression& fails) {
  frame.findings->Add(static_cast<int64_t>(checks_.size()), fails);
  checks_.push_back({std::move(what), site.where, frame.loops});
}

}  // namespace hawser::sdk
