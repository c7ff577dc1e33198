#include "core/autodiff/reverse_sweep.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/autodiff/saving_loop.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/trip_count.h"
#include "core/ops/formulas/wide_sums.h"

namespace hawser::autodiff {
namespace {

// The first error of a rule, with the op and where the user made it.
absl::Status Located(const absl::Status& status, const OpDef& op,
                     SourceLocation where) {
  if (status.ok()) return status;
  const std::string place =
      where.line == 0 ? "" : absl::StrCat(" (at ", where.file, ":", where.line,
                                          ")");
  return absl::Status(status.code(), absl::StrCat(op.name, ": ",
                                                  status.message(), place));
}

// OK when the op has a rule.
absl::Status CheckRule(const OpDef& op) {
  switch (op.gradient.kind) {
    case GradientDef::kNotYet:
      return Unimplemented("its gradient is not implemented");
    case GradientDef::kNotDifferentiable:
      return InvalidArgument(
          "has no gradient; stop_gradient before it says that none is meant");
    case GradientDef::kRule:
    case GradientDef::kZero:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

bool IsDifferentiable(const Shape& shape) {
  return IsFloat(shape.dtype()) || IsComplex(shape.dtype());
}

absl::StatusOr<int> PullBacks::Find(int computation, const LoopRecord& loop) {
  Key key(computation, loop.wanted, loop.seeded, loop.summed, loop.kept,
          loop.known);
  const auto at = known_.find(key);
  if (at != known_.end()) return at->second;
  const auto is_kept = [&](int k) {
    return absl::c_linear_search(loop.kept, k);
  };
  ReverseSweep sweep(this, computation, {});
  HAWSER_RETURN_IF_ERROR(sweep.DifferentiateBy(loop.wanted));
  for (int k : loop.seeded) sweep.SeedWithParameter(k, is_kept(k));
  for (int parameter : loop.summed) sweep.BeginWithParameter(parameter);
  for (int result : loop.known) sweep.KnowByParameter(result);
  HAWSER_RETURN_IF_ERROR(sweep.Run());
  std::vector<ValueId> results;
  for (int k : loop.wanted) {
    const bool is_sum = is_kept(k) || absl::c_linear_search(loop.summed, k);
    results.push_back(sweep.CotangentOf(k, is_sum).value());
  }
  HAWSER_ASSIGN_OR_RETURN(const int index, sweep.Finish(results));
  known_.emplace(std::move(key), index);
  return index;
}

ReverseSweep::ReverseSweep(PullBacks* shared, int computation,
                           absl::Span<const SourceLocation> where)
    : shared_(shared),
      computation_(computation),
      from_(shared->module()->computation(computation)),
      where_(where),
      builder_(shared->module(), from_.name()),
      scope_{builder_, shared->monoids()},
      moved_(from_.num_values(), kNoValue),
      depends_(from_.num_values(), false),
      cotangents_(from_.num_values()) {
  constexpr size_t kTimes = 3;  // as many instructions: what gradients have
  builder_.Reserve(kTimes * from_.instructions().size(),
                   kTimes * from_.num_values());
}

absl::Status ReverseSweep::DifferentiateBy(absl::Span<const int> parameters) {
  FindDependents(parameters);
  const int count = static_cast<int>(from_.instructions().size());
  for (int i = 0; i < count; ++i) {
    const absl::Status status = Copy(i);
    if (status.ok()) continue;
    return Located(status, *from_.instructions()[i].op,
                   i < static_cast<int>(where_.size()) ? where_[i]
                                                       : SourceLocation{});
  }
  return absl::OkStatus();
}

absl::Status ReverseSweep::Copy(int instruction) {
  const Instruction& i = from_.instructions()[instruction];
  absl::InlinedVector<ValueId, 4> operands;
  for (const ValueId v : i.operands) operands.push_back(moved_[v]);
  std::optional<int64_t> turns;
  if (i.op == &kWhile) {
    bool depends = false;
    for (int k = 0; k < i.num_results; ++k) {
      depends = depends || depends_[i.first_result + k];
    }
    if (depends) {
      turns = TripCount(*shared_->module(), computation_, instruction);
    }
  }
  ValueId first = kNoValue;
  if (turns.has_value()) {
    LoopRecord record;
    HAWSER_ASSIGN_OR_RETURN(first, CopyLoop(i, *turns, operands, &record));
    loops_[i.first_result] = std::move(record);
  } else {
    first = builder_.Add(*i.op, operands, i.attributes, i.called,
                         SourceLocation{});
  }
  HAWSER_RETURN_IF_ERROR(builder_.status());
  for (int k = 0; k < i.num_results; ++k) {
    moved_[i.first_result + k] = first + k;
  }
  origins_.resize(builder_.computation().instructions().size() - 1, -1);
  origins_.push_back(instruction);
  return absl::OkStatus();
}

absl::StatusOr<ValueId> ReverseSweep::CopyLoop(
    const Instruction& loop, int64_t turns, absl::Span<const ValueId> operands,
    LoopRecord* record) {
  const int states = loop.num_results;
  record->turns = turns;
  for (int k = 0; k < static_cast<int>(operands.size()); ++k) {
    if (!IsDifferentiable(from_.shape(loop.operands[k]))) continue;
    if (k < states) record->seeded.push_back(k);
    if (k < states || depends_[loop.operands[k]]) record->wanted.push_back(k);
    if (k >= states && depends_[loop.operands[k]]) record->summed.push_back(k);
  }
  const Computation& body = shared_->module()->computation(loop.called[1]);
  for (const int k : record->seeded) {
    const ValueId result = body.results()[k];
    if (result == k) record->kept.push_back(k);
    if (result >= body.num_parameters()) record->known.push_back(k);
  }
  HAWSER_ASSIGN_OR_RETURN(record->pull_back,
                          shared_->Find(loop.called[1], *record));
  HAWSER_ASSIGN_OR_RETURN(
      const SavingLoop saving,
      AddSavingLoop(loop, turns, operands, *record, &builder_));
  for (int k = 0; k < states; ++k) {
    record->states.emplace_back();
    if (saving.stacks[k] != kNoValue) {
      record->states[k] = Expression(&scope_, saving.stacks[k]);
    }
  }
  return saving.first_result;
}

// A value depends on them when an operand does, unless the op is flat or the
// value is no number of the continuous kind.
void ReverseSweep::FindDependents(absl::Span<const int> parameters) {
  for (int p : parameters) depends_[p] = true;
  for (const Instruction& i : from_.instructions()) {
    if (i.op->gradient.kind == GradientDef::kZero) continue;
    const bool any =
        std::any_of(i.operands.begin(), i.operands.end(),
                    [&](ValueId operand) { return depends_[operand]; });
    for (int k = 0; any && k < i.num_results; ++k) {
      const ValueId result = i.first_result + k;
      depends_[result] = IsDifferentiable(from_.shape(result));
    }
  }
}

void ReverseSweep::SeedWithOnes(int result) {
  const ValueId value = from_.results()[result];
  if (!depends_[value]) return;
  Accumulate(value, Filled(&scope_, from_.shape(value), 1));
}

void ReverseSweep::SeedWithParameter(int result, bool is_sum) {
  const ValueId value = from_.results()[result];
  const Shape& shape = from_.shape(value);
  const ValueId seed = builder_.Parameter(
      is_sum ? shape.WithDType(SumDType(shape.dtype())) : shape,
      SourceLocation{});
  if (depends_[value]) Accumulate(value, Expression(&scope_, seed));
}

void ReverseSweep::BeginWithParameter(int parameter) {
  const Shape& shape = from_.shape(parameter);
  const ValueId given = builder_.Parameter(
      shape.WithDType(SumDType(shape.dtype())), SourceLocation{});
  Accumulate(parameter, Expression(&scope_, given));
}

void ReverseSweep::KnowByParameter(int result) {
  const ValueId value = from_.results()[result];
  moved_[value] = builder_.Parameter(from_.shape(value), SourceLocation{});
}

absl::Status ReverseSweep::Run() {
  const auto instructions = from_.instructions();
  for (size_t i = instructions.size(); i-- > 0;) {
    const absl::Status status = Visit(instructions[i]);
    if (status.ok()) continue;
    return Located(status, *instructions[i].op,
                   i < where_.size() ? where_[i] : SourceLocation{});
  }
  return absl::OkStatus();
}

// Every user of the instruction's results stands after it, so their cotangents
// are complete.
absl::Status ReverseSweep::Visit(const Instruction& instruction) {
  bool reached = false;
  for (int k = 0; k < instruction.num_results; ++k) {
    reached |= cotangents_[instruction.first_result + k].present();
  }
  if (!reached) return absl::OkStatus();
  absl::InlinedVector<bool, 8> wanted;
  for (ValueId operand : instruction.operands) {
    wanted.push_back(depends_[operand]);
  }
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) {
    return absl::OkStatus();
  }
  HAWSER_RETURN_IF_ERROR(CheckRule(*instruction.op));
  return ApplyRule(instruction, wanted);
}

absl::Status ReverseSweep::ApplyRule(const Instruction& instruction,
                                     absl::Span<const bool> wanted) {
  absl::InlinedVector<Expression, 4> operands, results, cotangents;
  absl::InlinedVector<bool, 4> is_onto(instruction.operands.size(), false);
  absl::InlinedVector<bool, 4> has_all(instruction.operands.size(), false);
  for (ValueId operand : instruction.operands) {
    operands.emplace_back(&scope_, moved_[operand]);
  }
  for (int k = 0; k < instruction.num_results; ++k) {
    const ValueId result = instruction.first_result + k;
    results.emplace_back(&scope_, moved_[result]);
    cotangents.push_back(RoundedSumOf(result));
  }
  const auto so_far = [&](int i) {
    const ValueId operand = instruction.operands[i];
    // If an operand stands twice, each position gives its own part.
    const bool once = absl::c_count(instruction.operands, operand) == 1;
    const Expression sum = once ? SumOf(operand) : Expression();
    has_all[i] = sum.present();
    return sum;
  };
  absl::InlinedVector<Expression, 4> given(operands.size());
  const auto pull_back = [&](int computation, absl::Span<const int> by,
                             absl::Span<const int> seeded) {
    return shared_->Find(computation, by, seeded);
  };
  const auto loop = loops_.find(instruction.first_result);
  GradientContext context{scope_,
                          instruction,
                          operands,
                          results,
                          cotangents,
                          wanted,
                          absl::MakeSpan(given),
                          pull_back,
                          so_far,
                          absl::MakeSpan(is_onto),
                          loop == loops_.end() ? nullptr : &loop->second};
  HAWSER_RETURN_IF_ERROR(instruction.op->gradient.rule(context));
  HAWSER_RETURN_IF_ERROR(builder_.status());
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].present()) continue;
    const Shape own = operands[i].shape();
    const Shape sum = own.WithDType(SumDType(own.dtype()));
    const Shape got = given[i].shape();
    if (got != own && !(is_onto[i] && got == sum)) {
      return Internal("its gradient by operand ", i, " is ",
                      got.ToString(), ", the operand is ", own.ToString());
    }
    if (has_all[i]) cotangents_[instruction.operands[i]] = {};
    Accumulate(instruction.operands[i], given[i]);
  }
  return absl::OkStatus();
}

