#include "core/ir/builder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// The same computation with its parameters moved to the front, in order.
absl::StatusOr<Computation> ParametersFirst(const Module& module,
                                            const Computation& from,
                                            std::vector<ValueId>* results) {
  Computation to(from.name());
  to.Reserve(from.instructions().size(), from.num_values());
  std::vector<ValueId> renumbered(from.num_values(), kNoValue);
  for (const bool parameters : {true, false}) {
    for (const Instruction& i : from.instructions()) {
      if ((i.op == &kParameter) != parameters) continue;
      absl::InlinedVector<ValueId, 4> operands;
      for (ValueId v : i.operands) operands.push_back(renumbered[v]);
      HAWSER_ASSIGN_OR_RETURN(
          ValueId first,
          to.Append(module, *i.op, operands, i.attributes, i.called));
      for (int k = 0; k < i.num_results; ++k) {
        renumbered[i.first_result + k] = first + k;
      }
    }
  }
  for (ValueId& r : *results) r = renumbered[r];
  return to;
}

std::vector<SourceLocation> ParametersFirst(
    const Computation& from, const std::vector<SourceLocation>& locations) {
  std::vector<SourceLocation> to;
  for (const bool parameters : {true, false}) {
    for (size_t i = 0; i < locations.size(); ++i) {
      const bool is_parameter = from.instructions()[i].op == &kParameter;
      if (is_parameter == parameters) to.push_back(locations[i]);
    }
  }
  return to;
}

bool NeedsReordering(const Computation& computation) {
  const auto instructions = computation.instructions();
  for (int i = 0; i < computation.num_parameters(); ++i) {
    if (instructions[i].op != &kParameter) return true;
  }
  return false;
}

}  // namespace

ValueId ComputationBuilder::Parameter(const Shape& shape,
                                      SourceLocation where) {
  return Add(kParameter, {},
             {{"dtype", shape.dtype()}, {"dims", shape.dims()}}, {}, where);
}

ValueId ComputationBuilder::Constant(Literal value, SourceLocation where) {
  return Add(kConstant, {}, {{"value", std::move(value)}}, {}, where);
}

ValueId ComputationBuilder::Add(const OpDef& op,
                                absl::Span<const ValueId> operands,
                                Attributes attributes,
                                absl::Span<const int> called,
                                SourceLocation where) {
  if (!status_.ok()) return kNoValue;
  auto first = computation_.Append(*module_, op, operands,
                                   std::move(attributes), called);
  if (first.ok()) {
    locations_.push_back(where);
    return *first;
  }
  const std::string shapes = absl::StrJoin(
      operands, ", ", [&](std::string* out, ValueId v) {
        const bool known = v >= 0 && v < computation_.num_values();
        out->append(known ? shape(v).ToString() : "?");
      });
  Fail(absl::Status(
           first.status().code(),
           absl::StrCat(first.status().message(),
                        operands.empty() ? "" : "; operands ", shapes)),
       where);
  return kNoValue;
}

void ComputationBuilder::Fail(const absl::Status& status,
                              SourceLocation where) {
  if (!status_.ok() || status.ok()) return;
  status_ = where.line == 0
                ? status
                : absl::Status(status.code(),
                               absl::StrCat(status.message(), " (at ",
                                            where.file, ":", where.line, ")"));
}

absl::StatusOr<int> ComputationBuilder::Finish(
    absl::Span<const ValueId> results) {
  HAWSER_RETURN_IF_ERROR(status_);
  HAWSER_RETURN_IF_ERROR(computation_.SetResults(results));
  computation_.late_parameters_ = false;
  if (NeedsReordering(computation_)) {
    locations_ = ParametersFirst(computation_, locations_);
    std::vector<ValueId> moved(results.begin(), results.end());
    HAWSER_ASSIGN_OR_RETURN(
        computation_, ParametersFirst(*module_, computation_, &moved));
    HAWSER_RETURN_IF_ERROR(computation_.SetResults(moved));
  }
  return module_->Add(std::move(computation_));
}

}  // namespace hawser
