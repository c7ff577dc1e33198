#include "core/vectorize/vectorized_calls.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"

namespace hawser {
namespace {

absl::Status Located(const absl::Status& status, const OpDef& op,
                     SourceLocation where) {
  if (status.ok()) return status;
  const std::string place =
      where.line == 0 ? ""
                      : absl::StrCat(" (at ", where.file, ":", where.line, ")");
  return absl::Status(status.code(),
                      absl::StrCat(op.name, ": ", status.message(), place));
}

bool Any(const BatchFlags& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

BatchFlags OperandFlags(const Instruction& i, const BatchFlags& values) {
  BatchFlags flags;
  for (const ValueId v : i.operands) flags.push_back(values[v]);
  return flags;
}

absl::StatusOr<BatchDef> RuleOf(const OpDef& op) {
  if (op.batch.rule != nullptr) return op.batch;
  return Unimplemented("it has no rule for a batch");
}

// One computation on its way to being another.
class CallCopy {
 public:
  CallCopy(VectorizedCalls* calls, int computation, int64_t size,
           const BatchFlags& batched)
      : calls_(*calls),
        from_(calls->module()->computation(computation)),
        size_(size),
        builder_(calls->module(), from_.name()),
        scope_{builder_, calls->monoids()},
        moved_(from_.num_values(), kNoValue),
        batched_(from_.num_values(), false) {
    for (int p = 0; p < from_.num_parameters(); ++p) {
      batched_[p] = batched[p];
      const Shape& shape = from_.shape(p);
      Dims dims = shape.dims();
      if (batched[p]) dims.insert(dims.begin(), size);
      const auto larger = Shape::Make(shape.dtype(), dims);
      if (!larger.ok()) {
        builder_.Fail(InvalidArgument("parameter ", p, " for a batch: ",
                                      larger.status().message()),
                      SourceLocation{});
        return;
      }
      moved_[p] = builder_.Parameter(*larger, SourceLocation{});
    }
  }

  const absl::Status& status() const { return builder_.status(); }
  const Computation& from() const { return from_; }
  size_t grown() const { return builder_.computation().instructions().size(); }

  absl::Status Visit(const Instruction& i) {
    if (i.op == &kParameter) return absl::OkStatus();
    const BatchFlags batched = OperandFlags(i, batched_);
    if (!Any(batched)) return Copy(i);
    HAWSER_ASSIGN_OR_RETURN(const BatchDef batch, RuleOf(*i.op));
    std::vector<Expression> operands;
    for (const ValueId v : i.operands)
      operands.emplace_back(&scope_, moved_[v]);
    BatchContext context{
        scope_, calls_,   from_,   i,
        size_,  operands, batched, BatchFlags(i.num_results, true)};
    HAWSER_ASSIGN_OR_RETURN(const std::vector<Expression> results,
                            batch.rule(context));
    HAWSER_RETURN_IF_ERROR(builder_.status());
    for (int k = 0; k < i.num_results; ++k) {
      moved_[i.first_result + k] = results[k].value();
      batched_[i.first_result + k] = context.gives[k];
      HAWSER_RETURN_IF_ERROR(CheckShape(i.first_result + k, k));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int> Finish(const BatchFlags& gives) {
    std::vector<ValueId> results;
    for (size_t k = 0; k < gives.size(); ++k) {
      const ValueId v = from_.results()[k];
      HAWSER_CHECK(gives[k] || !batched_[v]);
      const Expression result(&scope_, moved_[v]);
      const bool repeat = gives[k] && !batched_[v];
      results.push_back((repeat ? Repeated(result, size_) : result).value());
    }
    return builder_.Finish(results);
  }

 private:
  absl::Status Copy(const Instruction& i) {
    absl::InlinedVector<ValueId, 4> operands;
    for (const ValueId v : i.operands) operands.push_back(moved_[v]);
    const ValueId first =
        builder_.Add(*i.op, operands, i.attributes, i.called, SourceLocation{});
    for (int k = 0; k < i.num_results; ++k) {
      moved_[i.first_result + k] = first + k;
    }
    return builder_.status();
  }

  absl::Status CheckShape(ValueId value, int k) const {
    const Shape& was = from_.shape(value);
    Dims dims = was.dims();
    if (batched_[value]) dims.insert(dims.begin(), size_);
    const Shape& is = builder_.shape(moved_[value]);
    if (is.dtype() == was.dtype() && is.dims() == dims) return absl::OkStatus();
    return Internal("its result ", k, " for a batch is ", is.ToString(),
                    ", that of one was ", was.ToString());
  }

  VectorizedCalls& calls_;
  const Computation from_;  // by value: the module may move its computations
  const int64_t size_;
  ComputationBuilder builder_;
  ExpressionScope scope_;
  // Indexed by values of `from_`.
  std::vector<ValueId> moved_;
  BatchFlags batched_;
};

}  // namespace

absl::StatusOr<BatchFlags> VectorizedCalls::Flow(int computation,
                                                 const BatchFlags& batched) {
  const auto key = std::make_pair(computation, batched);
  const auto at = flows_.find(key);
  if (at != flows_.end()) return at->second;
  const Computation& c = module_->computation(computation);
  BatchFlags values = batched;
  values.resize(c.num_values(), false);
  for (const Instruction& i : c.instructions()) {
    const BatchFlags operands = OperandFlags(i, values);
    if (!Any(operands)) continue;
    const auto batch = RuleOf(*i.op);
    if (!batch.ok()) return Located(batch.status(), *i.op, {});
    BatchFlags results(i.num_results, true);
    if (batch->flow != nullptr) {
      HAWSER_ASSIGN_OR_RETURN(results, batch->flow(*this, i, operands));
    }
    std::copy(results.begin(), results.end(), values.begin() + i.first_result);
  }
  BatchFlags results;
  for (const ValueId v : c.results()) results.push_back(values[v]);
  flows_.emplace(key, results);
  return results;
}

absl::StatusOr<int> VectorizedCalls::Find(int computation,
                                          const BatchFlags& batched,
                                          const BatchFlags& gives) {
  const auto key = std::make_tuple(computation, batched, gives);
  const auto at = known_.find(key);
  if (at != known_.end()) return at->second;
  HAWSER_ASSIGN_OR_RETURN(const int made,
                          Make(computation, batched, gives, {}, nullptr));
  known_.emplace(key, made);
  return made;
}

absl::StatusOr<int> VectorizedCalls::Make(
    int computation, const BatchFlags& batched, const BatchFlags& gives,
    absl::Span<const SourceLocation> where, std::vector<int>* origins) {
  CallCopy walk(this, computation, size_, batched);
  HAWSER_RETURN_IF_ERROR(walk.status());
  const auto instructions = walk.from().instructions();
  std::vector<int> from;
  for (int p = 0; p < walk.from().num_parameters(); ++p) from.push_back(p);
  for (size_t n = 0; n < instructions.size(); ++n) {
    const Instruction& i = instructions[n];
    const absl::Status status = walk.Visit(i);
    if (!status.ok()) {
      return Located(status, *i.op,
                     n < where.size() ? where[n] : SourceLocation{});
    }
    from.resize(walk.grown(), static_cast<int>(n));
  }
  HAWSER_ASSIGN_OR_RETURN(const int made, walk.Finish(gives));
  if (origins != nullptr) {
    from.resize(module_->computation(made).instructions().size(), -1);
    *origins = std::move(from);
  }
  return made;
}

}  // namespace hawser