void ReverseSweep::Accumulate(ValueId value, const Expression& cotangent) {
  constexpr size_t kMostWaiting = 2;
  auto& [sum, waiting] = cotangents_[value];
  waiting.push_back(cotangent);
  const DType dtype = SumDType(cotangent.dtype());
  if (dtype == cotangent.dtype() || sum.present() ||
      waiting.size() > kMostWaiting) {
    SumOf(value);
  }
}

Expression ReverseSweep::SumOf(ValueId value) {
  auto& [sum, waiting] = cotangents_[value];
  for (const Expression& one : waiting) {
    const Expression wide = ConvertTo(one, SumDType(one.dtype()));
    sum = sum.present() ? sum + wide : wide;
  }
  waiting.clear();
  return sum;
}

Expression ReverseSweep::RoundedSumOf(ValueId value) {
  const auto& [sum, waiting] = cotangents_[value];
  if (!sum.present()) {
    return waiting.empty()       ? Expression()
           : waiting.size() == 1 ? waiting[0]
                                 : waiting[0] + waiting[1];
  }
  return ConvertTo(SumOf(value), from_.shape(value).dtype());
}

Expression ReverseSweep::CotangentOf(int parameter, bool is_sum) {
  Shape shape = from_.shape(parameter);
  if (is_sum) shape = shape.WithDType(SumDType(shape.dtype()));
  const Expression cotangent =
      is_sum ? SumOf(parameter) : RoundedSumOf(parameter);
  return cotangent.present() ? cotangent : Filled(&scope_, shape, 0);
}

std::vector<ValueId> ReverseSweep::results() const {
  std::vector<ValueId> results;
  for (const ValueId v : from_.results()) results.push_back(moved_[v]);
  return results;
}

absl::StatusOr<int> ReverseSweep::Finish(absl::Span<const ValueId> results) {
  return builder_.Finish(results);
}

}  // namespace hawser::autodiff
